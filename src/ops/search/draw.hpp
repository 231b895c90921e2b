// Random numbers for sampling, counter-based and stateless: Philox 4x32 with 10 rounds, so that a draw depends only on
// the seed and its place, in whatever batch it is made. The kernels' counterpart is shaders/lib/draw.glsl.
#pragma once

#include <array>
#include <cstdint>

namespace lapilli::draw {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// A standard Gumbel variate: -log(-log(u)) with u = 1 - (word + 1/2) / 2^32.
double gumbel(uint32_t word);

// The place of a draw.
struct Place {
  uint64_t seed = 0;
  uint32_t step = 0;
  uint32_t sequence = 0;  // number of the sentence within the caller's request
  uint32_t beam = 0;
};
// The Gumbel number of an id at that place. The id with the greatest sum of score and number is drawn from the softmax
// of the scores; the K greatest are K draws in order, without replacement.
double gumbel_at(const Place& place, uint32_t id);

}  // namespace lapilli::draw
