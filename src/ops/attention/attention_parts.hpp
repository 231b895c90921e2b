// Attention of a step with its keys divided: into parts of a head's cache in sequence, for caches too large to bind all
// slots of a sentence at once, or into chunks of the keys in parallel, for GPUs that rows and heads alone do not fill.
#pragma once

#include <string>
#include <vector>

#include "ops/attention/attention.hpp"
#include "ops/core/op.hpp"

namespace lapilli {

// Keys that attention.comp takes at a time, and the number of such chunks in a cache of this shape.
constexpr uint32_t kAttentionChunk = 128;
inline uint32_t key_chunks(const KvShape& kv) { return div_up(kv.positions, kAttentionChunk); }

// Space for the running softmax of each row, head and chunk of the keys: [heads][rows][chunks] lines of the weighted
// sum of the values (padded to vec4), then a vec4 of maximum and sum of the weights. Parts of a cache need one line per
// row and head.
graph::TensorId running_sums(graph::Graph& g, const std::string& label, const KvShape& kv, uint64_t rows);
// Checks that the node's output 1 is such a tensor.
Status infer_running(const graph::Graph& g, const graph::Node& node, const KvShape& kv);

// True if the caches of a sentence's slots fit a binding in every session, however many positions it has.
bool caches_always_fit(const Capabilities& caps, const AttentionStepAttributes& a, KvFormat format);

// For an "attention_step" node with `self`.
Status lower_attention_parts(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                             std::vector<Dispatch>& out);

// True if the running sums of all chunks fit a binding.
bool chunks_fit(const Capabilities& caps, const graph::Graph& g, const graph::Node& node, const KvShape& kv);
// Lowers the step after the dispatch that sums up the chunks: their quotient, the context.
Status lower_attention_chunks(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                              std::vector<Dispatch>& out);
// Words per line of the running sums.
uint32_t running_width(const KvShape& kv);

}  // namespace lapilli
