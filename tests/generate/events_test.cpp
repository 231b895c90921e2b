// The checker of hazards over what devices are really given: jobs with everything that there is for the host and the
// device to meet at, completions that are learned as late as possible, and what it says where one thing is left out.
#include <gmock/gmock.h>

#include "generate/generate.hpp"
#include "generate/searches.hpp"
#include "search/engine_pool.hpp"
#include "support/real_events.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using graph::Access;
using graph::Event;
using testing::HasSubstr;

constexpr const char* kLog = "step log";
constexpr const char* kArea = "upload area";
constexpr const char* kCache = "self-attention cache";

struct Case {
  const char *name, *mask, *shape;
  uint32_t beams;
  std::vector<uint32_t> lengths;
  bool grows = true;
  uint32_t given = 1;  // ids of the first source; the next ones have more
  uint32_t steps = 2;  // in a submission
};
void PrintTo(const Case& c, std::ostream* os) { *os << c.name; }

// Kinds of events; messages use their names, too.
bool reads_log(const RealEvents& real, const Event& e) {
  return e.kind == Event::Kind::host && e.host.access == Access::read && real.touches(e, kLog);
}
bool writes_area(const RealEvents& real, const Event& e) {
  return e.kind == Event::Kind::host && e.host.access == Access::write && real.touches(e, kArea);
}
bool copies_area(const RealEvents& real, const Event& e) {
  return e.kind == Event::Kind::submit && real.touches(e, kArea);
}
bool steps(const RealEvents& real, const Event& e) { return e.kind == Event::Kind::submit && real.touches(e, kLog); }
// The copy of what sentences have into a session with more room.
bool moves(const RealEvents& real, const Event& e) {
  return e.kind == Event::Kind::submit && e.schedule->levels.size() == 1 && !real.touches(e, "arena") &&
         real.touches(e, kCache);
}

// Submissions that the host does not know to be done, before each event.
std::vector<uint64_t> unknown_before(const std::vector<Event>& events) {
  std::vector<uint64_t> unknown;
  uint64_t submitted = 0, known = 0;
  for (const Event& e : events) {
    unknown.push_back(submitted - known);
    if (e.kind == Event::Kind::submit) submitted = e.ticket;
    if (e.kind == Event::Kind::wait) known = e.ticket;
  }
  return unknown;
}

class Traced {
 public:
  static Result<Traced> make(const Case& c) {
    Traced t;
    LAPILLI_TRY(t.device, counted_device(c.mask));
    t.trace = vulkan::Trace::begin(*t.device);
    const std::string shape = c.shape;
    if (shape.starts_with("data/")) {
      LAPILLI_TRY(t.model, Model::load(t.device, LAPILLI_TEST_DATA "/models/" + shape.substr(5) + "/model"));
    } else {
      LAPILLI_TRY(t.model, Model::random(t.device, shape));
    }
    t.model->engines().narrow_from = 0;  // narrower steps too, however few the rows
    return t;
  }
  // More sources than run at a time with prompt ids of several lengths and room that has to grow, a job that comes
  // while they run, one that comes and is cancelled, and one that comes when all are done, to a session that was used
  // before.
  Status search(const Case& c) const {
    const GenerateRequest other = endless(c, {4, 2, 5}, 12);
    GenerateRequest request = endless(c, c.lengths, 3 * c.given + (c.grows ? 150 : 9));
    const auto start = model->generation_config().decoder_start_token_id.value();
    for (size_t i = 0; i < request.sources.size(); ++i) {
      request.decoder_ids.emplace_back(c.given * (1 + i % 3), static_cast<int32_t>(3 + i));
      request.decoder_ids.back()[0] = start;
    }
    request.batch = div_up<uint32_t>(static_cast<uint32_t>(c.lengths.size()), 2);
    LAPILLI_TRY(const auto first, Search::start(model, request));
    first->pump();
    LAPILLI_TRY(const auto cancelled, Search::start(model, endless(c, {3, 6}, 12)));
    cancelled->pump();
    LAPILLI_TRY(const auto second, Search::start(model, other));
    second->pump();
    cancelled->cancel();
    LAPILLI_CHECK(first->run_to_end());
    LAPILLI_CHECK(second->run_to_end());
    LAPILLI_TRY(const auto last, Search::start(model, other));
    return last->run_to_end();
  }

  std::shared_ptr<vulkan::Device> device;
  std::shared_ptr<vulkan::Trace> trace;
  std::shared_ptr<Model> model;

 private:
  // Sources that say no id twice and do not end before `length` ids.
  static GenerateRequest endless(const Case& c, const std::vector<uint32_t>& lengths, uint32_t length) {
    GenerateRequest r = request_of(lengths, c.beams, 0);
    for (auto& source : r.sources)
      for (int32_t& id : source) id %= 190;  // the smallest vocabulary of the cases
    r.options.no_repeat_ngram_size = 1;
    r.options.eos_token_id = std::vector<int32_t>{};
    r.options.max_length = length;
    r.steps_in_flight = c.steps;
    return r;
  }
};

