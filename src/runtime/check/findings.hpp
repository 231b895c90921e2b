// What the self-test found on a device, and how it is kept between runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/store.hpp"
#include "runtime/check/kernel_trials.hpp"

namespace lapilli {

struct Findings {
  std::vector<PlannedPipeline> tested;
  std::vector<std::string> unproven;  // of these, in words: no case runs them
  std::vector<Disagreement> disagreements;
  // What is wrong with indirect dispatches of no groups, empty: nothing; none: it was not tried.
  std::optional<std::string> no_groups = std::nullopt;
  [[nodiscard]] size_t size() const {
    return tested.size() + unproven.size() + disagreements.size() + (no_groups ? 1 : 0);
  }
};

Blob blob_of(const Findings& findings);
// None if it is no such blob. Numbers of shaders mean those of the version that wrote it.
Findings findings_of(const Blob& blob);

}  // namespace lapilli
