// How fast a device is, learnt from what it has done: how much goes into a submission that must not take long. The
// first one is the finest segment alone. What took longer than was guessed makes the guesses longer at once, what was
// faster makes them shorter little by little, so that a pause of the device is forgotten and its best moment not relied
// on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "graph/schedule.hpp"
#include "ops/core/work_limit.hpp"
#include "vulkan/device.hpp"

namespace lapilli {

// What is known of how long something took: between these. The same where the device's timestamps say it; the host sees
// an end late, by its polls.
struct TimeBounds {
  double least_us = 0, most_us = 0;
  [[nodiscard]] bool exact() const { return least_us == most_us; }
  // Clocks lie: nothing takes no time, or an hour.
  [[nodiscard]] bool plausible() const;
};

// A segment of a bound plan: what it is estimated to cost, and what it took once it was measured.
struct SegmentTime {
  graph::Cost cost;
  double us = 0;  // 0: never measured
  bool ran = false;
  // Of the time that it took, of what was expected of it.
  void learn(double expected_us, const TimeBounds& took);
};

// A recording of a submission. Null: a copy, which costs next to nothing.
struct TimedSegment {
  SegmentTime* segment = nullptr;
  double expected_us = 0;
};

// What the host sees of submissions that end in order, by its polls.
class SeenTimes {
 public:
  // The one in front is not done.
  void pending() { seen_pending_ = Clock::now(); }
  // It is: it began after it was submitted and the one before it was done, and ended between two looks.
  [[nodiscard]] TimeBounds done(Clock::time_point submitted);

 private:
  // When the one in front was last seen not to be done, and the one before it first seen to be.
  Clock::time_point seen_pending_, seen_pending_before_, seen_done_before_;
};

// Of one device and all who use it. Thread-safe; nothing waits.
class Pace {
 public:
  // The device's own; lives as long as it does.
  static std::shared_ptr<Pace> of(vulkan::Device& device);
  Pace(const Capabilities& caps, double max_submit_us);

  [[nodiscard]] double max_submit_us() const { return max_submit_us_; }
  // Whether anything was measured. Never with the mask small-work, whose submissions stay as small as they begin.
  [[nodiscard]] bool knows() const;
  // What a segment is expected to take: as measured, or a guess that is rather too long.
  [[nodiscard]] double expect_us(const SegmentTime& segment) const;
  // A segment that was expected to take `expected_us`. A CPU driver compiles a kernel when it first runs, and that
  // takes hundreds of times as long as what follows: there the first run of a segment teaches no more than that the
  // device is faster than was guessed.
  void learn(SegmentTime& segment, double expected_us, const TimeBounds& took);
  // A submission that took so long as a whole. `device_us`: each recording by the device's clock, empty where it has
  // none; then the whole is shared out by what was expected.
  void learn(std::span<const TimedSegment> recordings, std::span<const double> device_us, const TimeBounds& whole);

  // Of the dispatches and segments of plans that are made from now on: the finest of the device, or less where a
  // segment alone took too long.
  [[nodiscard]] WorkLimit limit() const;
  struct Counts {
    uint64_t measured = 0;    // segments
    uint64_t too_long = 0;    // of these, that took longer alone than a submission may
    uint64_t limit_cuts = 0;  // how often the limit of later plans became lower
  };
  [[nodiscard]] Counts counts() const;
  struct Rates {
    double bytes_per_us = 0, operations_per_us = 0, command_us = 0;
  };
  [[nodiscard]] Rates rates() const;

 private:
  [[nodiscard]] double guess_us(const graph::Cost& cost) const;
  void learn_no_slower(const graph::Cost& cost, const TimeBounds& took);
  void learn_rates(const graph::Cost& cost, const TimeBounds& took);
  bool cut_limit(const graph::Cost& cost, double took_us);

  const double max_submit_us_;
  const LogLevel cut_is_told_;  // nothing kills what is at work on a CPU, and other programs may have kept it waiting
  const bool compiles_late_;    // when a kernel first runs
  const bool fixed_;            // by a mask
  mutable std::mutex mutex_;
  Rates rates_;
  WorkLimit limit_;
  Counts counts_;
};

}  // namespace lapilli