// Whoever may learn that something is done does so when it waits, and no earlier.
Result<std::vector<vulkan::Trace::Event>> traced_search(const Case& c) {
  counting::hide_progress(true);
  const auto run = [&]() -> Result<std::vector<vulkan::Trace::Event>> {
    LAPILLI_TRY(const Traced t, Traced::make(c));
    LAPILLI_CHECK(t.search(c));
    return t.trace->events();
  };
  auto events = run();
  counting::hide_progress(false);
  return events;
}

class DeviceEvents : public testing::TestWithParam<Case> {};

TEST_P(DeviceEvents, PassTheChecker) {
  const Case& c = GetParam();
  LAPILLI_ASSERT_VALUE(const auto trace, traced_search(c));
  LAPILLI_ASSERT_VALUE(const auto real, RealEvents::of(trace));
  LAPILLI_EXPECT_OK(real.check());
  // It was what it should be: writes and reads beside work in flight, a ring of rows that came round, growth.
  const auto unknown = unknown_before(real.events);
  uint32_t areas_beside = 0, reads_beside = 0, reads = 0, grown = 0;
  std::set<uint64_t> rows;
  std::set<const graph::Schedule*> step_plans;
  for (size_t i = 0; i < real.events.size(); ++i) {
    const Event& e = real.events[i];
    if (writes_area(real, e) && unknown[i] > 0) ++areas_beside;
    if (moves(real, e)) ++grown;
    if (steps(real, e)) step_plans.insert(e.schedule);
    if (!reads_log(real, e)) continue;
    ++reads;
    if (unknown[i] > 0) ++reads_beside;
    rows.insert(e.host.begin);
  }
  EXPECT_GT(areas_beside, 0u);
  EXPECT_GT(reads_beside, 0u);
  EXPECT_GT(reads, 2 * rows.size());
  EXPECT_GT(step_plans.size(), 1u);  // narrower ones too
  EXPECT_EQ(grown > 0, c.grows);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, DeviceEvents,
    testing::Values(
        Case{"plain", "", "tiny,vocabulary=600", 3, {9, 3, 5, 7, 2}},
        Case{"passes_of_given_ids", "", "tiny,vocabulary=600", 1, {9, 3, 5, 7, 2}, true, 60},
        Case{"floor", "floor", "tiny,vocabulary=600", 1, {9, 3, 5, 7, 2, 8}, true, 1, 1},
        Case{"staging", "staging", "tiny,vocabulary=600", 4, {9, 3, 5, 7}, true, 1, 4},
        Case{"small_bindings", "small-bindings", "tiny,vocabulary=5003", 4, {40, 3, 5, 9}, false},
        Case{"parts_of_caches", "small-bindings", "tiny,d=128,heads=1,layers=1,vocabulary=600", 4, {9, 3, 5}},
        Case{"no_indirect", "no-indirect", "tiny,vocabulary=600", 2, {20, 20, 4}, true, 1, 8},
        Case{"small_work", "small-work", "tiny,vocabulary=600", 2, {9, 3, 5}},
        Case{"floor_larger", "floor", "small", 4, {33, 60}, false},
        Case{"t5", "floor", "data/t5-v1_1", 3, {30, 4}, false},
        Case{"umt5", "small-bindings", "data/umt5", 1, {12, 3}, false},
        Case{"led", "floor", "data/led", 2, {40, 9, 3}, false}),
    [](const auto& i) { return i.param.name; });

// ---- what is left out is found --------------------------------------------------------------------------------------

class DeviceEventsEdited : public testing::Test {
 protected:
  // One search for all of them.
  static void SetUpTestSuite() {
    const Case c{"", "", "tiny,vocabulary=600", 3, {9, 3, 5, 7, 2}};
    LAPILLI_ASSERT_VALUE(trace_, traced_search(c));
    LAPILLI_ASSERT_VALUE(auto real, RealEvents::of(trace_));
    real_ = std::make_unique<RealEvents>(std::move(real));
  }
  static void TearDownTestSuite() {
    trace_ = {};
    real_.reset();
  }
  void SetUp() override {
    ASSERT_TRUE(real_);
    LAPILLI_ASSERT_OK(real_->check());
  }
  static void expect_found(const std::vector<Event>& edited, const char* what, size_t of) {
    const Status s = real_->check(edited);
    ASSERT_FALSE(s.ok()) << "event " << of;
    EXPECT_THAT(s.error().message, HasSubstr(what)) << "event " << of;
  }
  static std::vector<vulkan::Trace::Event> trace_;
  static std::unique_ptr<RealEvents> real_;
};
std::vector<vulkan::Trace::Event> DeviceEventsEdited::trace_;
std::unique_ptr<RealEvents> DeviceEventsEdited::real_;

