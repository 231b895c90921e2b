// When each id was heard, by what the decoder looked at while it read it (cross attention of the alignment heads).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace lapilli::speech {

// Rows of attention to the encoder's positions, a row for each id.
struct AttentionRows {
  uint32_t ids = 0, positions = 0;
  std::vector<float> weights;  // [ids][positions]
};

// Which queries of a pass are rows, in order: those of one of its sources.
struct AttentionQueries {
  uint64_t source = 0, begin = 0, end = 0;
};

// Heads have one size; there is one at least.
AttentionRows mean_of(std::span<const AttentionRows> heads);

// The first position of each id on the cheapest way through what the heads say: each position's weights are centred and
// scaled over the ids, smoothed over positions by a median of `filter` (odd), averaged over heads; then dynamic time
// warping (Sakoe and Chiba 1978). Heads have one size, at least one id and one position.
std::vector<uint32_t> first_positions(std::vector<AttentionRows> heads, uint32_t filter);

}  // namespace lapilli::speech
