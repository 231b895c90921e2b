#include "vulkan/device/submit_gap.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace lapilli::vulkan {

namespace {

TimeSource or_the_systems(TimeSource time) {
  if (!time.now) time.now = [] { return Clock::now(); };
  if (!time.sleep) time.sleep = [](Clock::duration d) { std::this_thread::sleep_for(d); };
  return time;
}

}  // namespace

SubmitGap::SubmitGap(uint32_t gap_us, TimeSource time)
    : gap_(std::chrono::microseconds(gap_us)), time_(or_the_systems(std::move(time))) {}

Clock::duration SubmitGap::left(uint64_t ticket) {
  if (ticket == 0) return Clock::duration::zero();
  const auto now = time_.now();
  const std::lock_guard lock(mutex_);
  if (ticket != ticket_) {
    ticket_ = ticket;
    seen_ = now;
  }
  return std::max(Clock::duration::zero(), gap_ - (now - seen_));
}

}  // namespace lapilli::vulkan
