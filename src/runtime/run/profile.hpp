// How long each dispatch of a plan takes when it has the device for itself: the plan is run with a barrier and a
// timestamp between any two dispatches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/run/bind.hpp"

namespace lapilli {

// By the device's timestamps; where it has none, by the host's clock around submission and wait.
enum class TimedBy : uint8_t { device, host };

double median(std::vector<double> values);  // of at least one; of two in the middle the larger

// A plan bound so that each dispatch is timed by itself.
class DispatchTimer {
 public:
  static Result<DispatchTimer> make(const std::shared_ptr<vulkan::Device>& device, const Plan& plan,
                                    const MemoryMap& memory);
  [[nodiscard]] TimedBy by() const { return by_; }
  // Runs it once: microseconds by its dispatches. Nothing of it may be in flight.
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
  uint32_t runs = 5;  // of the whole plan, after one to warm up
  // Which of the runs counts: the one in the middle, or, for what a device does at most, the fastest.
  enum class Take : uint8_t { median, best } take = Take::median;
};
// Runs the plan `runs` + 1 times, as often as the state that it works on must allow. Nothing of it may be in flight.
Result<PlanTimes> profile(const std::shared_ptr<vulkan::Device>& device, const Plan& plan, const MemoryMap& memory,
                          const ProfileOptions& options = {});

// Microseconds between the timestamps of a recording; one figure, the host's, if it has none.
Result<std::vector<double>> time_recording(vulkan::Device& device, const vulkan::CommandRecording& recording,
                                           const ProfileOptions& options = {});

}  // namespace lapilli
