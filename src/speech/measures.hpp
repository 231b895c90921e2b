// What decides whether a window is tried again: how much its ids repeat, how likely they were.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace lapilli::speech {

// The ids as little-endian numbers of as few bytes as the vocabulary needs, over the length of their zlib stream (level
// 6, header and checksum counted): what the reference's threshold is about, to the byte. An error in a build without
// zlib, whose lengths no other packer has.
Result<double> compression_ratio(std::span<const int32_t> ids, uint32_t vocabulary);

// The logarithm of the probability of `id` among scores, divided by the temperature that they were divided by before.
// Forbidden ids have none.
double log_probability(std::span<const float> scores, int32_t id, double temperature);
// The probability of `id` by raw logits.
double probability(std::span<const float> logits, int32_t id);

}  // namespace lapilli::speech
