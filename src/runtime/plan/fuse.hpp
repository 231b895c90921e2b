// What a graph becomes for a device where fewer dispatches are worth more than what they save: nodes that are parts of
// others. Builders, references and devices that have nothing of it keep each node by itself.
#pragma once

#include "graph/graph.hpp"
#include "runtime/plan/plan.hpp"

namespace lapilli {

// Normalizations become parts of the products that read them, where that makes fewer dispatches of both: where the one
// that reads it is the only product that does, and its first variant normalizes rows (ops/products/matmul.hpp). Tensors
// keep their ids; what others read of the normalized rows the product writes. `graph` is valid, and stays so.
graph::Graph fuse_norms(graph::Graph graph, const Capabilities& caps, const CompileOptions& options);

// Gates become parts of the products that read their rows, where nobody else does, where that makes fewer dispatches of
// both, and where few rows are gated anew by workgroups that all run at once.
graph::Graph fuse_gates(graph::Graph graph, const Capabilities& caps, const CompileOptions& options);

// Log-softmax, processors and best K of a step of beams become one node (ops/search/choose.hpp) where GPUs do them
// together.
graph::Graph fuse_tail(graph::Graph graph, const Capabilities& caps, const CompileOptions& options);

}  // namespace lapilli
