#include "graph/plan_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/random_plan.hpp"

namespace lapilli::graph {
namespace {

using testing_aid::Random;

Node node(std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
  Node n;
  n.inputs = std::move(inputs);
  n.outputs = std::move(outputs);
  return n;
}

TEST(Lifetimes, MergeAliasesAndReachToTheEndForOutputs) {
  Graph g;
  Tensor s;
  s.space = Space::state;
  const TensorId state = g.add_tensor(s);
  const TensorId a = g.activation("a", 1, 4), b = g.activation("b", 1, 4), a2 = g.updated("a2", a),
                 out = g.activation("out", 1, 4), idle = g.activation("idle", 1, 4);
  g.tensor(out).keep = true;
  g.add_node(node({state}, {a}));
  g.add_node(node({a}, {out}));
  g.add_node(node({a}, {b, a2}));
  g.add_node(node({a2, b}, {state}));
  g.add_node(node({state}, {b}));
  const auto lives = lifetimes(g);
  EXPECT_EQ(lives[a].first, 0u);
  EXPECT_EQ(lives[a].last, 3u);
  EXPECT_EQ(lives[b].first, 2u);
  EXPECT_EQ(lives[b].last, 4u);
  EXPECT_EQ(lives[out].first, 1u);
  EXPECT_EQ(lives[out].last, 4u);
  for (TensorId none : {state, a2, idle}) EXPECT_GT(lives[none].first, lives[none].last);
}

TEST(Place, ReusesBytesOfTheDead) {
  Graph g;
  TensorId before = g.activation("t0", 1, 64);
  g.add_node(node({}, {before}));
  for (int i = 1; i < 10; ++i) {
    const TensorId next = g.activation("t", 1, 64);
    g.add_node(node({before}, {next}));
    before = next;
  }
  EXPECT_EQ(place(g, {}).value().arena_bytes, 2 * 256u);  // a node's input and output live together
  PlacementOptions apart;
  apart.reuse = false;
  EXPECT_EQ(place(g, apart).value().arena_bytes, 10 * 256u);
}

TEST(Place, TakesTheSmallestHoleThatFits) {
  Graph g;
  // Four long-lived blocks of 10, 8, 6 and 4 units; then the second and the fourth die, and 3 units are asked for.
  const uint64_t unit = 64;
  const TensorId a = g.activation("a", 10, unit), b = g.activation("b", 8, unit), c = g.activation("c", 6, unit),
                 d = g.activation("d", 4, unit), e = g.activation("e", 1, unit), f = g.activation("f", 3, unit);
  g.add_node(node({}, {a, b, c, d, e}));
  g.add_node(node({a, c, e}, {f}));
  g.add_node(node({a, c, e, f}, {}));
  const Placement p = place(g, {}).value();
  EXPECT_EQ(p.offset[f], p.offset[d]);
  EXPECT_EQ(p.arena_bytes, 29 * 256u);
}

TEST(Place, RefusesSizesThatOverflow) {
  Graph g;
  const TensorId a = g.activation("large", 1, 4), b = g.activation("larger", 1, 4);
  g.tensor(a).rows = g.tensor(b).rows = uint64_t{1} << 59;  // 2^63 bytes each
  g.add_node(node({}, {a, b}));
  const auto p = place(g, {});
  ASSERT_FALSE(p.ok());
  EXPECT_THAT(p.error().message, testing::HasSubstr("larger"));
  g.tensor(a).rows = uint64_t{1} << 61;
  EXPECT_THAT(place(g, {}).error().message, testing::HasSubstr("\"large\""));
}

// No byte belongs to two tensors at once; offsets are aligned; the arena is neither too small nor wasteful.
void expect_sound(const Graph& g, const PlacementOptions& options, const Placement& p) {
  const auto lives = lifetimes(g);
  ASSERT_EQ(p.offset.size(), g.tensors().size());
  uint64_t sum = 0, largest = 0;
  std::vector<uint64_t> alive(g.nodes().size(), 0);
  for (TensorId i = 0; i < g.tensors().size(); ++i) {
    if (g.tensor(i).space != Space::arena) {
      EXPECT_EQ(p.offset[i], 0u);
      continue;
    }
    EXPECT_EQ(p.offset[i], p.offset[g.root(i)]);
    if (lives[i].first > lives[i].last) continue;
    EXPECT_EQ(p.offset[i] % options.alignment, 0u);
    EXPECT_LE(p.offset[i] + g.tensor(i).bytes(), p.arena_bytes);
    const uint64_t bytes = round_up(g.tensor(i).bytes(), options.alignment);
    sum += bytes;
    for (NodeId n = lives[i].first; n <= lives[i].last; ++n) largest = std::max(largest, alive[n] += bytes);
    for (TensorId j = 0; j < i; ++j) {
      if (g.tensor(j).space != Space::arena || lives[j].first > lives[j].last) continue;
      const bool together = lives[i].first <= lives[j].last && lives[j].first <= lives[i].last;
      if (!together && options.reuse) continue;
      EXPECT_TRUE(p.offset[i] + g.tensor(i).bytes() <= p.offset[j] || p.offset[j] + g.tensor(j).bytes() <= p.offset[i])
          << "tensors " << i << " and " << j;
    }
  }
  EXPECT_LE(p.arena_bytes, sum);
  EXPECT_GE(p.arena_bytes, options.reuse ? largest : sum);
}

TEST(Place, RandomGraphsShareNoLivingByte) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Graph g = testing_aid::random_graph(random);
    ASSERT_TRUE(g.validate().ok()) << seed << ": " << g.validate().error().message;
    for (const bool reuse : {true, false}) {
      PlacementOptions options;
      options.reuse = reuse;
      options.alignment = std::vector<uint64_t>{4, 16, 64, 256, 12}[random.in(0, 4)];
      const auto p = place(g, options);
      ASSERT_TRUE(p.ok());
      expect_sound(g, options, *p);
      if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
  }
}

TEST(Place, RandomGraphsNeedLittleMoreThanTheMost) {
  double used = 0, least = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const Graph g = testing_aid::random_graph(random);
    PlacementOptions options;
    options.alignment = 16;
    used += static_cast<double>(place(g, options).value().arena_bytes);
    const auto lives = lifetimes(g);
    std::vector<uint64_t> alive(g.nodes().size(), 0);
    for (TensorId i = 0; i < lives.size(); ++i)
      if (lives[i].first <= lives[i].last)
        for (NodeId n = lives[i].first; n <= lives[i].last; ++n) alive[n] += g.tensor(i).bytes();
    least += static_cast<double>(*std::max_element(alive.begin(), alive.end()));
  }
  EXPECT_LT(used, 1.1 * least);
  RecordProperty("arena_over_lower_bound", std::to_string(used / least));
}

}  // namespace
}  // namespace lapilli::graph
