// Kernels on trial on a device: small cases of their ops that run these very kernels, compared with the ops' references
// in double precision.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/run/paced_submitter.hpp"
#include "vulkan/device.hpp"

namespace lapilli {

// What a device computes wrongly. Of the floor nothing is left to fall back to: it is used, with a warning.
struct Disagreement {
  std::string op, variant, problem;
  bool floor = false;
};

// A kernel as a plan uses it.
struct KernelInTest {
  const OpDef* op = nullptr;
  Variant variant;
  bool floor = false;
  PlannedPipeline pipeline;
};
// Of the plans, each once.
std::vector<KernelInTest> kernels_of(std::span<const std::shared_ptr<const Plan>> plans, const Capabilities& caps);

// Those that no small case runs: that their variant is right is known of other numbers and constants alone.
std::vector<KernelInTest> without_case(std::span<const KernelInTest> kernels, const Capabilities& caps);

// May be destroyed while the device is at work.
class KernelTrials {
 public:
  // The kernels' pipelines are there. What is to run is given to the submitter. Does not wait.
  static Result<std::unique_ptr<KernelTrials>> record(const std::shared_ptr<vulkan::Device>& device,
                                                      std::span<const KernelInTest> kernels, PacedSubmitter& submitter);
  ~KernelTrials();
  // When all of it is done.
  Result<std::vector<Disagreement>> compare();
  [[nodiscard]] size_t cases() const;
  [[nodiscard]] bool ran(const PlannedPipeline& kernel) const;

 private:
  KernelTrials();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli
