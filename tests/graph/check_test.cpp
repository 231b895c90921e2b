#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "graph/random_plan.hpp"
#include "graph/schedule.hpp"

namespace lapilli::graph {
namespace {

using namespace testing_aid;
using testing::HasSubstr;

struct Plan {
  std::vector<Command> commands;
  Schedule schedule;
};

Plan make_plan(std::vector<std::vector<Range>> ranges) {
  Plan p;
  for (auto& r : ranges) {
    Command c;
    c.ranges = std::move(r);
    c.node = static_cast<NodeId>(p.commands.size() + 10);
    p.commands.push_back(std::move(c));
  }
  p.schedule = schedule(p.commands, {});
  return p;
}

Event submit(const Plan& p, uint64_t ticket, uint64_t step = 0) {
  Event e;
  e.commands = p.commands;
  e.schedule = &p.schedule;
  e.ticket = ticket;
  e.step = step;
  return e;
}
Event wait(uint64_t ticket) {
  Event e;
  e.kind = Event::Kind::wait;
  e.ticket = ticket;
  return e;
}
Event host(Range r, uint64_t step = 0) {
  Event e;
  e.kind = Event::Kind::host;
  e.host = r;
  e.step = step;
  return e;
}
Range state(uint64_t begin, uint64_t end, Access access, uint64_t stride = 0) {
  return {Space::state, 5, begin, end, access, stride};
}

void expect_caught(const Status& s, std::initializer_list<const char*> words) {
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().code, ErrorCode::internal);
  for (const char* w : words) EXPECT_THAT(s.error().message, HasSubstr(w));
}
void expect_fine(const Status& s) { EXPECT_TRUE(s.ok()) << s.error().message; }

// ---- one plan
// ---------------------------------------------------------------------------------------------------------

TEST(Check, NamesTheTwoCommandsAndTheBytes) {
  Plan p = make_plan({{arena(0, 64, Access::write)}, {arena(32, 40, Access::read)}});
  expect_fine(check(p.commands, p.schedule));
  p.schedule.levels = {{0, 2}};
  expect_caught(check(p.commands, p.schedule), {"command 1 (node 11)", "reads bytes [32, 40) of arena",
                                                "command 0 (node 10)", "writes", "no barrier"});
  p.schedule.levels = {{0, 1}, {1, 2}};
  p.schedule.order = {1, 0};
  expect_caught(check(p.commands, p.schedule), {"command 0 (node 10)", "command 1 (node 11)", "later in the program"});
}

TEST(Check, RefusesSchedulesThatAreNotWhole) {
  const Plan good = make_plan({{arena(0, 8, Access::write)}, {arena(0, 8, Access::read)}, {arena(0, 8, Access::read)}});
  const auto with = [&](auto&& change) {
    Schedule s = good.schedule;
    change(s);
    return check(good.commands, s);
  };
  expect_fine(with([](Schedule&) {}));
  expect_caught(with([](Schedule& s) { s.order[2] = 1; }), {"command 1 is run twice"});
  expect_caught(with([](Schedule& s) { s.order[2] = 9; }), {"command 9 of 3"});
  expect_caught(with([](Schedule& s) { s.order.pop_back(), --s.levels.back().end; }), {"command 2 is never run"});
  expect_caught(with([](Schedule& s) { --s.levels.back().end; }), {"end at 2 of 3"});
  expect_caught(with([](Schedule& s) { ++s.levels.back().end; }), {"level 1 is [1, 4)"});
  expect_caught(with([](Schedule& s) { s.levels.back().begin = 0; }), {"level 1 is [0, 3)"});
  expect_caught(with([](Schedule& s) { s.segments.clear(); }), {"in no segment"});
  expect_caught(with([](Schedule& s) { s.segments = {1}; }), {"segment 0 begins at level 1"});
  expect_caught(with([](Schedule& s) { s.segments = {0, 0}; }), {"segment 1 begins at level 0"});
  expect_caught(with([](Schedule& s) { s.segments = {0, 2}; }), {"segment 1 begins at level 2"});
}

TEST(Check, SeesRangesThatMeetAtALaterStepOnly) {
  Plan p = make_plan({{state(0, 4, Access::write, 16)}, {state(160, 176, Access::read)}});
  p.schedule.order = {0, 1};
  p.schedule.levels = {{0, 2}};
  p.schedule.segments = {0};
  expect_caught(check(p.commands, p.schedule), {"commands 0 and 1", "state 5", "some step"});
  const std::vector<Event> early = {submit(p, 1, 9)}, late = {submit(p, 1, 10)};
  expect_fine(check(early));
  expect_caught(check(late), {"step 10", "[160, 164)"});
}

bool valid(const std::vector<Command>& commands, const std::vector<uint32_t>& level) {
  for (size_t i = 0; i < commands.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (level[j] >= level[i] && clash_ever(commands[i], commands[j], 24)) return false;
  return true;
}

CommandOptions options_for(uint64_t seed) {
  CommandOptions o;
  o.moving = seed % 3 == 1;
  o.mixed_moving = seed % 3 == 2;
  return o;
}

TEST(Check, AgreesWithEveryPairOnSchedulesChangedAtRandom) {
  int wrong = 0, right = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    const auto commands = random_commands(random, options_for(seed));
    auto level = level_of(schedule(commands, {}));
    for (uint64_t k = random.in(1, 2); k > 0; --k) level[random.in(0, level.size() - 1)] = random.in(0, 6);
    const bool expected = valid(commands, level);
    const Status s = check(commands, from_levels(level, {0}));
    ASSERT_EQ(s.ok(), expected) << "seed " << seed << (s.ok() ? "" : s.error().message);
    expected ? ++right : ++wrong;
  }
  EXPECT_GT(wrong, 500);
  EXPECT_GT(right, 500);
}

// As if the planner had not known of one access of one command.
TEST(Check, CatchesALostDependency) {
  int lost = 0;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    const auto commands = random_commands(random, options_for(seed));
    auto blind = commands;
    auto& ranges = blind[random.in(0, blind.size() - 1)].ranges;
    if (ranges.empty()) continue;
    ranges.erase(ranges.begin() + static_cast<long>(random.in(0, ranges.size() - 1)));
    const Schedule s = schedule(blind, {});
    const bool expected = valid(commands, level_of(s));
    ASSERT_EQ(check(commands, s).ok(), expected) << "seed " << seed;
    lost += !expected;
  }
  EXPECT_GT(lost, 500);
}

