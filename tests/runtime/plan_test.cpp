// Plans of real networks, without a device: the checker over each plan and over what a job submits, barriers left out,
// and planted verdicts.
#include "runtime/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <deque>

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

SearchInput input_of(const Case& c, uint32_t vocabulary, uint32_t max_length) {
  SearchInput input;
  input.options.beams = c.beams;
  input.options.max_length = max_length;
  input.options.end_ids = {0};
  input.options.decoder_start = input.options.pad = static_cast<int32_t>(vocabulary) - 1;
  input.sources = testing_support::random_sources(c.lengths, vocabulary, 1);
  return input;
}

struct Compiled {
  WorkspaceKey key;
  WorkspacePlans plans;
};
// Of a session in which as many sentences wait as run, with given ids.
Result<Compiled> compile_case(const Case& c, const CompileOptions& options = {}, uint32_t max_length = 24) {
  LAPILLI_TRY(const auto loaded, testing_support::make_network(c.shape));
  Compiled out;
  out.key = testing_support::exact_key(input_of(c, loaded.network.config.target_vocabulary, max_length));
  out.key.given_rows = 6;
  out.key.given_passes = 2;
  complete_key(out.key, out.key.shape.running);
  out.key.shape.log_ticks = 32;  // the most that a script here makes use of
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
      for (const auto& plan : testing_support::in_order(p)) {
        LAPILLI_EXPECT_OK(graph::check(plan->commands, plan->schedule));
        EXPECT_GT(plan->dispatches.size(), 0u);
      }
      for (const auto& plan : p.narrow_steps) LAPILLI_EXPECT_OK(graph::check(plan->commands, plan->schedule));
    }
  }
}

// What a search engine does, in the order in which it does it (generate/engine.cpp and runtime/runner.cpp): admissions
// while steps are in flight, and a log whose rows are used again.
class Script {
 public:
  explicit Script(const Compiled& c) : c_(c) {}
  std::vector<Event> events;
  bool narrowing = false;      // every submission of steps by a narrower plan than the one before, as sentences end
  bool heedless = false;       // areas are written again whether they are in flight or not
  uint32_t log_divisor = 1;    // the log has so many times fewer rows than it needs
  uint32_t steps_waited = 0;   // submissions of steps that were waited for
  static constexpr uint32_t admit_every = 2;  // submissions of steps

  void search(uint32_t steps, uint32_t per_submit, uint32_t in_flight) {
    ticks_ = std::bit_ceil(per_submit * in_flight) / log_divisor;
    ASSERT_LE(ticks_, c_.key.shape.log_ticks);
    tick_ = read_ = 0;
    const uint32_t submissions = div_up(steps, per_submit);
    uint32_t fed = 0;
    while (fed < submissions || !flights_.empty() || !parts_.empty()) {
      while (parts_.empty() && flights_.size() < in_flight && fed < submissions) {
        if (fed % admit_every == 0 && (heedless || !busy_[next_area_])) feed_admission();
        parts_.push_back({-1, per_submit, fed++});
        submit(in_flight);
      }
      submit(in_flight);
      harvest();
    }
  }
  // The session grows: what its sentences have is copied, and those that were full go on (Model::Impl::grow_workspace).
  // States of other sizes are other memory then; here all are taken for the same.
  void grow_to(const Compiled& other) {
    c_ = other;
    host_area(kFirstArea, Access::write);
    ++ticket_;
    copy(kFirstArea, {StateKind::grids});
    auto& move = recordings_.emplace_back();
    for (const auto& t : c_.plans.step->graph.tensors())
      if (t.space == Space::state && (state_kind(t.id) == StateKind::self_kv || state_kind(t.id) == StateKind::lineage))
        move.commands.push_back({{{Space::state, t.id, 0, t.bytes(), Access::read_write, 0}}, 0, graph::kNone});
    replay(move);
    start();
    flights_.push_back({ticket_, {}});
    harvest();
  }

 private:
  static constexpr uint64_t kWhole = ~uint64_t{0};
  // Areas of host memory that are copied into states; the checker knows them as weights of these ids.
  static constexpr uint32_t kFirstArea = 1u << 30, kAdmissionAreas = kFirstArea + 1, kGivenAreas = kFirstArea + 3;

