// Plans of real networks, without a device: the checker over each plan and over what a job submits, barriers left out,
// and planted verdicts.
#include "runtime/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fixtures.hpp"
#include "support/network_rig.hpp"

namespace lapilli {
namespace {

using graph::Access;
using graph::Event;
using graph::Space;
using testing::HasSubstr;
using testing_support::SearchInput;

Capabilities masked(const char* mask) {
  auto caps = apply_mask(Capabilities(), mask);
  EXPECT_TRUE(caps.ok());
  return *caps;
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
    {"floor", "data/led", 2, {40, 9, 3}},
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

struct Compiled {
  WorkspaceKey key;
  WorkspacePlans plans;
};
Result<Compiled> compile_case(const Case& c, const CompileOptions& options = {}) {
  LAPILLI_TRY(const auto loaded, testing_support::make_network(c.shape));
  Compiled out;
  out.key = testing_support::exact_key(input_of(c, loaded.network.config.target_vocabulary));
  LAPILLI_TRY(out.plans, testing_support::compile_plans(loaded.network, out.key, masked(c.mask), options));
  return out;
}

TEST(RealPlans, PassTheChecker) {
  for (const Case& c : kCases) {
    for (const double cost : {2e11, 1e5, 0.0}) {
      CompileOptions options;
      options.segment_cost = cost;
      LAPILLI_ASSERT_VALUE(const auto compiled, compile_case(c, options));
      const auto& p = compiled.plans;
      for (const auto& plan : {p.encode, p.init, p.step}) {
        LAPILLI_EXPECT_OK(graph::check(plan->commands, plan->schedule));
        EXPECT_GT(plan->dispatches.size(), 0u);
      }
      for (const auto& plan : p.narrow_steps) LAPILLI_EXPECT_OK(graph::check(plan->commands, plan->schedule));
    }
  }
}

// What a job does, in the order in which it does it (generate/job.cpp and runtime/runner.cpp).
class Script {
 public:
  explicit Script(const Compiled& c) : c_(c) {}
  std::vector<Event> events;
  bool narrowing = false;  // every submission of steps by a narrower plan than the one before, as rows end

  void job(uint32_t steps, uint32_t per_submit, uint32_t in_flight) {
    for (const StateKind kind :
         {StateKind::params, StateKind::lists, StateKind::source_ids, StateKind::lengths, StateKind::globals})
      host(kind, 0, kWhole, Access::write);
    ++ticket_;
    submit(*c_.plans.encode, 0);
    submit(*c_.plans.init, 0);
    std::vector<std::pair<uint64_t, uint32_t>> flights;  // ticket, last step
    uint32_t submitted = 0, read = 0;
    while (submitted < steps || !flights.empty()) {
      while (submitted < steps && flights.size() < in_flight) {
        ++ticket_;
        const size_t narrower = narrowing ? std::min<size_t>(submitted / per_submit, c_.plans.narrow_steps.size()) : 0;
        const Plan& step = narrower == 0 ? *c_.plans.step : *c_.plans.narrow_steps[narrower - 1];
        for (uint32_t i = 0; i < per_submit; ++i) submit(step, submitted++);
        flights.emplace_back(ticket_, submitted);
      }
      wait(flights.front().first);
      const uint64_t row = LogLayout::stride(c_.key.shape.slots()) * 4;
      for (; read < flights.front().second; ++read) host(StateKind::log, read * row, (read + 1) * row, Access::read);
      flights.erase(flights.begin());
    }
    host(StateKind::search, 0, kWhole, Access::read);
  }
  // A job of another size on the same memory.
  void switch_to(const Compiled& other) { c_ = other; }

 private:
  static constexpr uint64_t kWhole = ~uint64_t{0};
  void submit(const Plan& plan, uint64_t step) {
    Event e;
    e.commands = plan.commands;
    e.schedule = &plan.schedule;
    e.step = step;
    e.ticket = ticket_;
    events.push_back(e);
  }
  void wait(uint64_t ticket) {
    Event e;
    e.kind = Event::Kind::wait;
    e.ticket = ticket;
    events.push_back(e);
  }
  void host(StateKind kind, uint64_t begin, uint64_t end, Access access) {
    Event e;
    e.kind = Event::Kind::host;
    e.host = {Space::state, state_id(kind), begin, end, access, 0};
    events.push_back(e);
  }
  Compiled c_;
  uint64_t ticket_ = 0;
};

TEST(RealPlans, JobsOneAfterAnotherPassTheChecker) {
  for (const Case& c : kCases) {
    LAPILLI_ASSERT_VALUE(const auto compiled, compile_case(c));
    for (const uint32_t per_submit : {1u, 2u, 4u, 8u}) {
      Script script(compiled);
      script.job(8, per_submit, 2);
      script.job(8, per_submit, 3);
      LAPILLI_EXPECT_OK(graph::check(script.events));
    }
  }
}

TEST(RealPlans, ABucketSwitchPassesTheChecker) {
  LAPILLI_ASSERT_VALUE(const auto small, compile_case(kCases[0]));
  LAPILLI_ASSERT_VALUE(const auto large, compile_case(kCases[1]));
  Script script(small);
  script.job(4, 2, 2);
  script.switch_to(large);
  script.job(4, 2, 2);
  script.switch_to(small);
  script.job(4, 1, 2);
  LAPILLI_EXPECT_OK(graph::check(script.events));
}

// Steps for fewer and fewer rows on the memory of one session, reading their own entries of the grids that they share.
TEST(RealPlans, NarrowerStepsPassTheChecker) {
  for (const Case& c : kCases) {
    LAPILLI_ASSERT_VALUE(auto compiled, compile_case(c));
    std::vector<std::shared_ptr<const Plan>> steps{compiled.plans.step};
    steps.insert(steps.end(), compiled.plans.narrow_steps.begin(), compiled.plans.narrow_steps.end());
    EXPECT_EQ(steps.size(), c.lengths.size() == 1 ? 1u : c.lengths.size() == 2 ? 2u : 3u);
    const SharedGrids grids = share_grids(steps);
    ASSERT_EQ(grids.of_plan.size(), steps.size());
    EXPECT_LE(grids.specs.size(), kMaxGrids);
    for (size_t i = 0; i < steps.size(); ++i) {
      Plan plan = *steps[i];
      ASSERT_EQ(grids.of_plan[i].size(), plan.grids.size());
      for (auto& command : plan.commands)
        for (auto& range : command.ranges) {
          if (range.id != state_id(StateKind::grids) || range.end - range.begin != 12) continue;
          const uint64_t bytes = GridWords::stride * 4, own = range.begin / bytes;
          EXPECT_EQ(grids.specs[grids.of_plan[i][own]], plan.grids[own]);
          range.begin = grids.of_plan[i][own] * bytes + range.begin % bytes;
          range.end = range.begin + 12;
        }
      auto shared = std::make_shared<const Plan>(std::move(plan));
      (i == 0 ? compiled.plans.step : compiled.plans.narrow_steps[i - 1]) = shared;
    }
    for (const uint32_t per_submit : {1u, 2u, 4u}) {
      Script script(compiled);
      script.narrowing = true;
      script.job(12, per_submit, 2);
      script.job(12, per_submit, 3);
      LAPILLI_EXPECT_OK(graph::check(script.events));
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
  // What does not fit is left out from there on.
  std::vector<GridSpec> many;
  for (uint32_t i = 0; i < kMaxGrids; ++i) many.push_back({100 + i, 1});
  plans.insert(plans.begin() + 1, plan(many));
  EXPECT_EQ(share_grids(plans).of_plan.size(), 1u);
}

// The checker must see what it is there for: without the wait, and without any one barrier, the same script fails.
TEST(RealPlans, AReadBeforeTheWaitIsCaught) {
  LAPILLI_ASSERT_VALUE(const auto compiled, compile_case(kCases[1]));
  Script script(compiled);
  script.job(4, 2, 2);
  size_t removed = 0;
  for (size_t i = 0; i < script.events.size(); ++i) {
    if (script.events[i].kind != Event::Kind::wait) continue;
    auto events = script.events;
    events.erase(events.begin() + static_cast<ptrdiff_t>(i));
    const Status s = graph::check(events);
    ASSERT_FALSE(s.ok()) << "the wait of event " << i;
    EXPECT_THAT(s.error().message, HasSubstr("no wait for ticket"));
    ++removed;
  }
  EXPECT_EQ(removed, 2u);
}

TEST(RealPlans, EveryBarrierOfAStepIsNeeded) {
  for (const Case& c : {kCases[0], kCases[1]}) {
    LAPILLI_ASSERT_VALUE(const auto compiled, compile_case(c));
    const Plan& step = *compiled.plans.step;
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
    for (const auto& plan : {first.plans.encode, first.plans.init, first.plans.step}) {
      for (graph::NodeId id = 0; id < plan->graph.nodes().size(); ++id) {
        const auto& node = plan->graph.node(id);
        for (const auto& v : node.op->variants(masked(c.mask), plan->graph, node))
          verdicts.refuse(node.op->name, v.name);
      }
    }
    options.verdicts = &verdicts;
    LAPILLI_ASSERT_VALUE(const auto refused, compile_case(c, options));
    for (const auto& [a, b] :
         {std::pair{first.plans.encode, refused.plans.encode}, std::pair{first.plans.step, refused.plans.step}}) {
      for (graph::NodeId id = 0; id < b->graph.nodes().size(); ++id) {
        const auto& node = b->graph.node(id);
        EXPECT_STREQ(b->variants[id].name, node.op->variants(masked(c.mask), b->graph, node).back().name) << node.label;
        if (a->variants[id].id != b->variants[id].id) ++others;
      }
      LAPILLI_EXPECT_OK(graph::check(b->commands, b->schedule));
    }
    EXPECT_GT(others, 0u);
  }
}

}  // namespace
}  // namespace lapilli