TEST(Check, CatchesEveryNecessaryBarrierThatIsRemoved) {
  int caught = 0, needless = 0, whole = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    Plan p;
    p.commands = random_commands(random, options_for(seed));
    ScheduleOptions options;
    options.segment_cost = static_cast<double>(random.in(1, 400));
    p.schedule = schedule(p.commands, options);
    const auto level = level_of(p.schedule);
    const uint64_t step = random.in(0, 5);
    // The barrier within a level that was cut for its cost is not needed.
    const bool cut = schedule(p.commands, {}).levels.size() != p.schedule.levels.size();
    whole += !cut;
    for (uint32_t l = 1; l < p.schedule.levels.size(); ++l) {
      bool necessary = false;
      for (size_t i = 0; i < level.size(); ++i)
        for (size_t j = 0; j < i; ++j)
          if (std::max(level[i], level[j]) == l && std::min(level[i], level[j]) + 1 == l)
            necessary |= clash(p.commands[i], step, p.commands[j], step);
      if (seed % 3 != 2 && !cut) {
        ASSERT_TRUE(necessary) << "an as-soon-as-possible level needs its barrier";
      }
      Event e = submit(p, 1, step);
      e.removed_barriers = {l};
      const std::vector<Event> events = {e};
      ASSERT_EQ(check(events).ok(), !necessary) << "seed " << seed << ", level " << l;
      necessary ? ++caught : ++needless;
    }
  }
  EXPECT_GT(caught, 3000);
  EXPECT_GT(needless, 10);
  EXPECT_GT(whole, 500);
}

