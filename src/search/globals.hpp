// Global positions of window attention: from a request to words of a state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "model/config.hpp"

namespace lapilli {

using GlobalPositions = std::vector<std::vector<uint32_t>>;

// Expects none, or for models with global positions one list per source of positions within it; the error names the
// source.
Status check_globals(const model::Config& config, const std::vector<std::vector<int32_t>>& sources,
                     const GlobalPositions& positions);
// The positions sorted, each once.
std::vector<uint32_t> ordered_positions(std::span<const uint32_t> positions);
// The lists (sorted, each position once) as words of the state, for sources of up to `length` ids; empty if the model
// has no windows.
std::vector<uint32_t> global_words(const model::Config& config, const GlobalPositions& positions, uint32_t sentences,
                                   uint32_t length);

}  // namespace lapilli
