// Time that passes when a test says so, or when somebody sleeps.
#pragma once

#include "vulkan/device/submit_gap.hpp"

namespace lapilli::testing_support {

// For one thread; must outlive all objects that have its source.
struct FakeTime {
  Clock::time_point now{};
  uint64_t sleeps = 0;
  [[nodiscard]] vulkan::TimeSource source() {
    return {[this] { return now; },
            [this](Clock::duration d) {
              ++sleeps;
              now += d;
            }};
  }
};

}  // namespace lapilli::testing_support
