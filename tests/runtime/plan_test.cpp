// Plans of real networks, without a device: the checker over each plan, barriers left out, and planted verdicts. What a
// job submits is checked in tests/generate/events_test.cpp.
#include "runtime/plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fixtures.hpp"
#include "support/network_rig.hpp"
#include "vulkan/caps/mask.hpp"

namespace lapilli {
namespace {

using graph::Event;
using testing::HasSubstr;
using testing_support::SearchInput;

// "bindings": as the floor, with more buffers a kernel, for which nodes are fused (runtime/plan/fuse.hpp).
Capabilities masked(const char* mask) {
  Capabilities caps;
  if (std::string(mask) == "bindings") return caps.max_storage_buffers = 16, caps;
  auto narrowed = apply_mask(caps, mask);
  EXPECT_TRUE(narrowed.ok());
  return *narrowed;
}

struct Case {
  const char *mask, *shape;
  uint32_t beams;
  std::vector<uint32_t> lengths;
};
const Case kCases[] = {
    {"floor", "tiny", 1, {7}},
    {"floor", "tiny", 4, {9, 3, 5}},
    {"small-bindings", "tiny,vocabulary=5003", 4, {40, 3, 5, 9}},
    {"no-indirect", "tiny", 2, {20, 20}},
    {"floor", "small", 4, {33, 60}},
    {"floor", "data/t5-v1_1", 3, {30, 4}},
    {"small-bindings", "data/umt5", 1, {12}},
    {"small-bindings", "tiny,d=128,heads=1", 4, {9, 3, 5}},  // attention in parts of the cache
    {"floor", "data/led", 2, {40, 9, 3}},
    {"bindings", "tiny", 4, {9, 3, 5}},
    {"bindings", "data/t5-v1_1", 1, {30}},
};

SearchInput input_of(const Case& c, uint32_t vocabulary) {
  SearchInput input;
  input.options.beams = c.beams;
  input.options.max_length = 24;
  input.options.end_ids = {0};
  input.options.decoder_start = input.options.pad = static_cast<int32_t>(vocabulary) - 1;
  input.sources = testing_support::random_sources(c.lengths, vocabulary, 1);
  return input;
}

// A session with as many waiting sentences as running ones, with prompt ids.
Result<WorkspacePlans> compile_case(const Case& c, const CompileOptions& options = {}) {
  LAPILLI_TRY(const auto loaded, testing_support::make_network(c.shape));
  WorkspaceKey key = testing_support::exact_key(input_of(c, loaded.network.config.target_vocabulary));
  key.prompt_rows = 6;
  complete_key(key, key.shape.running);
  return testing_support::compile_plans(loaded.network, key, masked(c.mask), options);
}

TEST(RealPlans, PassTheChecker) {
  for (const Case& c : kCases) {
    for (const double cost : {2e11, 1e5, 0.0}) {
      CompileOptions options;
      if (cost > 0) options.work = WorkLimit(cost);
      LAPILLI_ASSERT_VALUE(const auto p, compile_case(c, options));
      for (const auto& plan : testing_support::in_order(p)) {
        LAPILLI_EXPECT_OK(graph::check(plan->commands, plan->schedule));
        EXPECT_GT(plan->dispatches.size(), 0u);
      }
      for (const auto& plan : p.narrow_steps) LAPILLI_EXPECT_OK(graph::check(plan->commands, plan->schedule));
    }
  }
}

// Whatever is made of the rows of a step or of a pass is made of the live ones, by grids that follow them.
TEST(RealPlans, RowsFollowTheLiveOnes) {
  for (const Case& c : kCases) {
    if (std::string(c.mask) != "floor") continue;  // elsewhere rows are cut, or grids are full
    LAPILLI_ASSERT_VALUE(const auto p, compile_case(c));
    auto plans = p.encode;
    plans.insert(plans.end(), {p.prompt, p.step});
    for (const auto& plan : plans) {
      const graph::Graph& g = plan->graph;
      const uint64_t rows = g.tensor(g.node(0).outputs[0]).rows;  // of the embedding
      const auto made_of_rows = [&](graph::TensorId id) {
        return id != graph::kNone && g.tensor(id).space == graph::Space::arena && g.tensor(id).rows == rows;
      };
      size_t followed = 0;
      for (const PlannedDispatch& d : plan->dispatches)
        for (const graph::TensorId id : g.node(d.node).outputs) {
          if (!made_of_rows(id)) continue;
          EXPECT_TRUE(g.tensor(id).live_rows) << c.shape << ": " << g.tensor(id).name;
          EXPECT_GE(d.grid, 0) << c.shape << ": " << g.node(d.node).label;
          ++followed;
        }
      EXPECT_GT(followed, 5u);
    }
  }
}

TEST(SharedGrids, HoldEachGridOnceAndKnowWhoseItIs) {
  const auto plan = [](std::vector<GridSpec> grids) {
    auto p = std::make_shared<Plan>();
    p->grids = std::move(grids);
    return p;
  };
  std::vector<std::shared_ptr<const Plan>> plans{plan({{1, 1}, {2, 8}}), plan({{2, 8}, {3, 4}, {1, 1}}), plan({})};
  const SharedGrids shared = share_grids(plans);
  EXPECT_EQ(shared.specs, (std::vector<GridSpec>{{1, 1}, {2, 8}, {3, 4}}));
  EXPECT_EQ(shared.of_plan, (std::vector<std::vector<uint32_t>>{{0, 1}, {1, 2, 0}, {}}));
  // From the first plan that does not fit, plans are left out.
  std::vector<GridSpec> many;
  for (uint32_t i = 0; i < state::MAX_GRIDS; ++i) many.push_back({100 + i, 1});
  plans.insert(plans.begin() + 1, plan(many));
  EXPECT_EQ(share_grids(plans).of_plan.size(), 1u);
}

TEST(RealPlans, EveryBarrierOfAStepIsNeeded) {
  for (const Case& c : {kCases[0], kCases[1], Case{"bindings", "tiny", 4, {9, 3, 5}}}) {
    LAPILLI_ASSERT_VALUE(const auto plans, compile_case(c));
    const Plan& step = *plans.step;
    for (uint32_t level = 0; level < step.schedule.levels.size(); ++level) {
      std::vector<Event> events(2);
      for (uint64_t i = 0; i < 2; ++i) {
        events[i].commands = step.commands;
        events[i].schedule = &step.schedule;
        events[i].step = i;
        events[i].ticket = i + 1;
      }
      LAPILLI_ASSERT_OK(graph::check(events));
      events[1].removed_barriers = {level};
      const Status s = graph::check(events);
      ASSERT_FALSE(s.ok()) << "barrier " << level << " of " << step.schedule.levels.size();
      EXPECT_THAT(s.error().message, HasSubstr("no barrier stands between them"));
    }
  }
}

// Whatever a self-test refuses, the next variant is taken, and the floor when everything else is refused.
TEST(PlantedVerdicts, MakeEveryOpFallBackToItsFloor) {
  std::set<std::string> fell;
  for (const char* mask : {"full", "floor", "small-bindings"}) {
    Capabilities caps = masked(mask);
    if (std::string(mask) == "full") {  // a device that can do everything
      caps.max_invocations = 1024;
      caps.max_group_size = {1024, 1024, 64};
      caps.shared_memory = 65536;
      caps.subgroup_size = caps.min_subgroup_size = caps.max_subgroup_size = 32;
      caps.subgroup_arithmetic = caps.subgroup_shuffle = true;
      caps.storage_16bit = caps.arithmetic_fp16 = caps.storage_8bit = caps.arithmetic_int8 = true;
    }
    for (const OpDef* op : all_ops()) {
      for (const OpCase& c : op->cases()) {
        const auto& node = c.graph.node(0);
        const auto variants = op->variants(caps, c.graph, node);
        ASSERT_FALSE(variants.empty()) << op->name << " " << c.name;
        Verdicts verdicts;
        CompileOptions options;
        options.verdicts = &verdicts;
        for (size_t i = 0; i < variants.size(); ++i) {
          EXPECT_STREQ(choose_variant(caps, c.graph, node, options).name, variants[i].name)
              << op->name << " " << c.name;
          verdicts.refuse(op->name, variants[i].name);
        }
        // The floor cannot be refused.
        EXPECT_STREQ(choose_variant(caps, c.graph, node, options).name, variants.back().name);
        if (variants.size() > 1) fell.insert(op->name);
      }
    }
  }
  EXPECT_THAT(fell, testing::Contains("matmul"));
}

TEST(PlantedVerdicts, ReachEveryNodeOfAPlan) {
  for (const Case& c : kCases) {
    Verdicts verdicts;
    CompileOptions options;
    LAPILLI_ASSERT_VALUE(const auto first, compile_case(c, options));
    uint32_t others = 0;
    const auto plans = testing_support::in_order(first);
    for (const auto& plan : plans) {
      for (graph::NodeId id = 0; id < plan->graph.nodes().size(); ++id) {
        const auto& node = plan->graph.node(id);
        for (const auto& v : node.op->variants(masked(c.mask), plan->graph, node))
          verdicts.refuse(node.op->name, v.name);
      }
    }
    options.verdicts = &verdicts;
    LAPILLI_ASSERT_VALUE(const auto refused, compile_case(c, options));
    const auto again = testing_support::in_order(refused);
    ASSERT_EQ(again.size(), plans.size());
    for (size_t i = 0; i < plans.size(); ++i) {
      const Plan &a = *plans[i], &b = *again[i];
      for (graph::NodeId id = 0; id < b.graph.nodes().size(); ++id) {
        const auto& node = b.graph.node(id);
        EXPECT_STREQ(b.variants[id].name, node.op->variants(masked(c.mask), b.graph, node).back().name) << node.label;
        if (a.variants[id].id != b.variants[id].id) ++others;
      }
      LAPILLI_EXPECT_OK(graph::check(b.commands, b.schedule));
    }
    EXPECT_GT(others, 0u);
  }
}

}  // namespace
}  // namespace lapilli
