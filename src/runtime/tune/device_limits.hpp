// What a device does at most, measured on it: bytes moved and operations in a second. The times of single dispatches
// are held against it.
#pragma once

#include <memory>
#include <string>

#include "runtime/run/profile.hpp"

namespace lapilli {

// `how` says by what it was measured, for people.
struct MeasuredLimit {
  double per_second = 0;
  std::string how;
};
struct DeviceLimits {
  MeasuredLimit bytes;       // read and written, the better of a buffer copy and the copy kernel
  MeasuredLimit operations;  // of the best matmul kernel with square matrices: not what the hardware's data sheet says
  TimedBy by = TimedBy::device;
  uint32_t runs = 0;    // the fastest of so many counts
  double least_us = 0;  // a dispatch that does next to nothing: about so much of every time is no work
};
// Takes some seconds on a CPU driver. Uses up to a sixteenth of the free memory, 256 MiB at most.
Result<DeviceLimits> measure_limits(const std::shared_ptr<vulkan::Device>& device);

}  // namespace lapilli
