#include "search/globals.hpp"

#include <algorithm>

#include "ops/core/state.hpp"

namespace lapilli {

Status check_globals(const model::Config& config, const std::vector<std::vector<int32_t>>& sources,
                     const GlobalPositions& positions) {
  if (positions.empty()) return {};
  if (!config.encoder.global_positions)
    return fail(ErrorCode::unsupported, "global positions: %s models have none", config.family);
  if (positions.size() != sources.size())
    return fail(ErrorCode::invalid_argument, "global positions for %u of %u sources", positions.size(), sources.size());
  for (size_t i = 0; i < positions.size(); ++i)
    for (const uint32_t position : positions[i])
      if (position >= sources[i].size())
        return fail(ErrorCode::invalid_argument, "source %u: global position %u is not within its %u ids", i, position,
                    sources[i].size());
  return {};
}

std::vector<uint32_t> ordered_positions(std::span<const uint32_t> positions) {
  std::vector<uint32_t> list(positions.begin(), positions.end());
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::vector<uint32_t> global_words(const model::Config& config, const GlobalPositions& positions, uint32_t sentences,
                                   uint32_t length) {
  if (config.encoder.windows.empty()) return {};
  const uint64_t stride = config.encoder.globals_stride(length);
  std::vector<uint32_t> words(sentences * stride, 0);
  for (size_t i = 0; i < positions.size(); ++i) {
    const auto list = ordered_positions(positions[i]);
    words[i * stride] = static_cast<uint32_t>(list.size());
    std::copy(list.begin(), list.end(), words.begin() + static_cast<ptrdiff_t>(i * stride + 1));
  }
  return words;
}

}  // namespace lapilli
