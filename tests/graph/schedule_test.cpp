#include "graph/schedule.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "graph/random_plan.hpp"

namespace lapilli::graph {
namespace {

using namespace testing_aid;

Command command(std::vector<Range> ranges, double cost = 1) {
  Command c;
  c.ranges = std::move(ranges);
  c.cost = cost;
  return c;
}

TEST(Conflicts, AreFoundExactlyWhereSomeStepHasThem) {
  Random random(1);
  CommandOptions o;
  o.mixed_moving = true;
  int found = 0;
  for (int i = 0; i < 200000; ++i) {
    const Range a = random_range(random, o), b = random_range(random, o);
    Command ca, cb;
    ca.ranges = {a};
    cb.ranges = {b};
    const bool expected = clash_ever(ca, cb, 24);
    ASSERT_EQ(conflicts(a, b), expected) << a.begin << ' ' << a.end << " + " << a.step_stride << ", " << b.begin << ' '
                                         << b.end << " + " << b.step_stride;
    ASSERT_EQ(conflicts(b, a), expected);
    found += expected;
  }
  EXPECT_GT(found, 1000);
}

TEST(Schedule, OrdersReadAfterWriteWriteAfterReadAndWriteAfterWrite) {
  const std::vector<Command> commands = {
      command({arena(0, 16, Access::write)}),                              // 0
      command({arena(16, 32, Access::write)}),                             // 0: other bytes
      command({arena(0, 4, Access::read), arena(32, 48, Access::write)}),  // 1: reads after the first
      command({arena(15, 16, Access::read)}),                              // 1
      command({arena(3, 4, Access::write)}),                               // 2: after its reader
      command({arena(16, 17, Access::write)}),                             // 1: written twice
      command({}),                                                         // 0
      command({arena(0, 48, Access::read)}),                               // 3
  };
  const Schedule s = schedule(commands, {});
  EXPECT_EQ(level_of(s), (std::vector<uint32_t>{0, 0, 1, 1, 2, 1, 0, 3}));
  EXPECT_EQ(s.order, (std::vector<uint32_t>{0, 1, 6, 2, 3, 5, 4, 7}));  // program order inside a level
  EXPECT_EQ(s.segments, std::vector<uint32_t>{0});
  EXPECT_TRUE(check(commands, s).ok());
}

TEST(Schedule, ClosesASegmentBeforeItsCostIsExceeded) {
  std::vector<Command> commands;
  for (double cost : {4., 4., 4., 20., 1., 9., 1.}) commands.push_back(command({arena(0, 4, Access::write)}, cost));
  ScheduleOptions options;
  options.segment_cost = 10;
  EXPECT_EQ(schedule(commands, options).segments, (std::vector<uint32_t>{0, 2, 3, 4, 6}));
  for (Command& c : commands) c.cost = 0;
  EXPECT_EQ(schedule(commands, options).segments, std::vector<uint32_t>{0});
  options.segment_cost = 0;
  EXPECT_EQ(schedule(commands, options).segments, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Schedule, CutsALevelThatCostsMoreThanASegment) {
  std::vector<Command> commands;
  for (uint64_t i = 0; i < 5; ++i) commands.push_back(command({arena(4 * i, 4 * i + 4, Access::write)}, 4));
  commands.push_back(command({arena(0, 20, Access::read)}, 25));
  ScheduleOptions options;
  options.segment_cost = 10;
  const Schedule s = schedule(commands, options);
  EXPECT_EQ(level_of(s), (std::vector<uint32_t>{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(s.segments, (std::vector<uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(s.segment_costs, (std::vector<Cost>{{8, 8, 2}, {8, 8, 2}, {4, 4, 1}, {25, 20, 1}}));
  EXPECT_TRUE(check(commands, s).ok());
}

TEST(Schedule, ClosesASegmentBeforeItsBytesAreExceeded) {
  std::vector<Command> commands;
  for (uint64_t bytes : {4, 4, 4, 20, 2}) commands.push_back(command({arena(0, bytes, Access::read_write)}, 1));
  ScheduleOptions options;
  options.segment_bytes = 18;  // what is read and written counts twice
  EXPECT_EQ(schedule(commands, options).segments, (std::vector<uint32_t>{0, 2, 3, 4}));
}

TEST(Schedule, OfNothingIsEmpty) {
  const Schedule s = schedule({}, {});
  EXPECT_TRUE(s.order.empty() && s.levels.empty() && s.segments.empty());
  EXPECT_TRUE(check({}, s).ok());
}

TEST(Schedule, IsAsSoonAsPossible) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    CommandOptions o;
    o.moving = seed % 2 == 1;
    const auto commands = random_commands(random, o);
    std::vector<uint32_t> level(commands.size(), 0);
    for (size_t i = 0; i < commands.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (clash_ever(commands[i], commands[j], 1)) level[i] = std::max(level[i], level[j] + 1);
    const Schedule s = schedule(commands, {});
    ASSERT_EQ(level_of(s), level) << "seed " << seed;
    ASSERT_TRUE(check(commands, s).ok()) << "seed " << seed << ": " << check(commands, s).error().message;
  }
}

TEST(Schedule, OfRangesWithVariousStridesHoldsAtEveryStep) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    CommandOptions o;
    o.mixed_moving = true;
    const auto commands = random_commands(random, o);
    const Schedule s = schedule(commands, {});
    const auto level = level_of(s);
    for (size_t i = 0; i < commands.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (clash_ever(commands[i], commands[j], 24)) {
          ASSERT_LT(level[j], level[i]) << "seed " << seed;
        }
    ASSERT_TRUE(check(commands, s).ok()) << "seed " << seed;
  }
}

TEST(Schedule, RandomOrderInsideLevelsGivesTheBytesOfProgramOrder) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    CommandOptions o;
    o.moving = seed % 3 == 1;
    o.mixed_moving = seed % 3 == 2;
    const auto commands = random_commands(random, o);
    const Schedule s = schedule(commands, {});
    Memory expected, got;
    for (uint64_t step = 0; step < 3; ++step) {
      run_in_order(expected, commands, step);
      run_levels(got, commands, s, step, random);
    }
    ASSERT_TRUE(expected == got) << "seed " << seed;
  }
}

// The whole way: a graph is validated, placed with and without sharing, lowered and scheduled. What it keeps, and its
// states, must hold the same bytes, and each plan must pass the checker.
TEST(Schedule, RandomGraphsGiveTheSameBytesUnderEveryPlacement) {
  uint64_t shared = 0, apart = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    const Graph g = random_graph(random);
    PlacementOptions no_reuse;
    no_reuse.reuse = false;
    const Placement loose = place(g, no_reuse).value(), tight = place(g, {}).value();
    ASSERT_LE(tight.arena_bytes, loose.arena_bytes);
    shared += tight.arena_bytes;
    apart += loose.arena_bytes;
    const auto reference = lower(g, loose, seed), commands = lower(g, tight, seed);
    ScheduleOptions options;
    options.segment_cost = static_cast<double>(random.in(1, 500));
    const Schedule s = schedule(commands, options);
    ASSERT_TRUE(check(commands, s).ok()) << "seed " << seed << ": " << check(commands, s).error().message;
    Memory expected, got;
    for (uint64_t step = 0; step < 2; ++step) {
      run_in_order(expected, reference, step);
      run_levels(got, commands, s, step, random);
    }
    for (TensorId id = 0; id < g.tensors().size(); ++id) {
      const Tensor& t = g.tensor(id);
      if (t.space == Space::arena && !t.keep) continue;
      const auto range = [&](const Placement& p) {
        const uint64_t base = t.space == Space::arena ? p.offset[id] : 0;
        return Range{t.space, t.id, base, base + t.bytes(), Access::read, 0};
      };
      ASSERT_EQ(expected.read(range(loose)), got.read(range(tight))) << "seed " << seed << ", tensor " << t.name;
    }
  }
  EXPECT_LT(shared, apart);
}

TEST(Schedule, OfManyCommandsIsFast) {
  // 5,000 commands as of a large model: chains over reused activations, cache slices, weights; and some that read all.
  Random random(7);
  std::vector<Command> commands;
  for (uint64_t i = 0; i < 5000; ++i) {
    Command c;
    c.node = static_cast<NodeId>(i);
    const uint64_t slot = random.in(0, 999) * 256;
    c.ranges.push_back(arena(slot, slot + 256, Access::write));
    c.ranges.push_back(arena(random.in(0, 1000) * 200, 256000, Access::read));
    c.ranges.push_back({Space::weight, static_cast<uint32_t>(i), 0, 4096, Access::read, 0});
    c.ranges.push_back({Space::state, static_cast<uint32_t>(i % 24), i * 64, i * 64 + 64, Access::read_write, 64});
    if (i % 10 == 0) c.ranges.push_back({Space::state, static_cast<uint32_t>(i % 24), 0, 320000, Access::read, 0});
    commands.push_back(c);
  }
  // Processor time, with room for sanitizers and slow machines: what grows with the square of the commands takes
  // minutes.
  const auto now = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double start = now();
  const Schedule s = schedule(commands, {});
  const double seconds = now() - start;
  EXPECT_EQ(s.order.size(), 5000u);
  EXPECT_LT(seconds, 2.0);
  const double checked = now();
  const Status status = check(commands, s);
  EXPECT_TRUE(status.ok()) << status.error().message;
  const double check_seconds = now() - checked;
  EXPECT_LT(check_seconds, 10.0);
  RecordProperty("schedule_ms", std::to_string(seconds * 1e3));
  RecordProperty("check_ms", std::to_string(check_seconds * 1e3));
}

}  // namespace
}  // namespace lapilli::graph
