// Times of ids, from the decoder's cross attention (alignment heads) while it reads them.
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

// Queries of a pass that become rows, in order: a range of one of its sources.
struct AttentionQueries {
  uint64_t source = 0, begin = 0, end = 0;
};

// At least one head; all heads have the same size.
AttentionRows mean_of(std::span<const AttentionRows> heads);

// The first position of each id on the cheapest path through the heads' attention: weights are normalized over the ids
// (mean 0, deviation 1), smoothed over positions by a median of `filter` (odd), and averaged over heads; then dynamic
// time warping (Sakoe and Chiba 1978). Heads have the same size, at least one id and one position.
std::vector<uint32_t> first_positions(std::vector<AttentionRows> heads, uint32_t filter);

}  // namespace lapilli::speech
