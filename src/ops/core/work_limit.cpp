#include "ops/core/work_limit.hpp"

#include <algorithm>

namespace lapilli {
namespace {

// 50 ms of work at a rate that is low for the type of device (200 GFLOP/s; 1 TFLOP/s for discrete ones). Nothing kills
// work on a CPU, and waits for it are long.
constexpr double kLeast = 1e10, kDiscrete = 5e10, kCpu = 2e11;

// The finest limits: some milliseconds at 6 GB/s and 60 GFLOP/s, less than one on a discrete device, and enough on a
// CPU driver that cutting costs nothing.
constexpr double kMiB = 1048576;
constexpr WorkLimit kFinestLeast(2e8, 16 * kMiB), kFinestDiscrete(2e9, 64 * kMiB), kFinestCpu(1e10, 1024 * kMiB);

double operations_of(DeviceType type) {
  return type == DeviceType::cpu ? kCpu : type == DeviceType::discrete ? kDiscrete : kLeast;
}

const WorkLimit& finest_of(DeviceType type) {
  return type == DeviceType::cpu ? kFinestCpu : type == DeviceType::discrete ? kFinestDiscrete : kFinestLeast;
}

}  // namespace

WorkLimit WorkLimit::finest(const Capabilities& caps) {
  const bool least = std::find(caps.masks.begin(), caps.masks.end(), "floor") != caps.masks.end();
  const WorkLimit& limit = least ? kFinestLeast : finest_of(caps.type);
  return WorkLimit(std::min(limit.operations(), of(caps).operations()), limit.bytes());
}

WorkLimit WorkLimit::of(const Capabilities& caps) {
  double operations = operations_of(caps.type);
  for (const auto& mask : caps.masks) {
    if (mask == "floor") operations = std::min(operations, kLeast);
    if (mask == "small-work") operations = std::min(operations, 1e6);
  }
  return WorkLimit(operations);
}

uint64_t WorkLimit::parts(uint64_t count, double cost_each, double bytes_each) const {
  const double fit = std::min(operations_ / std::max(1.0, cost_each), bytes_ / std::max(1.0, bytes_each));
  return fit >= static_cast<double>(count) ? count : std::max<uint64_t>(1, static_cast<uint64_t>(fit));
}

}  // namespace lapilli
