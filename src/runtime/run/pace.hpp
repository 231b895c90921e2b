// Learns how fast a device is from its work, to decide how much goes into a submission that must stay short. The first
// submission is a single finest segment. Slower work than guessed raises the guesses at once, faster work lowers them
// gradually, so that a pause of the device is forgotten and its best moment is not relied on.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "graph/schedule.hpp"
#include "ops/core/work_limit.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

// Bounds of how long something took. Equal if the device's timestamps give it; the host sees an end late, at its next
// poll.
struct TimeBounds {
  double least_us = 0, most_us = 0;
  [[nodiscard]] bool exact() const { return least_us == most_us; }
  // Clocks are unreliable: nothing takes zero time, or an hour.
  [[nodiscard]] bool plausible() const;
};

// A segment of a bound plan: its estimated cost, and the time it took once measured.
struct SegmentTime {
  graph::Cost cost;
  double us = 0;  // 0: never measured
  bool ran = false;
  // Learns from a run, given its expected time.
  void learn(double expected_us, const TimeBounds& took);
};

// A recording of a submission. Null: a copy, which costs almost nothing.
struct TimedSegment {
  SegmentTime* segment = nullptr;
  double expected_us = 0;
};

// The host's observations, by polling, of submissions that end in order.
class ObservedTimes {
 public:
  // The front submission is not done.
  void pending() { seen_pending_ = Clock::now(); }
  // The front submission is done: it began after it was submitted and its predecessor was done, and ended between two
  // looks.
  [[nodiscard]] TimeBounds done(Clock::time_point submitted);

 private:
  // When the front submission was last seen pending, the same for its predecessor, and when the predecessor was first
  // seen done.
  Clock::time_point seen_pending_, seen_pending_before_, seen_done_before_;
};

// For one device and all its users. Thread-safe; nothing waits.
class Pace {
 public:
  // The device's own; lives as long as it does.
  static std::shared_ptr<Pace> of(vulkan::Device& device);
  Pace(const Capabilities& caps, double max_submit_us);

  [[nodiscard]] double max_submit_us() const { return max_submit_us_; }
  // True if anything was measured. Never with the mask small-work, whose submissions keep their initial size.
  [[nodiscard]] bool knows() const;
  // Expected time of a segment: as measured, or a guess on the long side.
  [[nodiscard]] double expect_us(const SegmentTime& segment) const;
  // A segment that was expected to take `expected_us`. A CPU driver compiles a kernel on its first run, which takes
  // hundreds of times as long as later runs: there the first run of a segment can only show that the device is faster
  // than guessed.
  void learn(SegmentTime& segment, double expected_us, const TimeBounds& took);
  // A whole submission. `device_us`: each recording by the device's clock, empty without one; then the whole time is
  // divided in proportion to the expectations.
  void learn(std::span<const TimedSegment> recordings, std::span<const double> device_us, const TimeBounds& whole);

  // Limit for dispatches and segments of plans made from now on: the finest of the device, or down to a 64th of it
  // after a single segment took too long.
  [[nodiscard]] WorkLimit limit() const;
  struct Counts {
    uint64_t measured = 0;    // segments
    uint64_t too_long = 0;    // of these, segments that alone exceeded a submission's limit
    uint64_t limit_cuts = 0;  // how often the limit of later plans was lowered
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
  const LogLevel cut_level_;  // nothing kills work on a CPU, and other programs may have delayed it
  const bool compiles_late_;  // the driver compiles a kernel on its first run
  const bool fixed_;          // by a mask
  mutable std::mutex mutex_;
  Rates rates_;
  WorkLimit limit_;
  const WorkLimit least_;
  Counts counts_;
};

}  // namespace lapilli