// Without any one of the waits that a look at the log comes behind.
TEST_F(DeviceEventsEdited, ReadsOfTheLogBeforeTheirStepIsDone) {
  uint32_t removed = 0;
  for (size_t i = 0; i + 1 < real_->events.size(); ++i) {
    if (real_->events[i].kind != Event::Kind::wait || !reads_log(*real_, real_->events[i + 1])) continue;
    auto events = real_->events;
    events.erase(events.begin() + static_cast<ptrdiff_t>(i));
    expect_found(events, "no wait for ticket", i);
    ++removed;
  }
  EXPECT_GT(removed, 20u);
}

// Steps that are in flight write over rows that were not read.
TEST_F(DeviceEventsEdited, ALogOfHalfTheRows) {
  LAPILLI_ASSERT_VALUE(const auto half, RealEvents::of(trace_, 2));
  const Status s = half.check();
  ASSERT_FALSE(s.ok());
  EXPECT_THAT(s.error().message, HasSubstr("no wait for ticket"));
  EXPECT_THAT(s.error().message, HasSubstr(kLog));
}

// An area is written again as soon as its copy is submitted.
TEST_F(DeviceEventsEdited, UploadAreasThatAreWrittenInFlight) {
  uint32_t moved = 0;
  for (size_t i = 0; i < real_->events.size(); ++i) {
    if (!writes_area(*real_, real_->events[i])) continue;
    const auto same = [&](const Event& e) {
      return copies_area(*real_, e) && e.commands[0].ranges[0].begin >= real_->events[i].host.begin &&
             e.commands[0].ranges[0].begin < real_->events[i].host.end;
    };
    size_t copy = i;
    while (copy > 0 && !same(real_->events[copy])) --copy;
    if (!same(real_->events[copy])) continue;
    auto events = real_->events;
    const auto at = events.begin() + static_cast<ptrdiff_t>(copy) + 1;
    std::rotate(at, events.begin() + static_cast<ptrdiff_t>(i), events.begin() + static_cast<ptrdiff_t>(i) + 1);
    expect_found(events, "no wait for ticket", i);
    ++moved;
  }
  EXPECT_GE(moved, 4u);
}

// Leaves out, for every submitted recording, each barrier between its levels, and the opening one where the recording
// uses data of the one before it: a step, and recordings after an upload.
TEST_F(DeviceEventsEdited, BarriersThatAreLeftOut) {
  const auto& events = real_->events;
  const auto needs_opening = [&](size_t i) {
    if (steps(*real_, events[i])) return true;
    return i > 0 && copies_area(*real_, events[i - 1]) && !copies_area(*real_, events[i]) && !moves(*real_, events[i]);
  };
  std::set<const graph::Schedule*> seen;
  uint32_t inner = 0, opening = 0;
  for (size_t i = events.size(); i-- > 0;) {
    if (events[i].kind != Event::Kind::submit || !seen.insert(events[i].schedule).second) continue;
    if (real_->touches(events[i], "self-test")) continue;  // which puts a barrier behind each of its dispatches
    std::vector<Event> edited(events.begin(), events.begin() + static_cast<ptrdiff_t>(i) + 1);
    for (uint32_t level = needs_opening(i) ? 0 : 1; level < events[i].schedule->levels.size(); ++level) {
      edited.back().removed_barriers = {level};
      SCOPED_TRACE(format("level %u of %s", level, testing::PrintToString(real_->buffers(events[i])).c_str()));
      expect_found(edited, "no barrier stands between them", i);
      ++(level == 0 ? opening : inner);
    }
  }
  EXPECT_GT(opening, 4u);
  EXPECT_GT(inner, 150u);  // each recording has one step
}

// A session grows by recordings that do not touch what the one before them does, but the one before that: without the
// barriers that open two of them the copy reads what steps still write, "start" runs before its grids are there, or the
// first step before the copy is complete.
TEST_F(DeviceEventsEdited, AGrownSessionWithoutItsBarriers) {
  std::vector<size_t> submits;
  for (size_t i = 0; i < real_->events.size(); ++i)
    if (real_->events[i].kind == Event::Kind::submit) submits.push_back(i);
  uint32_t grown = 0;
  for (size_t i = 1; i + 2 < submits.size(); ++i) {
    if (!moves(*real_, real_->events[submits[i]])) continue;
    ++grown;
    for (size_t first = i - 1; first < i + 2; ++first) {
      auto edited = real_->events;
      for (const size_t n : {first, first + 1}) edited[submits[n]].removed_barriers = {0};
      expect_found(edited, "no barrier stands between them", submits[first]);
    }
  }
  EXPECT_GT(grown, 0u);
}

}  // namespace
}  // namespace lapilli
