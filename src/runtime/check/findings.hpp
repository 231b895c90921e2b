// Results of the self-test on a device, and how they are kept between runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/store.hpp"
#include "runtime/check/kernel_trials.hpp"

namespace lapilli {

struct Findings {
  std::vector<PlannedPipeline> tested;
  std::vector<std::string> unproven;  // tested kernels that no case runs, in words
  std::vector<Disagreement> disagreements;
  // Problem with indirect dispatches of no groups; empty: none; nullopt: not tried.
  std::optional<std::string> no_groups = std::nullopt;
  [[nodiscard]] size_t size() const {
    return tested.size() + unproven.size() + disagreements.size() + (no_groups ? 1 : 0);
  }
};

Blob blob_of(const Findings& findings);
// Empty if the blob is not of this kind. Shader numbers are those of the version that wrote it.
Findings findings_of(const Blob& blob);

}  // namespace lapilli
