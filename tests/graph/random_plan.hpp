// Random graphs and commands, and slow, obvious counterparts of what src/graph computes: every pair of commands and
// every byte is looked at, so that the tests hold the clever versions against something a reader can trust.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/plan_memory.hpp"
#include "graph/schedule.hpp"

namespace lapilli::graph::testing_aid {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // In [low, high].
  uint64_t in(uint64_t low, uint64_t high) { return low + engine_() % (high - low + 1); }
  bool chance(double p) { return static_cast<double>(engine_() >> 11) * 0x1p-53 < p; }
  template <class T>
  void shuffle(std::vector<T>& v) {
    for (size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[in(0, i - 1)]);
  }

 private:
  std::mt19937_64 engine_;
};

inline bool reads(const Range& r) { return r.access != Access::write; }
inline bool writes(const Range& r) { return r.access != Access::read; }

inline Range arena(uint64_t begin, uint64_t end, Access access) { return {Space::arena, 0, begin, end, access, 0}; }

inline Range at_step(Range r, uint64_t step) {
  r.begin += r.step_stride * step;
  r.end += r.step_stride * step;
  r.step_stride = 0;
  return r;
}

inline bool clash(const Range& a, const Range& b) {
  return a.space == b.space && a.id == b.id && (writes(a) || writes(b)) && a.begin < b.end && b.begin < a.end &&
         a.begin < a.end && b.begin < b.end;
}

// Ranges of `a` taken at one step, those of `b` at another.
inline bool clash(const Command& a, uint64_t step_a, const Command& b, uint64_t step_b) {
  for (const Range& x : a.ranges)
    for (const Range& y : b.ranges)
      if (clash(at_step(x, step_a), at_step(y, step_b))) return true;
  return false;
}

// At some step of the first `steps`.
inline bool clash_ever(const Command& a, const Command& b, uint64_t steps = 80) {
  for (uint64_t k = 0; k < steps; ++k)
    if (clash(a, k, b, k)) return true;
  return false;
}

inline std::vector<uint32_t> level_of(const Schedule& s) {
  std::vector<uint32_t> level(s.order.size());
  for (uint32_t l = 0; l < s.levels.size(); ++l)
    for (uint32_t i = s.levels[l].begin; i < s.levels[l].end; ++i) level[s.order[i]] = l;
  return level;
}

// Builds a schedule from the level of each command, program order inside.
inline Schedule from_levels(const std::vector<uint32_t>& level, std::vector<uint32_t> segments) {
  Schedule s;
  const uint32_t count = level.empty() ? 0 : *std::max_element(level.begin(), level.end()) + 1;
  for (uint32_t l = 0; l < count; ++l) {
    const auto begin = static_cast<uint32_t>(s.order.size());
    for (uint32_t c = 0; c < level.size(); ++c)
      if (level[c] == l) s.order.push_back(c);
    s.levels.push_back({begin, static_cast<uint32_t>(s.order.size())});
  }
  s.segments = std::move(segments);
  return s;
}

struct CommandOptions {
  uint64_t bytes = 48;  // of each memory
  uint64_t memories = 4;
  uint64_t most_commands = 24;
  bool moving = false;        // all ranges of a state have one stride
  bool mixed_moving = false;  // ranges of a state have various strides
};

inline Range random_range(Random& random, const CommandOptions& o) {
  Range r;
  const uint64_t which = random.in(0, o.memories - 1);
  r.space = which == 0 ? Space::arena : which == 1 ? Space::weight : Space::state;
  r.id = static_cast<uint32_t>(which == 0 ? 0 : which);
  r.begin = random.in(0, o.bytes - 1);
  r.end = random.in(r.begin, std::min(o.bytes, r.begin + 12));  // sometimes empty
  r.access = which == 1 ? Access::read : static_cast<Access>(random.in(1, 3));
  if (r.space == Space::state && o.moving) r.step_stride = r.id % 2 == 0 ? 16 : 0;
  if (r.space == Space::state && o.mixed_moving) r.step_stride = random.in(0, 3) * 5;
  return r;
}

