// Runs the bundled model's sentences, with ids recorded from the reference implementation, on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::tools {

struct SentenceReport {
  uint32_t total = 0, equal = 0;
  // Input and output of the first few that differ although the two best were not nearly equal.
  std::vector<std::string> wrong;
};
// Runs greedily and with four beams; the first `most` of them, 0: all. not_found if the model or the record is missing.
Result<SentenceReport> run_bundled_sentences(const std::shared_ptr<vulkan::Device>& device, size_t most);

}  // namespace lapilli::tools
