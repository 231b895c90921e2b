// The plans of a search in the middle of its work, for the tuner.
#pragma once

#include "runtime/tune/tuner.hpp"
#include "tools/profile_session.hpp"

namespace lapilli::tools {

class SearchTuning : public TuningBench {
 public:
  enum class Part : uint8_t { encode, step };
  static constexpr unsigned kSteps = 48;  // between restarts of the search

  // The search was made for kSteps and outlives it.
  SearchTuning(std::shared_ptr<vulkan::Device> device, MiddleOfSearch& search, Part part);
  [[nodiscard]] TuningSubject subject(bool deterministic) const;
  [[nodiscard]] unsigned rows() const;

  Result<std::vector<bool>> prove(std::span<const KernelInTest> kernels) override;
  Result<std::unique_ptr<TimedPlan>> bind(std::shared_ptr<const Plan> plan) override;
  Result<bool> agree(const std::shared_ptr<const Plan>& plan, const std::shared_ptr<const Plan>& standing) override;
  // Call before each run: a step needs a free position.
  Status make_room();

 private:
  [[nodiscard]] const Plan& plan() const;
  [[nodiscard]] MemoryMap memory() const;
  Result<std::vector<uint32_t>> values_of(const std::shared_ptr<const Plan>& plan);
  std::shared_ptr<vulkan::Device> device_;
  MiddleOfSearch& search_;
  const Part part_;
  const Verdicts verdicts_;
  unsigned steps_ = 0;  // since the middle of the search
};

}  // namespace lapilli::tools
