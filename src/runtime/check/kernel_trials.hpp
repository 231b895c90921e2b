// Trials of kernels on a device: small cases of their ops that run exactly these kernels, compared with the ops'
// references in double precision.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/run/paced_submitter.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

// A wrong result of a device. The floor has no fallback: it is used, with a warning.
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
// The kernels of the plans, without duplicates.
std::vector<KernelInTest> kernels_of(std::span<const std::shared_ptr<const Plan>> plans, const Capabilities& caps);

// Kernels that no small case runs: their variants were tested only with other numbers and constants.
std::vector<KernelInTest> without_case(std::span<const KernelInTest> kernels, const Capabilities& caps);

// May be destroyed while the device is working.
class KernelTrials {
 public:
  // Requires the kernels' pipelines. Gives the work to the submitter and does not wait.
  static Result<std::unique_ptr<KernelTrials>> record(const std::shared_ptr<vulkan::Device>& device,
                                                      std::span<const KernelInTest> kernels, PacedSubmitter& submitter);
  ~KernelTrials();
  // Call when all of it is done.
  Result<std::vector<Disagreement>> compare();
  [[nodiscard]] size_t cases() const;
  [[nodiscard]] bool ran(const PlannedPipeline& kernel) const;

 private:
  KernelTrials();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli
