// The self-test on a user's device: before a kernel is used there, cases of its op run on it and are compared with the
// op's reference in double precision. A variant that disagrees, or whose pipeline the driver refuses, is not used on
// that device: the op falls back to its next one, ending at the floor. Each kernel (shader and constants) is tested
// once per device, and once per driver where verdicts are kept between runs (vulkan/caps/persistent_cache.hpp). Along
// with the first kernels, it tests whether an indirect dispatch of no groups does nothing; if not, the device goes
// without them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtime/check/findings.hpp"
#include "runtime/check/indirect_probe.hpp"
#include "runtime/check/kernel_trials.hpp"
#include "runtime/plan/plan.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

// Verdicts about one device. Safe to use from several threads: one of the threads that need a kernel tests it, and the
// first to look when the device is done publishes the result; a thread that needs no kernel under test does not wait.
// No lock is held while the device works or the driver compiles.
class SelfTest {
 public:
  // The device's own, made at the first call; lives as long as the device.
  static std::shared_ptr<SelfTest> of(vulkan::Device& device);

  class Examination;
  // The kernels of some plans on their way to verdicts. Used by one thread; may be dropped at any time.
  class Run {
   public:
    Run(std::shared_ptr<vulkan::Device> device, std::vector<std::shared_ptr<const Plan>> plans);
    ~Run();
    // Makes the pipelines of untested kernels in one batch, submits their tests, and looks at earlier submissions.
    // True: all have verdicts. False: the device, or another thread, is still at it; poll again. Does not wait. After
    // an error the kernels are still untested, and the next run may test them.
    Result<bool> poll();
    // Waits, bounded, for what the last poll() was waiting for.
    Status wait();
    // The device's outstanding work for that; none if it is not submitted yet, or if another thread handles it.
    [[nodiscard]] std::optional<vulkan::Ticket> ticket() const;
    // False: a variant that a plan uses is refused; compile it anew with the verdicts.
    [[nodiscard]] bool good() const;

   private:
    std::shared_ptr<Examination> look();
    Status begin(const std::shared_ptr<Examination>& mine);
    Result<bool> conclude(const std::shared_ptr<Examination>& examination);
    std::shared_ptr<vulkan::Device> device_;
    std::shared_ptr<SelfTest> all_;
    std::vector<std::shared_ptr<const Plan>> plans_;
    std::vector<KernelInTest> kernels_;                       // without a verdict
    bool waits_for_probe_ = false;                            // indirect dispatch has no verdict yet
    std::vector<std::shared_ptr<Examination>> examinations_;  // of these kernels
  };

  // Runs to the end, waiting. False as in good().
  Result<bool> check(const std::shared_ptr<vulkan::Device>& device, std::vector<std::shared_ptr<const Plan>> plans);

  // Stores findings for the next run, if there are new ones.
  void keep(vulkan::PersistentCache& cache);

  // None of these waits for a test.
  [[nodiscard]] Verdicts verdicts() const;
  // The subset of these kernels that was tested.
  [[nodiscard]] std::vector<PlannedPipeline> tested(std::span<const PlannedPipeline> kernels) const;
  [[nodiscard]] std::vector<Disagreement> disagreements() const;
  // Kernels that were tested, and those that no case of their op runs (shader and constants).
  [[nodiscard]] size_t kernels() const;
  [[nodiscard]] std::vector<std::string> unproven() const;
  // Problem with indirect dispatches of no groups; empty: none; nullopt: not tried.
  [[nodiscard]] std::optional<std::string> no_groups() const;
  // Cases run on the device.
  [[nodiscard]] uint64_t cases() const { return cases_; }

 private:
  void recall(vulkan::Device& device, vulkan::PersistentCache& cache);
  void warn_of_recalled(const Capabilities& caps);
  [[nodiscard]] bool wants_probe(const Capabilities& caps) const;
  [[nodiscard]] bool good(const Capabilities& caps, std::span<const std::shared_ptr<const Plan>> plans) const;
  Status publish(Examination& examination, vulkan::Device& device);
  void publish_no_groups(const std::string& problem, vulkan::Device& device);
  void forget(Examination& examination);

  mutable std::mutex mutex_;
  std::condition_variable released_;                      // an examination is no longer held
  std::vector<std::weak_ptr<Examination>> examinations_;  // in progress, as long as a run needs them
  Findings found_;                                        // all findings
  Verdicts verdicts_;
  std::vector<Disagreement> recalled_;  // from an earlier run, not reported yet
  bool recalled_no_groups_ = false;     // likewise
  size_t kept_ = 0;                     // findings that the next run will find
  std::atomic<uint64_t> cases_{0};
};

// Keeps what the device's next run can use: verdicts, expected pipelines, and compiled pipelines. Writes, so do not
// call it while a frame waits.
void keep_between_runs(vulkan::Device& device);
// compile_tested() without waiting.
class TestedCompilation {
 public:
  // The graph must outlive it.
  TestedCompilation(std::shared_ptr<vulkan::Device> device, const graph::Graph& graph, bool deterministic = false);
  // The plan; null while its kernels are still on trial. Does not wait for the device.
  Result<std::shared_ptr<const Plan>> poll();
  // Waits, bounded, for what the last poll() was waiting for.
  Status wait() { return run_ ? run_->wait() : Status(); }

 private:
  Status begin();
  std::shared_ptr<vulkan::Device> device_;
  const graph::Graph& graph_;
  bool deterministic_;
  std::shared_ptr<const Plan> plan_;
  std::optional<SelfTest::Run> run_;
};

// compile() for an existing device, with the variants that its self-test left. Afterwards the pipelines of kernels
// tested in this run exist; those that an earlier run proved are made when a plan is bound. deterministic: see
// CompileOptions.
Result<std::shared_ptr<const Plan>> compile_tested(const std::shared_ptr<vulkan::Device>& device,
                                                   const graph::Graph& graph, bool deterministic = false);

}  // namespace lapilli
