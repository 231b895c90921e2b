// Random numbers of sampling, counted and not remembered: Philox 4x32 with 10 rounds, so that a draw depends on the
// seed and on its place alone, whatever batch it is made in. The kernels' counterpart is shaders/lib/draw.glsl.
#pragma once

#include <array>
#include <cstdint>

namespace lapilli::draw {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// A number of the standard Gumbel distribution: -log(-log(u)) with u = 1 - (word + 1/2) / 2^32.
double gumbel(uint32_t word);

// Where a draw is made.
struct Place {
  uint64_t seed = 0;
  uint32_t step = 0;
  uint32_t sequence = 0;  // number of the sentence within the caller's request
  uint32_t beam = 0;
};
// The Gumbel number of an id there. The id with the greatest sum of score and number is drawn from the softmax of the
// scores; the K greatest are K draws in order, none put back.
double gumbel_at(const Place& place, uint32_t id);

}  // namespace lapilli::draw
