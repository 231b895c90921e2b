// Functions of shaders/lib as C++: what is plain arithmetic of uint means the same in both languages, so that tests can
// run the text that kernels include. For one source file each, since nothing here is inline.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/math.hpp"
#include "ops/core/state.hpp"

namespace lapilli::glsl {

using uint = uint32_t;
using namespace state;  // of state_words.glsl
#include "../../shaders/lib/panel.glsl"

inline float uintBitsToFloat(uint bits) { return std::bit_cast<float>(bits); }
inline uint floatBitsToUint(float value) { return std::bit_cast<uint>(value); }
using std::abs;
using std::floor;
using std::max;
using std::min;
#include "../../shaders/lib/kv.glsl"
// behind panel.glsl
#define precise
#include "../../shaders/lib/narrow.glsl"
#undef precise

inline uint grids[MAX_GRIDS * GRID_STRIDE];  // the kernel's buffer
#include "../../shaders/lib/grids.glsl"

}  // namespace lapilli::glsl
