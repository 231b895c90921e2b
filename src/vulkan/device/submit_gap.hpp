// Leaves the device to others for a while between submissions: a phone's compositor gets in only if no work is queued
// behind other work.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

#include "base/clock.hpp"

namespace lapilli::vulkan {

// Clock and sleep function, for tests; empty: the system's.
struct TimeSource {
  std::function<Clock::time_point()> now;
  std::function<void(Clock::duration)> sleep;
};

// Safe to use from several threads.
class SubmitGap {
 public:
  SubmitGap(uint32_t gap_us, TimeSource time);
  [[nodiscard]] bool any() const { return gap_ > Clock::duration::zero(); }
  // Rest of the gap after `ticket`, the last one submitted, which must be done: the gap begins at the first call for
  // it. Zero before the first ticket.
  Clock::duration left(uint64_t ticket);
  void sleep(Clock::duration time) const { time_.sleep(time); }

 private:
  const Clock::duration gap_;
  const TimeSource time_;
  std::mutex mutex_;
  uint64_t ticket_ = 0;  // that was last asked about
  Clock::time_point seen_;
};

}  // namespace lapilli::vulkan
