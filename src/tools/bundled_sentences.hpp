// The bundled model's sentences, whose ids the reference implementation recorded, on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "vulkan/device.hpp"

namespace lapilli::tools {

struct SentenceReport {
  uint32_t total = 0, equal = 0;
  // Of those that differ, where the two best were not as good as equal: what was read and what came out. The first few.
  std::vector<std::string> wrong;
};
// Greedy and with four beams; the first `most` of them, 0: all. not_found if the model, or the record, is not there.
Result<SentenceReport> run_bundled_sentences(const std::shared_ptr<vulkan::Device>& device, size_t most);

}  // namespace lapilli::tools
