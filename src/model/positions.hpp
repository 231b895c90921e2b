// Position tables that networks compute.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config.hpp"

namespace lapilli::model {

// The table of a stack with sinusoids: rows [max_positions + position_offset] of round_up(d_model, 4) floats, padded
// with zeros.
std::vector<float> sinusoids(const StackConfig& stack);

// The table of "rotate" (ops/attention/attention.hpp) for a stack with rotary positions of this base.
std::vector<float> rotations(const StackConfig& stack, double base);

}  // namespace lapilli::model
