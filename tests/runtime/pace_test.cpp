// Learning a device's pace: from devices whose kernels have rates of their own, and from clocks that lie.
#include "runtime/run/pace.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "vulkan/device/submission_timer.hpp"

namespace lapilli {
namespace {

constexpr double kMaxUs = 16'000;

Capabilities phone(const char* mask = nullptr) {
  Capabilities caps;
  caps.type = DeviceType::integrated;
  if (mask) caps.masks.emplace_back(mask);
  return caps;
}

SegmentTime weights_of(double mib) { return {{1e6, mib * 1048576, 1}, 0}; }

TEST(Pace, KnowsNothingBeforeTheFirstMeasurement) {
  Pace pace(phone(), kMaxUs);
  EXPECT_FALSE(pace.knows());
  SegmentTime segment = weights_of(16);
  const double guess = pace.expect_us(segment);
  EXPECT_GT(guess, 1000);  // rather too long
  pace.learn(segment, guess, {2000, 2000});
  EXPECT_TRUE(pace.knows());
  EXPECT_EQ(pace.expect_us(segment), 2000);
}

// The rates fit what was measured, and what was never measured is taken for slower.
TEST(Pace, GuessesByWhatOthersTook) {
  Pace pace(phone(), kMaxUs);
  for (int i = 0; i < 3; ++i) {
    SegmentTime segment = weights_of(16);
    pace.learn(segment, pace.expect_us(segment), {1000, 1000});
  }
  // Another kernel may be ten times as slow.
  const double guess = pace.expect_us(weights_of(16));
  EXPECT_NEAR(guess, 10'000, 100);
  EXPECT_NEAR(pace.expect_us(weights_of(32)) / guess, 2, 0.1);
}

TEST(Pace, AWrongGuessShrinksAtOnceAndGrowsLittleByLittle) {
  Pace pace(phone(), kMaxUs);
  SegmentTime segment = weights_of(16);
  pace.learn(segment, pace.expect_us(segment), {1000, 1000});
  const double before = pace.expect_us(weights_of(16));
  pace.learn(segment, 1000, {5000, 5000});
  EXPECT_EQ(pace.expect_us(segment), 5000);
  EXPECT_NEAR(pace.expect_us(weights_of(16)) / before, 5, 0.3);
  pace.learn(segment, 5000, {1000, 1000});
  EXPECT_LT(pace.expect_us(segment), 5000);
  EXPECT_GT(pace.expect_us(segment), 4900);
  // A pause of the device is forgotten.
  for (int i = 0; i < 1000; ++i) pace.learn(segment, segment.us, {1000, 1000});
  EXPECT_LT(pace.expect_us(segment), 1010);
}

// The host sees an end late: what may have been as expected teaches nothing.
TEST(Pace, BoundsThatHoldWhatWasExpectedChangeNothing) {
  Pace pace(phone(), kMaxUs);
  SegmentTime segment = weights_of(16);
  pace.learn(segment, pace.expect_us(segment), {1000, 1000});
  pace.learn(segment, 1000, {0, 16'667});
  EXPECT_EQ(pace.expect_us(segment), 1000);
  pace.learn(segment, 1000, {3000, 16'667});
  EXPECT_EQ(pace.expect_us(segment), 3000);
  SegmentTime other = weights_of(16);
  pace.learn(other, 700, {0, 300});
  EXPECT_EQ(pace.expect_us(other), 300);
}

TEST(Pace, ClocksThatLieTeachNothing) {
  Pace pace(phone(), kMaxUs);
  SegmentTime segment = weights_of(16);
  const double infinite = std::numeric_limits<double>::infinity();
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const TimeBounds& lie : {TimeBounds{0, 0}, TimeBounds{-1, 5}, TimeBounds{5, 1}, TimeBounds{none, none},
                                TimeBounds{0, infinite}, TimeBounds{4e9, 4e9}}) {
    pace.learn(segment, 1000, lie);
    EXPECT_FALSE(pace.knows());
    EXPECT_EQ(segment.us, 0);
  }
  EXPECT_EQ(pace.counts().measured, 0u);
}

TEST(Pace, TimestampsWrap) {
  EXPECT_EQ(vulkan::microseconds_between(100, 1100, 64, 1), 1);
  EXPECT_EQ(vulkan::microseconds_between(0xffffff00, 0x100, 32, 1000), 512);
  EXPECT_EQ(vulkan::microseconds_between(~uint64_t{0} - 99, 900, 64, 1), 1);
  // Bits that do not count may hold anything.
  EXPECT_EQ(vulkan::microseconds_between(0xff'0000'0000'0005, 0x10'0000'0000'07d5, 36, 1), 2);
}

// Segments of kernels that are up to ten times as slow as others, put together by what is expected of them: never much
// longer than a submission may take, from the first one on, and no shorter than it need be in the end.
TEST(Pace, SubmissionsOfUnlikeKernelsStayWithinTheirTime) {
  const double factors[] = {1, 0.3, 3, 0.5, 2, 1.5, 0.4, 2.5};
  for (const double gb_per_s : {6., 20., 300.}) {
    Pace pace(phone(), kMaxUs);
    std::vector<SegmentTime> segments(120, weights_of(8));
    const auto takes = [&](size_t i) { return segments[i].cost.bytes / (gb_per_s * 1e3) * factors[i % 8]; };
    size_t next = 0;
    double last = 0;
    for (int submission = 0; submission < 400; ++submission) {
      double expected = 0, took = 0;
      std::vector<size_t> taken;
      while (taken.empty() || (pace.knows() && expected + pace.expect_us(segments[next]) <= kMaxUs)) {
        expected += pace.expect_us(segments[next]);
        took += takes(next);
        taken.push_back(next);
        next = (next + 1) % segments.size();
        if (taken.size() == vulkan::kMostTimedRecordings) break;
      }
      EXPECT_LE(took, submission < 10 ? 2 * kMaxUs : 1.25 * kMaxUs) << gb_per_s << " GB/s, submission " << submission;
      for (const size_t i : taken) pace.learn(segments[i], pace.expect_us(segments[i]), {takes(i), takes(i)});
      last = took;
    }
    if (gb_per_s < 100) {
      EXPECT_GT(last, 0.5 * kMaxUs) << gb_per_s << " GB/s";
    }
    EXPECT_EQ(pace.counts().too_long, 0u);
  }
}

// A segment that alone takes longer is cut finer in later plans; the same one, seen again, is not cut for ever.
TEST(Pace, WhatIsTooLongAloneIsCutFiner) {
  Pace pace(phone(), kMaxUs);
  const WorkLimit before = pace.limit();
  EXPECT_EQ(before, WorkLimit::finest(phone()));
  SegmentTime segment = weights_of(16);
  for (int i = 0; i < 5; ++i) pace.learn(segment, pace.expect_us(segment), {64'000, 64'000});
  EXPECT_EQ(pace.counts().too_long, 5u);
  EXPECT_EQ(pace.counts().limit_cuts, 1u);
  EXPECT_LE(pace.limit().bytes() * 64 / 16 / 1048576, kMaxUs / 1000);
  for (int i = 0; i < 5; ++i) pace.learn(segment, pace.expect_us(segment), {1e9, 1e9});
  EXPECT_GT(pace.limit().bytes(), 0);
  EXPECT_GT(pace.limit().operations(), 0);
}

// Others may keep a device busy for minutes: later plans have a bounded number of parts all the same.
TEST(Pace, ADeviceThatStandsStillIsNotCutForEver) {
  Capabilities cpu = phone();
  cpu.type = DeviceType::cpu;
  Pace pace(cpu, kMaxUs);
  const WorkLimit first = pace.limit();
  for (int i = 0; i < 20; ++i) {
    SegmentTime slow{{pace.limit().operations(), pace.limit().bytes(), 1}, 1, true};
    pace.learn(slow, 1, {60e6, 60e6});
  }
  EXPECT_GT(pace.counts().limit_cuts, 0u);
  EXPECT_EQ(pace.limit().operations(), first.operations() / 64);
  EXPECT_EQ(pace.limit().bytes(), first.bytes() / 64);
}

// Work that no limit would cut does not change limits: copies, and tiny work that was slow once.
TEST(Pace, WhatCannotBeCutCutsNothing) {
  Pace pace(phone(), kMaxUs);
  for (const graph::Cost& cost : {graph::Cost{0, 64e6, 1}, graph::Cost{1000, 1000, 1}}) {
    SegmentTime segment{cost, 0};
    pace.learn(segment, pace.expect_us(segment), {64'000, 64'000});
  }
  EXPECT_EQ(pace.counts().too_long, 2u);
  EXPECT_EQ(pace.counts().limit_cuts, 0u);
  EXPECT_EQ(pace.limit(), WorkLimit::finest(phone()));
}

// A submission as a whole is shared out by what was expected; the device's own clock says it of each.
TEST(Pace, AWholeSubmissionIsSharedOut) {
  Pace pace(phone(), kMaxUs);
  SegmentTime first = weights_of(16), second = weights_of(16);
  const TimedSegment timed[] = {{&first, 1000}, {nullptr, 0}, {&second, 3000}};
  pace.learn(timed, {}, {8000, 8000});
  EXPECT_EQ(first.us, 2000);
  EXPECT_EQ(second.us, 6000);
  SegmentTime third = weights_of(16);
  const TimedSegment alone[] = {{&third, 1000}};
  const double told[] = {500};
  pace.learn(alone, told, {8000, 8000});
  EXPECT_EQ(third.us, 500);
}

// Its submissions stay as small as they begin.
// A CPU driver compiles a kernel when it first runs: neither what the segment takes nor how fine later work is cut may
// go by that.
TEST(Pace, OfACpuDriverTheFirstRunTeachesNothingThatIsSlow) {
  Capabilities cpu = phone();
  cpu.type = DeviceType::cpu;
  Pace pace(cpu, kMaxUs);
  const WorkLimit limit = pace.limit();
  SegmentTime segment = weights_of(16);
  const double guess = pace.expect_us(segment);
  pace.learn(segment, guess, {900'000, 1'400'000});
  EXPECT_FALSE(pace.knows());
  EXPECT_EQ(pace.expect_us(segment), guess);
  EXPECT_EQ(pace.limit(), limit);
  pace.learn(segment, guess, {2000, 2000});
  EXPECT_TRUE(pace.knows());
  EXPECT_EQ(pace.expect_us(segment), 2000);
  EXPECT_EQ(pace.counts().too_long, 0u);
  pace.learn(segment, 2000, {2 * kMaxUs, 2 * kMaxUs});
  EXPECT_EQ(pace.counts().too_long, 1u);
}

TEST(Pace, OfACpuDriverAFastFirstRunSpeedsGuesses) {
  Capabilities cpu = phone();
  cpu.type = DeviceType::cpu;
  Pace pace(cpu, kMaxUs);
  SegmentTime once = weights_of(16);
  const double guess = pace.expect_us(once);
  pace.learn(once, guess, {100, 100});
  EXPECT_TRUE(pace.knows());
  EXPECT_LT(pace.expect_us(weights_of(16)), guess / 2);
}

TEST(Pace, ByTheMaskOfSmallWorkNothingGrows) {
  Pace pace(phone("small-work"), kMaxUs);
  SegmentTime segment = weights_of(1);
  pace.learn(segment, pace.expect_us(segment), {10, 10});
  EXPECT_FALSE(pace.knows());
}

}  // namespace
}  // namespace lapilli