  struct Part {
    int area = -1;  // of an admission; otherwise steps
    uint32_t steps = 0, number = 0;
  };
  struct Flight {
    uint64_t ticket = 0;
    Part part;
  };
  struct Recording {
    std::vector<graph::Command> commands;
    graph::Schedule schedule;
  };

  void feed_admission() {
    if (!sent_) host_area(kFirstArea, Access::write);
    host_area(kAdmissionAreas + next_area_, Access::write);
    host_area(kGivenAreas + next_area_, Access::write);
    busy_[next_area_] = true;
    parts_.push_back({static_cast<int>(next_area_)});
    next_area_ = 1 - next_area_;
  }
  void submit(uint32_t in_flight) {
    while (!parts_.empty() && flights_.size() < in_flight) {
      ++ticket_;
      const Part part = parts_.front();
      parts_.pop_front();
      flights_.push_back({ticket_, part});
      if (part.area >= 0)
        admit(static_cast<uint32_t>(part.area));
      else
        step(part);
    }
  }
  void admit(uint32_t area) {
    if (!sent_) copy(kFirstArea, {StateKind::step, StateKind::search, StateKind::grids});
    sent_ = true;
    copy(kAdmissionAreas + area, {StateKind::inbox, StateKind::source_ids, StateKind::spans, StateKind::globals,
                                  StateKind::encode_grids});
    replay(*c_.plans.admit);
    replay(*c_.plans.encode.front());
    copy(kGivenAreas + area, {StateKind::given, StateKind::given_grids});
    replay(*c_.plans.given);
    start();
  }
  // By its ranges it is a step, which writes the log's row of the tick that comes next.
  void start() { replay(*c_.plans.start, tick_ % ticks_); }
  void step(const Part& part) {
    const size_t narrower = narrowing ? std::min<size_t>(part.number, c_.plans.narrow_steps.size()) : 0;
    const Plan& step = narrower == 0 ? *c_.plans.step : *c_.plans.narrow_steps[narrower - 1];
    for (uint32_t i = 0; i < part.steps; ++i) replay(step, tick_++ % ticks_);
  }
  void harvest() {
    const Flight flight = flights_.front();
    flights_.pop_front();
    Event e;
    e.kind = Event::Kind::wait;
    e.ticket = flight.ticket;
    events.push_back(e);
    if (flight.part.area >= 0) busy_[flight.part.area] = false;
    if (flight.part.steps > 0) ++steps_waited;
    const uint64_t row = LogLayout::stride(c_.key.shape.rows()) * 4;
    for (uint32_t i = 0; i < flight.part.steps; ++i) {
      const uint64_t at = read_++ % ticks_ * row;
      host({Space::state, state_id(StateKind::log), at, at + row, Access::read, 0});
    }
  }

  void replay(const Plan& plan, uint64_t tick_row = 0) { replay(plan.commands, plan.schedule, tick_row); }
  void replay(Recording& recording) {
    recording.schedule = graph::schedule(recording.commands, {});
    replay(recording.commands, recording.schedule, 0);
  }
  void replay(std::span<const graph::Command> commands, const graph::Schedule& schedule, uint64_t tick_row) {
    Event e;
    e.commands = commands;
    e.schedule = &schedule;
    e.step = tick_row;
    e.ticket = ticket_;
    events.push_back(e);
  }
  // States that no plan has are left out, as in an UploadArea.
  void copy(uint32_t area, const std::vector<StateKind>& kinds) {
    auto& recording = recordings_.emplace_back();
    uint64_t at = 0;
    for (const StateKind kind : kinds) {
      const uint64_t bytes = state_bytes(state_id(kind));
      if (bytes == 0) continue;
      recording.commands.push_back({{{Space::weight, area, at, at + bytes, Access::read, 0},
                                     {Space::state, state_id(kind), 0, bytes, Access::write, 0}},
                                    0,
                                    graph::kNone});
      at += bytes;
    }
    replay(recording);
  }
  [[nodiscard]] uint64_t state_bytes(uint32_t id) const {
    uint64_t bytes = 0;
    for (const auto& plan : testing_support::in_order(c_.plans))
      for (const auto& t : plan->graph.tensors())
        if (t.space == Space::state && t.id == id) bytes = std::max(bytes, t.bytes());
    return bytes;
  }
  void host_area(uint32_t area, Access access) { host({Space::weight, area, 0, kWhole, access, 0}); }
  void host(const graph::Range& range) {
    Event e;
    e.kind = Event::Kind::host;
    e.host = range;
    events.push_back(e);
  }

