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
#include "runtime/kernel_trials.hpp"
#include "runtime/plan.hpp"
#include "vulkan/device.hpp"

namespace lapilli {

// Verdicts about one device. Safe to use from several threads: of those that need a kernel one tests it, and whoever
// looks first when the device is done says so to all; who needs none that is being tested waits for nobody. No lock is
// held while the device works or the driver compiles.
class SelfTest {
 public:
  // The device's own, made at the first call; lives as long as the device.
  static std::shared_ptr<SelfTest> of(vulkan::Device& device);

  class Examination;
  // The kernels of some plans on their way to verdicts. Of one thread; may be dropped at any time.
  class Run {
   public:
    Run(std::shared_ptr<vulkan::Device> device, std::vector<std::shared_ptr<const Plan>> plans);
    ~Run();
    // Makes the pipelines that are not there yet, in one batch, submits the tests of kernels that were not tested yet,
    // and looks at what was submitted before. True: all have verdicts. False: the device, or another thread, is still
    // at it; poll again. Does not wait. After an error the kernels are still untested, for whoever asks next.
    Result<bool> poll();
    // Waits, bounded, for what poll() was waiting for.
    Status wait();
    // False: a variant that a plan uses is refused; compile it anew with the verdicts.
    [[nodiscard]] bool good() const;

   private:
    std::shared_ptr<Examination> look();
    Status begin(const std::shared_ptr<Examination>& mine);
    Result<bool> conclude(const std::shared_ptr<Examination>& examination);
    std::shared_ptr<vulkan::Device> device_;
    std::shared_ptr<SelfTest> all_;
    std::vector<std::shared_ptr<const Plan>> plans_;
    std::vector<KernelInTest> kernels_;                       // without verdict
    std::vector<std::shared_ptr<Examination>> examinations_;  // of these
  };

  // A run to its end, waiting. False as good().
  Result<bool> check(const std::shared_ptr<vulkan::Device>& device, std::vector<std::shared_ptr<const Plan>> plans);

  // None of these waits for a test.
  [[nodiscard]] Verdicts verdicts() const;
  [[nodiscard]] std::vector<Disagreement> disagreements() const;
  // Kernels that were looked at, and those that no case of their op runs (shader and constants).
  [[nodiscard]] size_t kernels() const;
  [[nodiscard]] std::vector<std::string> unproven() const;

 private:
  [[nodiscard]] bool good(const Capabilities& caps, std::span<const std::shared_ptr<const Plan>> plans) const;
  Status publish(Examination& examination, const Capabilities& caps);
  void forget(Examination& examination);

  mutable std::mutex mutex_;
  std::condition_variable released_;                      // nobody holds an examination any more
  std::vector<std::weak_ptr<Examination>> examinations_;  // that go on, as long as somebody needs them
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