inline std::vector<Command> random_commands(Random& random, const CommandOptions& o) {
  std::vector<Command> commands(random.in(1, o.most_commands));
  for (size_t i = 0; i < commands.size(); ++i) {
    commands[i].node = static_cast<NodeId>(i / 2);
    commands[i].cost = static_cast<double>(random.in(0, 100));
    for (uint64_t k = random.in(0, 4); k > 0; --k) commands[i].ranges.push_back(random_range(random, o));
  }
  return commands;
}

// Memory that grows as it is touched; a byte begins as a hash of its address.
class Memory {
 public:
  std::vector<uint8_t> read(const Range& r) {
    auto& bytes = grown(r);
    return {bytes.begin() + static_cast<long>(r.begin), bytes.begin() + static_cast<long>(r.end)};
  }
  void write(const Range& r, uint64_t hash) {
    auto& bytes = grown(r);
    for (uint64_t i = r.begin; i < r.end; ++i) {
      hash = hash * 6364136223846793005u + 1442695040888963407u;
      bytes[i] = static_cast<uint8_t>(hash >> 56);
    }
  }
  bool operator==(const Memory& o) const { return memories_ == o.memories_; }

 private:
  std::vector<uint8_t>& grown(const Range& r) {
    auto& bytes = memories_[{r.space, r.id}];
    while (bytes.size() < r.end) bytes.push_back(static_cast<uint8_t>(bytes.size() * 151 + r.id * 7));
    return bytes;
  }
  std::map<std::pair<Space, uint32_t>, std::vector<uint8_t>> memories_;
};

// A command in two halves: what it writes depends on every byte it has read, and on who it is.
inline uint64_t run_reads(Memory& memory, const Command& c, uint64_t step, uint64_t salt) {
  uint64_t hash = 1469598103934665603u ^ salt;
  for (const Range& r : c.ranges) {
    if (!reads(r) || r.begin >= r.end) continue;
    for (uint8_t b : memory.read(at_step(r, step))) hash = (hash ^ b) * 1099511628211u;
  }
  return hash;
}
inline void run_writes(Memory& memory, const Command& c, uint64_t step, uint64_t hash) {
  for (size_t i = 0; i < c.ranges.size(); ++i)
    if (writes(c.ranges[i]) && c.ranges[i].begin < c.ranges[i].end)
      memory.write(at_step(c.ranges[i], step), hash + i * 0x9e3779b97f4a7c15u);
}

inline void run_in_order(Memory& memory, const std::vector<Command>& commands, uint64_t step) {
  for (size_t i = 0; i < commands.size(); ++i)
    run_writes(memory, commands[i], step, run_reads(memory, commands[i], step, i));
}

// Levels one after the other; inside a level the halves of all commands are shuffled among each other.
inline void run_levels(Memory& memory, const std::vector<Command>& commands, const Schedule& s, uint64_t step,
                       Random& random) {
  std::vector<uint64_t> hash(commands.size());
  for (const Level& level : s.levels) {
    std::vector<uint32_t> halves;
    for (uint32_t i = level.begin; i < level.end; ++i) halves.insert(halves.end(), 2, s.order[i]);
    random.shuffle(halves);
    std::vector<bool> has_read(commands.size(), false);
    for (uint32_t c : halves) {
      if (!has_read[c])
        hash[c] = run_reads(memory, commands[c], step, c);
      else
        run_writes(memory, commands[c], step, hash[c]);
      has_read[c] = true;
    }
  }
}

