// One softmax over two sets of keys, from attention to each of them.
#pragma once

#include "graph/graph.hpp"
#include "ops/core/kv_layout.hpp"

namespace lapilli {

// "join_contexts": a row's heads of two contexts with logarithms of sums (attention.hpp) become those of attention to
// the keys of both: (a * exp(la) + b * exp(lb)) / (exp(la) + exp(lb)) by head. Zeros where neither has keys.
// inputs: a, b [rows, columns_with_log_sums]. outputs: y [rows, heads * head_dim].
struct JoinContextsAttributes {
  uint32_t heads = 0, head_dim = 0;  // of queries
};

// "share_weights": the weights of attention to one of the sets (`own`, whose context is of the same node) become those
// of one softmax over both: row (sentence * heads + head) * queries + query is multiplied by exp(lo) / (exp(lo) +
// exp(lt)), for the logarithms of own and other in row sentence * queries + query. Updated in place.
// inputs: weights [sentences * heads * queries, keys], own, other. outputs: weights.
struct ShareWeightsAttributes {
  uint32_t heads = 0, head_dim = 0, queries = 0;
};

namespace ops {
struct SharedContexts {
  graph::TensorId own = graph::kNone, other = graph::kNone;
};
graph::TensorId share_weights(graph::Graph& g, const std::string& label, graph::TensorId weights,
                              const SharedContexts& contexts, const ShareWeightsAttributes& attributes);
graph::TensorId join_contexts(graph::Graph& g, const std::string& label, graph::TensorId a, graph::TensorId b,
                              const KvShape& kv);
}  // namespace ops

}  // namespace lapilli
