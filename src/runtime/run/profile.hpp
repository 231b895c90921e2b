// Times each dispatch of a plan when it has the device to itself: the plan runs with a barrier and a timestamp between
// any two dispatches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/run/bind.hpp"

namespace lapilli {

// The device's timestamps, or without them the host's clock around submission and wait.
enum class TimedBy : uint8_t { device, host };

double median(std::vector<double> values);  // of at least one value; the larger of two middle values

// A plan bound so that each dispatch is timed separately.
class DispatchTimer {
 public:
  static Result<DispatchTimer> make(const std::shared_ptr<vulkan::Device>& device, const Plan& plan,
                                    const MemoryMap& memory);
  [[nodiscard]] TimedBy by() const { return by_; }
  // Runs the plan once; microseconds per dispatch. Nothing of it may be in flight.
  Result<std::vector<double>> run();

 private:
  DispatchTimer(std::shared_ptr<vulkan::Device> device, BoundPlan bound, TimedBy by)
      : device_(std::move(device)), bound_(std::move(bound)), by_(by) {}
  std::shared_ptr<vulkan::Device> device_;
  BoundPlan bound_;
  TimedBy by_;
};

struct PlanTimes {
  TimedBy by = TimedBy::device;
  std::vector<double> us;  // by the plan's dispatches
};
struct ProfileOptions {
  uint32_t runs = 5;  // of the whole plan, after a warm-up run
  // The run that counts: the median, or, for a device's limits, the fastest.
  enum class Take : uint8_t { median, best } take = Take::median;
};
// Runs the plan `runs` + 1 times, which the state that it works on must allow. Nothing of it may be in flight.
Result<PlanTimes> profile(const std::shared_ptr<vulkan::Device>& device, const Plan& plan, const MemoryMap& memory,
                          const ProfileOptions& options = {});

// Microseconds between the timestamps of a recording, or a single value by the host's clock if it has none.
Result<std::vector<double>> time_recording(vulkan::Device& device, const vulkan::CommandRecording& recording,
                                           const ProfileOptions& options = {});

}  // namespace lapilli
