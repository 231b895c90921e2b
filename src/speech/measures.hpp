// Measures that decide whether a window is tried again: how repetitive its ids are, and how likely.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace lapilli::speech {

// The size of the ids, as little-endian numbers of as few bytes as the vocabulary needs, divided by the size of their
// zlib stream (level 6, with header and checksum): byte for byte the measure that the reference's threshold is for.
// Fails in a build without zlib, because other compressors give other sizes.
Result<double> compression_ratio(std::span<const int32_t> ids, uint32_t vocabulary);

// The log-probability of `id` by scores that were divided by `temperature`, which is undone first. Forbidden scores do
// not count.
double log_probability(std::span<const float> scores, int32_t id, double temperature);
// The probability of `id` by raw logits.
double probability(std::span<const float> logits, int32_t id);

}  // namespace lapilli::speech
