// Sources that are features, and their numbers of rows on the way through the layers of the encoder's input.
//
// Level 0 has the rows of the source, level i those after i layers; the last level has the encoder's rows, which
// include the rows in front.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "model/config.hpp"

namespace lapilli::model {

// A source of `rows` rows with `width` numbers each, row by row.
struct Features {
  uint32_t rows = 0, width = 0;
  std::vector<float> values;
  // Number of rows that count; the rest pads the source, as in a batch of the reference: convolutions and
  // normalizations read it, attention does not. 0: all count.
  uint32_t counted = 0;
};
// Numbers of rows: all, and those that count (0: all).
struct FeatureRows {
  uint32_t rows = 0, counted = 0;
};
inline FeatureRows rows_of(const Features& f) { return {f.rows, f.counted}; }

constexpr uint32_t kMaxFeatureRows = 1u << 24;

inline uint32_t feature_levels(const FeatureInput& input) { return static_cast<uint32_t>(input.layers.size()) + 2; }
// Rows of one source by level; 0 from the level on where a layer leaves nothing.
std::vector<uint32_t> level_rows(const FeatureInput& input, uint32_t rows);
// Rows of the encoder that count: those whose first source row does.
uint32_t counted_rows(const FeatureInput& input, const FeatureRows& source);
// Upper bounds by level on the rows of `sources` sources with `encoder_rows` rows in the encoder, all together.
std::vector<uint64_t> level_room(const FeatureInput& input, uint64_t encoder_rows, uint64_t sources);

// Checks that the sizes agree with each other and the model, and that all values are finite; `what` begins the message.
// Returns the source's rows in the encoder.
Result<uint32_t> check_features(const Config& config, const Features& features, const char* what);

// Layout of sources with these rows: the words of StateKind::feature_spans, state::SPAN_WORDS per level. They are
// packed, in the encoder without rows that do not count; with `apart` (by level), they begin at multiples of that.
std::vector<uint32_t> feature_span_words(const FeatureInput& input, std::span<const FeatureRows> sources,
                                         std::span<const uint32_t> apart = {});
// Stride between rows of StateKind::features. A row of one number is one word, others are padded to vec4.
inline uint64_t feature_stride(const FeatureInput& input) {
  return input.width == 1 ? 1 : round_up<uint64_t>(input.width, 4);
}

}  // namespace lapilli::model
