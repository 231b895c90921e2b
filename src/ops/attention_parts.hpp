// Self attention of a step over parts of a head's cache, for caches of which no binding holds all slots of a place.
#pragma once

#include <string>
#include <vector>

#include "ops/attention.hpp"
#include "ops/op.hpp"

namespace lapilli {

// Room for the running softmax of each row and head: [heads][rows] lines of the weighted sum of the values (padded to
// vec4), then a vec4 of maximum and sum of the weights.
graph::TensorId running_sums(graph::Graph& g, const std::string& label, const KvShape& kv, uint64_t rows);
// The node's output 1 is such room.
Status infer_running(const graph::Graph& g, const graph::Node& node, const KvShape& kv);

// Whether the caches of a place's slots fit a binding in every session, however many positions that has.
bool caches_always_fit(const Capabilities& caps, const AttentionStepAttributes& a);

// Of an "attention_step" node with `self`.
Status lower_attention_parts(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                             std::vector<Dispatch>& out);

}  // namespace lapilli
