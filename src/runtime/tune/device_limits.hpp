// A device's measured limits: bytes moved and operations per second. Times of single dispatches are compared with them.
#pragma once

#include <memory>
#include <string>

#include "runtime/run/profile.hpp"

namespace lapilli {

// `how` describes the measurement, for people.
struct MeasuredLimit {
  double per_second = 0;
  std::string how;
};
struct DeviceLimits {
  MeasuredLimit bytes;       // read and written, the better of a buffer copy and the copy kernel
  MeasuredLimit operations;  // of the best matmul kernel with square matrices, not the hardware's data sheet
  TimedBy by = TimedBy::device;
  uint32_t runs = 0;    // the fastest of this many counts
  double least_us = 0;  // an almost empty dispatch: the overhead contained in every time
};
// Takes some seconds on a CPU driver. Uses up to a sixteenth of the free memory, 256 MiB at most.
Result<DeviceLimits> measure_limits(const std::shared_ptr<vulkan::Device>& device);

}  // namespace lapilli
