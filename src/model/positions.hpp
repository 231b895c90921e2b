// Position tables that networks compute.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config.hpp"

namespace lapilli::model {

// The table of a stack with sinusoids: rows [max_positions + position_offset] of round_up(d_model, 4) floats, padded
// with zeros.
std::vector<float> sinusoids(const StackConfig& stack);

// The table of "rotate" (ops/attention/attention.hpp) for a stack's layers with or without a window.
std::vector<float> rotations(const StackConfig& stack, bool window);

// Vectors of distances by row of plain_table(), as in Transformer-XL (Dai et al. 2019): sines in the first half,
// cosines in the second; distances beyond `clamp` have its vector, unless it is 0.
std::vector<float> distance_sinusoids(uint32_t width, uint32_t clamp);

}  // namespace lapilli::model
