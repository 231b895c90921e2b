// Merges nodes of a graph on devices where fewer dispatches are worth more than the repeated work. Builders, references
// and devices that gain nothing keep each node separate.
#pragma once

#include "graph/graph.hpp"
#include "runtime/plan/plan.hpp"

namespace lapilli {

// Merges normalizations into the products that read them where that saves dispatches: if a single product reads it and
// its first variant normalizes rows (ops/products/matmul.hpp). Tensors keep their ids; the product writes normalized
// rows that other nodes read. `graph` is valid, and stays so.
graph::Graph fuse_norms(graph::Graph graph, const Capabilities& caps, const CompileOptions& options);

// Merges gates into the products that read their rows, if no other node does, if that saves dispatches, and if the
// repeated gating covers few rows in workgroups that all run at once.
graph::Graph fuse_gates(graph::Graph graph, const Capabilities& caps, const CompileOptions& options);

// Merges log-softmax, processors and best K of a beam step into one node (ops/search/choose.hpp) where GPUs do them
// together.
graph::Graph fuse_sampler(graph::Graph graph, const Capabilities& caps, const CompileOptions& options);

}  // namespace lapilli
