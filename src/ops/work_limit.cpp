#include "ops/work_limit.hpp"

#include <algorithm>

namespace lapilli {
namespace {

// At a rate that is low for the type of device (200 GFLOP/s; 1 TFLOP/s for discrete ones), 50 ms of work. Nothing kills
// work on a CPU, and waits for it are long.
constexpr double kLeast = 1e10, kDiscrete = 5e10, kCpu = 2e11;

double operations_of(DeviceType type) {
  return type == DeviceType::cpu ? kCpu : type == DeviceType::discrete ? kDiscrete : kLeast;
}

}  // namespace

WorkLimit WorkLimit::of(const Capabilities& caps) {
  double operations = operations_of(caps.type);
  for (const auto& mask : caps.masks) {
    if (mask == "floor") operations = std::min(operations, kLeast);
    if (mask == "small-work") operations = std::min(operations, 1e6);
  }
  return WorkLimit(operations);
}

uint64_t WorkLimit::parts(uint64_t count, double cost_each) const {
  const double fit = operations_ / std::max(1.0, cost_each);
  return fit >= static_cast<double>(count) ? count : std::max<uint64_t>(1, static_cast<uint64_t>(fit));
}

}  // namespace lapilli
