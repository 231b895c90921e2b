// The self-test on a user's device: before a kernel is used there, cases of its op run on it and are compared with the
// op's reference in double precision. A variant that disagrees, or whose pipeline the driver refuses, is not used on
// that device: the op falls back to its next one, ending at the floor. Each kernel (shader and constants) is tested
// once a device.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtime/plan.hpp"
#include "vulkan/device.hpp"

namespace lapilli {

// What a device computes wrongly. Of the floor nothing is left to fall back to: it is used, with a warning.
struct Disagreement {
  std::string op, variant, problem;
  bool floor = false;
};

// Verdicts about one device. Safe to use from several threads: of those that need a kernel one tests it and the others
// wait for its verdict; who needs none that is being tested waits for nobody. No lock is held while the device works or
// the driver compiles.
class SelfTest {
 public:
  // The device's own, made at the first call; lives as long as the device.
  static std::shared_ptr<SelfTest> of(vulkan::Device& device);

  // Makes the pipelines of the plans that are not there yet, in one batch, and tests the kernels that were not tested
  // yet. False: a variant that a plan uses is refused now; compile it anew with the verdicts. After an error they are
  // still untested, for whoever asks next.
  Result<bool> check(const std::shared_ptr<vulkan::Device>& device, std::span<const std::shared_ptr<const Plan>> plans);

  // None of these waits for a test.
  [[nodiscard]] Verdicts verdicts() const;
  [[nodiscard]] std::vector<Disagreement> disagreements() const;
  // Kernels that were looked at, and those that no case of their op runs (shader and constants).
  [[nodiscard]] size_t kernels() const;
  [[nodiscard]] std::vector<std::string> unproven() const;

 private:
  class Claim;  // the kernels that one thread tests
  Status test(const std::shared_ptr<vulkan::Device>& device, std::span<const std::shared_ptr<const Plan>> plans);

  mutable std::mutex mutex_;
  std::condition_variable released_;  // a claim is gone
  std::vector<const Claim*> claims_;  // of the threads that test
  std::vector<PlannedPipeline> tested_;
  Verdicts verdicts_;
  std::vector<Disagreement> disagreements_;
  std::vector<std::string> unproven_;
};

// compile() for a device that is there, with the variants that its self-test left. The pipelines are there afterwards.
// deterministic: see CompileOptions.
Result<std::shared_ptr<const Plan>> compile_tested(const std::shared_ptr<vulkan::Device>& device,
                                                   const graph::Graph& graph, bool deterministic = false);

}  // namespace lapilli