// A graph with in-place updates, views, outputs, weights and states, in program order.
inline Graph random_graph(Random& random) {
  Graph g;
  std::vector<TensorId> live;  // values that may be read now
  const auto persistent = [&](Space space, uint32_t id) {
    Tensor t;
    t.name = format("%c%u", space == Space::weight ? 'w' : 's', id);
    t.rows = random.in(1, 4);
    t.cols = t.ld = random.in(1, 8);
    t.space = space;
    t.id = id;
    return g.add_tensor(t);
  };
  for (uint32_t i = 0; i < 2; ++i) live.push_back(persistent(Space::weight, i));
  for (uint32_t i = 0; i < 3; ++i) live.push_back(persistent(Space::state, i));
  const auto overwritten = [&](TensorId id) {
    std::erase_if(live, [&](TensorId v) { return g.root(v) == g.root(id); });
    for (TensorId v = 0; v < g.tensors().size(); ++v)
      if (g.root(v) == g.root(id)) g.tensor(v).keep = false;
  };
  const uint64_t nodes = random.in(1, 20);
  for (uint64_t n = 0; n < nodes; ++n) {
    Node node;
    node.label = format("n%u", static_cast<unsigned>(n));
    for (uint64_t k = random.in(0, 3); k > 0; --k) node.inputs.push_back(live[random.in(0, live.size() - 1)]);
    if (random.chance(0.2)) node.inputs.push_back(kNone);
    const std::string name = format("t%u", static_cast<unsigned>(n));
    TensorId in_place = kNone;
    for (TensorId id : node.inputs)
      if (id != kNone && g.tensor(id).space != Space::weight) in_place = id;
    if (in_place != kNone && random.chance(0.4)) {
      overwritten(in_place);
      // A view takes its value from what it views, so it is not an output itself.
      const bool view = g.tensor(in_place).name.back() == 'v';
      const TensorId out = !view && random.chance(0.3) ? in_place : g.updated(name, in_place);
      node.outputs.push_back(out);
      live.push_back(out);
    }
    if (node.outputs.empty() || random.chance(0.3)) {
      const TensorId out = g.activation(name + "o", random.in(1, 6), random.in(1, 24));
      node.outputs.push_back(out);
      live.push_back(out);
      if (random.chance(0.2)) {  // a view of the same bytes
        const TensorId view = g.updated(name + "v", out);
        Tensor& t = g.tensor(view);
        std::swap(t.rows, t.ld);
        t.cols = t.ld;
        live.push_back(view);
      }
    }
    g.add_node(std::move(node));
    for (TensorId id : g.nodes().back().outputs)
      if (random.chance(0.15)) g.tensor(id).keep = true;
  }
  return g;
}

// One to three commands a node: each writes a slice of every output and reads parts of the inputs. The k-th range of a
// command is the same part of the same tensor under every placement.
inline std::vector<Command> lower(const Graph& g, const Placement& placement, uint64_t seed) {
  Random random(seed);
  std::vector<Command> commands;
  const auto range = [&](TensorId id, uint64_t begin, uint64_t end, Access access) {
    const Tensor& t = g.tensor(id);
    const uint64_t base = t.space == Space::arena ? placement.offset[id] : 0;
    return Range{t.space, t.id, base + begin, base + end, access, 0};
  };
  for (NodeId n = 0; n < g.nodes().size(); ++n) {
    const uint64_t slices = random.in(1, 3);
    for (uint64_t s = 0; s < slices; ++s) {
      Command c;
      c.node = n;
      c.cost = static_cast<double>(random.in(1, 100));
      for (TensorId id : g.node(n).inputs) {
        if (id == kNone) continue;
        const uint64_t bytes = g.tensor(id).bytes(), begin = random.chance(0.5) ? 0 : random.in(0, bytes - 1);
        const uint64_t end = random.chance(0.5) ? bytes : random.in(begin, bytes);
        c.ranges.push_back(range(id, begin, end, Access::read));
      }
      for (TensorId id : g.node(n).outputs) {
        const uint64_t bytes = g.tensor(id).bytes();
        c.ranges.push_back(range(id, bytes * s / slices, bytes * (s + 1) / slices, Access::write));
      }
      commands.push_back(std::move(c));
    }
  }
  return commands;
}

}  // namespace lapilli::graph::testing_aid
