// Attention of a step whose keys are shared out: over parts of a head's cache one behind the other, for caches of which
// no binding holds all slots of a place, or over chunks of the keys side by side, for GPUs that rows and heads alone do
// not fill.
#pragma once

#include <string>
#include <vector>

#include "ops/attention/attention.hpp"
#include "ops/core/op.hpp"

namespace lapilli {

// Keys that attention.comp takes at a time, and how many times that is in a cache of this shape.
constexpr uint32_t kAttentionChunk = 128;
inline uint32_t key_chunks(const KvShape& kv) { return div_up(kv.positions, kAttentionChunk); }

// Room for the running softmax of each row, head and chunk of the keys: [heads][rows][chunks] lines of the weighted sum
// of the values (padded to vec4), then a vec4 of maximum and sum of the weights. Parts of a cache need a line a row and
// head.
graph::TensorId running_sums(graph::Graph& g, const std::string& label, const KvShape& kv, uint64_t rows);
// The node's output 1 is such room.
Status infer_running(const graph::Graph& g, const graph::Node& node, const KvShape& kv);

// Whether the caches of a place's slots fit a binding in every session, however many positions that has.
bool caches_always_fit(const Capabilities& caps, const AttentionStepAttributes& a, KvFormat format);

// Of an "attention_step" node with `self`.
Status lower_attention_parts(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                             std::vector<Dispatch>& out);

// Whether the running sums of all chunks fit a binding.
bool chunks_fit(const Capabilities& caps, const graph::Graph& g, const graph::Node& node, const KvShape& kv);
// What stands behind the dispatch that sums up the chunks: the context, of these.
Status lower_attention_chunks(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                              std::vector<Dispatch>& out);
// Words of a line of the running sums.
uint32_t running_width(const KvShape& kv);

}  // namespace lapilli
