// Lifetimes and placement: when each arena tensor is live, and where its bytes go.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.hpp"

namespace lapilli::graph {

// First and last node that touch a tensor's bytes (aliases merged into their root). A tensor that is never touched has
// first > last.
struct Lifetime {
  NodeId first = kNone, last = 0;
};
std::vector<Lifetime> lifetimes(const Graph& graph);  // indexed by TensorId, filled for arena roots

struct PlacementOptions {
  uint64_t alignment = 256;
  bool reuse = true;  // false: no two tensors share bytes (node-by-node comparison)
};
struct Placement {
  std::vector<uint64_t> offset;  // bytes in the arena by TensorId; for aliases that of the root; other spaces: 0
  uint64_t arena_bytes = 0;
};
// Greedy by size, best fit among tensors with overlapping lifetimes. Fails only on overflow.
Result<Placement> place(const Graph& graph, const PlacementOptions& options);

}  // namespace lapilli::graph
