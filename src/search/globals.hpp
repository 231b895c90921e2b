// Global positions of window attention, from a request to the session.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "model/config.hpp"
#include "runtime/session.hpp"

namespace lapilli {

using GlobalPositions = std::vector<std::vector<uint32_t>>;

// Empty, or one list per source of positions within it, for a model that has windows; the error names the source.
Status check_globals(const model::Config& config, const std::vector<std::vector<int32_t>>& sources,
                     const GlobalPositions& positions);
// Sorted, each once.
std::vector<uint32_t> ordered_positions(std::span<const uint32_t> positions);
// Writes the lists (sorted, each position once) as state for sources of up to `length` ids; nothing if the model has no
// windows.
Status write_globals(const Session& session, const model::Config& config, const GlobalPositions& positions,
                     uint32_t sentences, uint32_t length);

}  // namespace lapilli