  Compiled c_;
  std::deque<Recording> recordings_;  // that events point to
  std::deque<Part> parts_;
  std::deque<Flight> flights_;
  uint64_t ticket_ = 0;
  uint32_t ticks_ = 1, tick_ = 0, read_ = 0;  // rows of the log; steps that were submitted, and whose log was read
  uint32_t next_area_ = 0;
  bool busy_[2] = {}, sent_ = false;
};

TEST(RealPlans, SearchesOneAfterAnotherPassTheChecker) {
  for (const Case& c : kCases) {
    LAPILLI_ASSERT_VALUE(const auto compiled, compile_case(c));
    for (const uint32_t per_submit : {1u, 2u, 4u, 8u}) {
      Script script(compiled);
      script.search(5 * per_submit, per_submit, 2);
      script.search(6 * per_submit, per_submit, 3);
      LAPILLI_EXPECT_OK(graph::check(script.events));
    }
  }
}

TEST(RealPlans, AGrownSessionPassesTheChecker) {
  LAPILLI_ASSERT_VALUE(const auto small, compile_case(kCases[1]));
  LAPILLI_ASSERT_VALUE(const auto large, compile_case(kCases[1], {}, 48));
  Script script(small);
  script.search(8, 2, 2);
  script.grow_to(large);
  script.search(4, 1, 2);
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
      script.search(12, per_submit, 2);
      script.search(12, per_submit, 3);
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

// The checker must see what it is there for: without the wait, with too short a log, and without any one barrier, the
// same script fails.
TEST(RealPlans, AReadBeforeTheWaitIsCaught) {
  LAPILLI_ASSERT_VALUE(const auto compiled, compile_case(kCases[1]));
  Script script(compiled);
  script.search(8, 2, 2);
  LAPILLI_ASSERT_OK(graph::check(script.events));
  uint32_t removed = 0;
  for (size_t i = 0; i + 1 < script.events.size(); ++i) {
    // Where no log is read behind it a later wait may do for what it stands for.
    if (script.events[i].kind != Event::Kind::wait) continue;
    if (script.events[i + 1].kind != Event::Kind::host || script.events[i + 1].host.access != Access::read) continue;
    auto events = script.events;
    events.erase(events.begin() + static_cast<ptrdiff_t>(i));
    const Status s = graph::check(events);
    ASSERT_FALSE(s.ok()) << "the wait of event " << i;
    EXPECT_THAT(s.error().message, HasSubstr("no wait for ticket"));
    ++removed;
  }
  EXPECT_EQ(removed, 4u);
  EXPECT_EQ(script.steps_waited, 4u);
}

TEST(RealPlans, ALogThatIsTooShortIsCaught) {
  LAPILLI_ASSERT_VALUE(const auto compiled, compile_case(kCases[1]));
  for (const uint32_t in_flight : {2u, 4u}) {
    Script script(compiled);
    script.log_divisor = 2;
    script.search(16, 2, in_flight);
    const Status s = graph::check(script.events);
    ASSERT_FALSE(s.ok()) << in_flight << " submissions in flight";
    EXPECT_THAT(s.error().message, HasSubstr("no wait for ticket"));
  }
}

TEST(RealPlans, AnAreaThatIsWrittenInFlightIsCaught) {
  LAPILLI_ASSERT_VALUE(const auto compiled, compile_case(kCases[1]));
  for (const bool heedless : {false, true}) {
    Script script(compiled);
    script.heedless = heedless;
    script.search(16, 1, 8);
    const Status s = graph::check(script.events);
    EXPECT_EQ(s.ok(), !heedless);
    if (!s.ok()) {
      EXPECT_THAT(s.error().message, HasSubstr("no wait for ticket"));
    }
  }
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
    const auto plans = testing_support::in_order(first.plans);
    for (const auto& plan : plans) {
      for (graph::NodeId id = 0; id < plan->graph.nodes().size(); ++id) {
        const auto& node = plan->graph.node(id);
        for (const auto& v : node.op->variants(masked(c.mask), plan->graph, node))
          verdicts.refuse(node.op->name, v.name);
      }
    }
    options.verdicts = &verdicts;
    LAPILLI_ASSERT_VALUE(const auto refused, compile_case(c, options));
    const auto again = testing_support::in_order(refused.plans);
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
