// The adaptive softmax (Grave et al. 2017).
#pragma once

#include "graph/graph.hpp"

namespace lapilli {

// "cluster_scores": columns [first, first + ids) of y become logarithms of probabilities. For the first cluster, whose
// ids are followed by an entry for each other one: y[r, c] = head[r, c] - log sum(exp(head[r])). For another one, with
// its own logits x: y[r, first + c] = x[r, c] - log sum(exp(x[r])) + the logarithm of the probability of column `entry`
// of the head.
// inputs: x (the first cluster: the head), head, y unless it is the first cluster. outputs: y, which the first cluster
// makes and others update in place; the last one sets its padding to zero.
constexpr uint32_t kMostClusterIds = 1u << 18;  // the kernel's loops are bounded (docs/inside/adding-an-op.md)
struct ClusterAttributes {
  uint32_t first = 0, ids = 0;
  uint32_t entry = 0;  // 0: the first cluster
};

namespace ops {
// Makes [rows, columns] for the first cluster.
graph::TensorId cluster_head(graph::Graph& g, const std::string& label, graph::TensorId head, uint32_t ids,
                             uint64_t columns);
struct ClusterOperands {
  graph::TensorId x = graph::kNone, head = graph::kNone, y = graph::kNone;
};
graph::TensorId cluster_tail(graph::Graph& g, const std::string& label, const ClusterOperands& operands,
                             const ClusterAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
