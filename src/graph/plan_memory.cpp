#include "graph/plan_memory.hpp"

#include <algorithm>

namespace lapilli::graph {
namespace {

struct Block {
  TensorId tensor = kNone;
  uint64_t begin = 0, end = 0;  // end is aligned
};

constexpr uint64_t kNoHole = ~uint64_t{0};

bool overlap(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

bool checked_round_up(uint64_t value, uint64_t alignment, uint64_t& out) {
  if (!checked_add(value, alignment - 1, out)) return false;
  out = out / alignment * alignment;
  return true;
}

// The start of the smallest hole that holds `bytes`, between or behind those of `placed` (sorted by begin) whose
// lifetimes overlap `life`, within the current arena; without such a hole the arena grows behind them.
uint64_t best_fit(const std::vector<Block>& placed, const std::vector<Lifetime>& lives, const Lifetime& life,
                  uint64_t bytes, uint64_t arena_bytes) {
  uint64_t best = kNoHole, best_hole = ~uint64_t{0}, top = 0;
  const auto consider = [&](uint64_t end) {
    if (end <= top || end - top < bytes || end - top >= best_hole) return;
    best = top;
    best_hole = end - top;
  };
  for (const Block& b : placed) {
    if (!overlap(lives[b.tensor], life)) continue;
    consider(b.begin);
    top = std::max(top, b.end);
  }
  consider(arena_bytes);
  return best == kNoHole ? top : best;
}

}  // namespace

std::vector<Lifetime> lifetimes(const Graph& graph) {
  std::vector<Lifetime> lives(graph.tensors().size());
  const auto touch = [&](TensorId id, NodeId n) {
    if (id == kNone || graph.tensor(id).space != Space::arena) return;
    Lifetime& life = lives[graph.root(id)];
    life.first = std::min(life.first, n);
    life.last = std::max(life.last, n);
  };
  const auto& nodes = graph.nodes();
  for (NodeId n = 0; n < nodes.size(); ++n) {
    for (TensorId id : nodes[n].inputs) touch(id, n);
    for (TensorId id : nodes[n].outputs) touch(id, n);
  }
  for (TensorId id = 0; id < lives.size(); ++id) {
    if (!graph.tensor(id).keep || graph.tensor(id).space != Space::arena) continue;
    Lifetime& life = lives[graph.root(id)];
    if (life.first != kNone) life.last = static_cast<NodeId>(nodes.size() - 1);
  }
  return lives;
}

Result<Placement> place(const Graph& graph, const PlacementOptions& options) {
  const uint64_t alignment = std::max<uint64_t>(options.alignment, 1);
  std::vector<Lifetime> lives = lifetimes(graph);
  std::vector<uint64_t> sizes(lives.size(), 0);
  std::vector<TensorId> order;
  for (TensorId id = 0; id < lives.size(); ++id) {
    const Tensor& t = graph.tensor(id);
    if (t.space != Space::arena || t.alias != kNone) continue;
    if (lives[id].first > lives[id].last) continue;
    uint64_t elements = 0, bytes = 0;
    if (!checked_mul(t.rows, t.ld, elements) || !checked_mul(elements, element_bytes(t.dtype), bytes) ||
        !checked_round_up(bytes, alignment, sizes[id]))
      return fail(ErrorCode::invalid_argument, "tensor %u \"%s\" of %u x %u elements: its size overflows", id, t.name,
                  t.rows, t.ld);
    if (!options.reuse) lives[id] = {0, kNone};
    order.push_back(id);
  }
  if (options.reuse)
    std::stable_sort(order.begin(), order.end(), [&](TensorId a, TensorId b) {
      return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : lives[a].first < lives[b].first;
    });

  Placement placement;
  placement.offset.assign(lives.size(), 0);
  std::vector<Block> placed;  // by begin
  for (TensorId id : order) {
    Block block{id, best_fit(placed, lives, lives[id], sizes[id], placement.arena_bytes), 0};
    if (!checked_add(block.begin, sizes[id], block.end))
      return fail(ErrorCode::invalid_argument, "the activations' sizes overflow at tensor %u \"%s\"", id,
                  graph.tensor(id).name);
    placement.offset[id] = block.begin;
    placement.arena_bytes = std::max(placement.arena_bytes, block.end);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block,
                                   [](const Block& a, const Block& b) { return a.begin < b.begin; }),
                  block);
  }
  for (TensorId id = 0; id < lives.size(); ++id)
    if (graph.tensor(id).space == Space::arena) placement.offset[id] = placement.offset[graph.root(id)];
  return placement;
}

}  // namespace lapilli::graph