// ---- sequences
// --------------------------------------------------------------------------------------------------------

TEST(Check, OpeningBarriersOrderSubmissions) {
  const Plan write = make_plan({{arena(0, 8, Access::write)}}), read = make_plan({{arena(4, 12, Access::read)}});
  const std::vector<Event> fine = {submit(write, 1), submit(read, 2), submit(write, 3)};
  expect_fine(check(fine));
  for (size_t i = 0; i < fine.size(); ++i) {
    auto events = fine;
    events[i].removed_barriers = {0};
    if (i == 0)
      expect_fine(check(events));
    else
      expect_caught(check(events), {"no barrier", "submission 1 (step 0)", i == 1 ? "submission 0" : "submission 2"});
  }
}

TEST(Check, HostReadsOnlyWhatItHasWaitedFor) {
  const Plan p = make_plan({{state(0, 16, Access::write)}, {state(32, 48, Access::read)}});
  const auto run = [&](std::vector<Event> events) { return check(events); };
  const Range read = state(8, 12, Access::read), beside = state(16, 32, Access::read);
  expect_fine(run({host(read), submit(p, 1), wait(1), host(read)}));
  expect_fine(run({submit(p, 1), host(beside), host(state(32, 40, Access::read))}));
  expect_caught(run({submit(p, 1), host(read)}),
                {"event 1", "host reads bytes [8, 12) of state 5", "command 0 (node 10)", "ticket 1"});
  expect_caught(run({submit(p, 1), submit(p, 2), wait(1), host(read)}), {"event 3", "submission 1", "ticket 2"});
  expect_fine(run({submit(p, 1), submit(p, 2), wait(2), host(read)}));
  expect_fine(run({submit(p, 1), submit(p, 1), wait(1), host(read)}));  // several replays, one ticket
}

TEST(Check, HostWritesOnlyWhatNothingUsesAnyMore) {
  const Plan p = make_plan({{state(0, 16, Access::write)}, {state(32, 48, Access::read)}});
  const auto run = [&](std::vector<Event> events) { return check(events); };
  for (const Range& r : {state(15, 20, Access::write), state(40, 41, Access::read_write)}) {
    expect_fine(run({host(r), submit(p, 1), wait(1), host(r)}));
    expect_caught(run({submit(p, 1), host(r)}), {"host writes", "no wait for ticket 1"});
  }
  expect_fine(run({submit(p, 1), host(state(16, 32, Access::write))}));
}

// The log: each step writes its own part, and the host reads what earlier steps have written while later ones run.
TEST(Check, FollowsRangesThatMoveWithTheStep) {
  const Plan p = make_plan({{state(0, 16, Access::write, 16)}});
  std::vector<Event> events;
  for (uint64_t step = 0; step < 8; ++step) {
    events.push_back(submit(p, step + 1, step));
    if (step < 2) continue;
    events.push_back(wait(step - 1));
    events.push_back(host(state(0, 16, Access::read, 16), step - 2));
  }
  expect_fine(check(events));
  events.push_back(host(state(0, 16, Access::read, 16), 6));
  expect_caught(check(events), {"[96, 112) of state 5", "step 6", "ticket 7"});
  events.back() = host(state(0, 16, Access::read, 16), 8);
  expect_fine(check(events));  // not written by anyone yet
}

TEST(Check, RefusesWaitsThatNeverEndAndRangesBeyondMemory) {
  const Plan p = make_plan({{state(0, 16, Access::write, uint64_t{1} << 60)}});
  const auto run = [&](std::vector<Event> events) { return check(events); };
  expect_caught(run({wait(1)}), {"ticket 1", "not submitted"});
  expect_caught(run({submit(p, 1), wait(2)}), {"ticket 2", "not submitted"});
  expect_caught(run({submit(p, 2), submit(p, 1)}), {"ticket 1", "after ticket 2"});
  expect_fine(run({submit(p, 1, 3)}));
  expect_caught(run({submit(p, 1, 16)}), {"state 5", "passes the end"});
  expect_caught(run({host(state(0, 16, Access::read, uint64_t{1} << 60), 16)}), {"host", "passes the end"});
  Event nothing;
  expect_caught(run({nothing}), {"without a schedule"});
}

