#include "runtime/check/kernel_proof.hpp"

#include "runtime/run/bind.hpp"

namespace lapilli {

namespace {

// Tests all kernels at once; on a failure, bisects down to the faulty one.
class Proof {
 public:
  Proof(const std::shared_ptr<vulkan::Device>& device, std::span<const KernelInTest> kernels)
      : device_(device), kernels_(kernels), right_(kernels.size()) {}

  Result<std::vector<bool>> run() {
    LAPILLI_CHECK(prove(0, kernels_.size()));
    return std::move(right_);
  }

 private:
  Status prove(size_t begin, size_t end) {
    if (begin == end) return {};
    LAPILLI_TRY(const bool good, are_right(begin, end));
    if (good || end - begin == 1) return {};
    const size_t middle = begin + (end - begin) / 2;
    LAPILLI_CHECK(prove(begin, middle));
    return prove(middle, end);
  }

  // True if the driver accepts them. Errors that are not the kernels' fault stay errors.
  Result<bool> can_be_made(size_t begin, size_t end) {
    std::vector<PlannedPipeline> pipelines;
    for (size_t i = begin; i < end; ++i) pipelines.push_back(kernels_[i].pipeline);
    auto made = create_pipelines(*device_, pipelines);
    if (made) return true;
    LAPILLI_CHECK(device_->health());
    if (made.error().code == ErrorCode::out_of_memory) return std::move(made).failure();
    return false;
  }

  Result<bool> are_right(size_t begin, size_t end) {
    LAPILLI_TRY(const bool made, can_be_made(begin, end));
    if (!made) return false;
    PacedSubmitter submitter(device_);
    LAPILLI_TRY(const auto trials, KernelTrials::record(device_, kernels_.subspan(begin, end - begin), submitter));
    LAPILLI_CHECK(submitter.submit_all());
    LAPILLI_CHECK(device_->wait(submitter.last()));
    LAPILLI_TRY(const auto wrong, trials->compare());
    for (size_t i = begin; i < end; ++i) right_[i] = wrong.empty() && trials->ran(kernels_[i].pipeline);
    return wrong.empty();
  }

  const std::shared_ptr<vulkan::Device>& device_;
  const std::span<const KernelInTest> kernels_;
  std::vector<bool> right_;
};

}  // namespace

Result<std::vector<bool>> prove_kernels(const std::shared_ptr<vulkan::Device>& device,
                                        std::span<const KernelInTest> kernels) {
  return Proof(device, kernels).run();
}

}  // namespace lapilli
