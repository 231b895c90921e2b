// Leaves the device to others for a while between two submissions: a phone's compositor comes in where work is not
// queued up behind work.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

#include "base/clock.hpp"

namespace lapilli::vulkan {

// What tells the time and waits, for tests; empty: the system's.
struct TimeSource {
  std::function<Clock::time_point()> now;
  std::function<void(Clock::duration)> sleep;
};

// Safe to use from several threads.
class SubmitGap {
 public:
  SubmitGap(uint32_t gap_us, TimeSource time);
  [[nodiscard]] bool any() const { return gap_ > Clock::duration::zero(); }
  // What is left of the gap behind `ticket`, the last one that was submitted and is done: it begins when that is first
  // asked. Nothing before the first ticket.
  Clock::duration left(uint64_t ticket);
  void sleep(Clock::duration time) const { time_.sleep(time); }

 private:
  const Clock::duration gap_;
  const TimeSource time_;
  std::mutex mutex_;
  uint64_t ticket_ = 0;  // that was asked about last
  Clock::time_point seen_;
};

}  // namespace lapilli::vulkan