// The event that check() must find, by comparing every pair of accesses.
std::optional<size_t> first_wrong_event(const std::vector<Event>& events) {
  struct Done {
    const Command* command;
    uint64_t step, ticket, submission, epoch;
    uint32_t index;
  };
  std::vector<Done> all;
  uint64_t epoch = 0, waited = 0;
  for (size_t e = 0; e < events.size(); ++e) {
    const Event& event = events[e];
    if (event.kind == Event::Kind::wait) waited = std::max(waited, event.ticket);
    if (event.kind == Event::Kind::host) {
      Command host_access;
      host_access.ranges = {event.host};
      for (const Done& d : all)
        if (d.ticket > waited && clash(host_access, event.step, *d.command, d.step)) return e;
    }
    if (event.kind != Event::Kind::submit) continue;
    for (uint32_t l = 0; l < event.schedule->levels.size(); ++l) {
      if (std::count(event.removed_barriers.begin(), event.removed_barriers.end(), l) == 0) ++epoch;
      for (uint32_t i = event.schedule->levels[l].begin; i < event.schedule->levels[l].end; ++i) {
        const uint32_t index = event.schedule->order[i];
        const Done now{&event.commands[index], event.step, event.ticket, e, epoch, index};
        for (const Done& d : all)
          if (clash(*now.command, now.step, *d.command, d.step) &&
              (d.epoch == epoch || (d.submission == e && d.index > index)))
            return e;
        all.push_back(now);
      }
    }
  }
  return std::nullopt;
}

TEST(Check, AgreesWithEveryPairOnRandomSequences) {
  int wrong = 0, right = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    Random random(seed);
    CommandOptions o = options_for(seed);
    o.most_commands = 8;
    o.bytes = 96;
    std::vector<Plan> plans(3);
    for (Plan& p : plans) {
      p.commands = random_commands(random, o);
      ScheduleOptions options;
      options.segment_cost = static_cast<double>(random.in(1, 300));
      p.schedule = schedule(p.commands, options);
      if (!random.chance(0.1)) continue;
      auto level = level_of(p.schedule);
      level[random.in(0, level.size() - 1)] = static_cast<uint32_t>(random.in(0, 3));
      p.schedule = from_levels(level, {0});
    }
    std::vector<Event> events;
    uint64_t ticket = 0;
    for (uint64_t n = random.in(1, 12); n > 0; --n) {
      if (random.chance(0.5) || ticket == 0) {
        ticket += random.in(ticket == 0 ? 1 : 0, 1);
        events.push_back(submit(plans[random.in(0, 2)], ticket, random.in(0, 3)));
        if (random.chance(0.05)) events.back().removed_barriers.push_back(static_cast<uint32_t>(random.in(0, 2)));
      } else if (random.chance(0.6)) {
        // Waiting covers what is submitted with the ticket by now; the next submission gets another.
        events.push_back(wait(random.in(ticket > 2 ? ticket - 2 : 1, ticket)));
        if (events.back().ticket == ticket) ++ticket, events.push_back(submit(plans[0], ticket));
      } else {
        events.push_back(host(random_range(random, o), random.in(0, 3)));
      }
    }
    const auto expected = first_wrong_event(events);
    const Status s = check(events);
    ASSERT_EQ(s.ok(), !expected.has_value()) << "seed " << seed << ": " << (s.ok() ? "" : s.error().message);
    if (expected) {
      ASSERT_THAT(s.error().message, testing::StartsWith("event " + std::to_string(*expected) + ":")) << seed;
    }
    expected ? ++wrong : ++right;
  }
  EXPECT_GT(wrong, 1000);
  EXPECT_GT(right, 1000);
}

}  // namespace
}  // namespace lapilli::graph
