// Sources that are features: how many rows they have on their way through the layers of the encoder's input.
//
// Level 0 are the rows of the source, level i those behind i layers; the last one are the encoder's rows, behind the
// rows in front.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "model/config.hpp"

namespace lapilli::model {

// A source of `rows` rows, `width` numbers each, row by row.
struct Features {
  uint32_t rows = 0, width = 0;
  std::vector<float> values;
  // Of the rows so many count; those behind fill the source up, as in a batch of the reference: convolutions and
  // normalizations read them, attention does not. 0: all count.
  uint32_t counted = 0;
};
// The numbers of them: rows, and how many of these count (0: all).
struct FeatureRows {
  uint32_t rows = 0, counted = 0;
};
inline FeatureRows rows_of(const Features& f) { return {f.rows, f.counted}; }

constexpr uint32_t kMaxFeatureRows = 1u << 24;

inline uint32_t feature_levels(const FeatureInput& input) { return static_cast<uint32_t>(input.layers.size()) + 2; }
// By level, of one source; 0 from where a layer leaves nothing.
std::vector<uint32_t> level_rows(const FeatureInput& input, uint32_t rows);
// Of the encoder's rows those that count: their first row of the source does.
uint32_t counted_rows(const FeatureInput& input, const FeatureRows& source);
// At most, by level, of `sources` sources that have so many rows in the encoder, all together.
std::vector<uint64_t> level_room(const FeatureInput& input, uint64_t encoder_rows, uint64_t sources);

// Its sizes agree with each other and with the model, and its numbers are numbers; `what` begins the message. Gives the
// rows that it has in the encoder.
Result<uint32_t> check_features(const Config& config, const Features& features, const char* what);

// Where sources of so many rows lie: the words of StateKind::feature_spans, SpanWords::words a level. They follow one
// another, in the encoder without rows that do not count; with `apart` (by level) they begin at multiples of that.
std::vector<uint32_t> feature_span_words(const FeatureInput& input, std::span<const FeatureRows> sources,
                                         std::span<const uint32_t> apart = {});
// From row to row of StateKind::features. A row of one number is one word, others are padded to vec4.
inline uint64_t feature_stride(const FeatureInput& input) {
  return input.width == 1 ? 1 : round_up<uint64_t>(input.width, 4);
}

}  // namespace lapilli::model
