#include "model/features.hpp"

#include <algorithm>
#include <cmath>

#include "ops/core/spans.hpp"
#include "ops/core/state.hpp"

namespace lapilli::model {

namespace {

uint32_t rows_behind(const InputLayer& layer, uint32_t rows) {
  const uint64_t padded = uint64_t{rows} + layer.before + layer.after;
  return rows == 0 || padded < layer.kernel ? 0 : static_cast<uint32_t>((padded - layer.kernel) / layer.stride + 1);
}

}  // namespace

std::vector<uint32_t> level_rows(const FeatureInput& input, uint32_t rows) {
  std::vector<uint32_t> all{rows};
  for (const InputLayer& layer : input.layers) all.push_back(rows_behind(layer, all.back()));
  all.push_back(all.back() == 0 ? 0 : input.merged ? input.merged : all.back() + input.front);
  return all;
}

uint32_t counted_rows(const FeatureInput& input, const FeatureRows& source) {
  const uint32_t all = level_rows(input, source.rows).back();
  if (source.counted == 0 || all == 0) return all;
  uint64_t stride = 1;
  for (const InputLayer& layer : input.layers) stride *= layer.stride;
  return static_cast<uint32_t>(std::min<uint64_t>(all, input.front + div_up<uint64_t>(source.counted, stride)));
}

std::vector<uint64_t> level_room(const FeatureInput& input, uint64_t encoder_rows, uint64_t sources) {
  std::vector<uint64_t> room{encoder_rows, encoder_rows};  // last level first
  if (input.merged) room[1] = std::clamp<uint64_t>(encoder_rows / input.merged, 1, sources) * input.rows;
  for (auto layer = input.layers.rbegin(); layer != input.layers.rend(); ++layer) {
    // A source has at most (out - 1) * stride + kernel - before - after + stride - 1 rows before the layer.
    const uint64_t around = uint64_t{layer->before} + layer->after + 1;
    const uint64_t more = layer->kernel > around ? layer->kernel - around : 0;
    room.push_back(room.back() * layer->stride + sources * more);
  }
  std::reverse(room.begin(), room.end());
  return room;
}

Result<uint32_t> check_features(const Config& config, const Features& f, const char* what) {
  const FeatureInput& input = config.features;
  if (f.width != input.width)
    return fail(ErrorCode::invalid_argument, "%s has features of %u numbers, the model's have %u", what, f.width,
                input.width);
  if (f.rows == 0 || f.rows > kMaxFeatureRows || f.values.size() != uint64_t{f.rows} * f.width)
    return fail(ErrorCode::invalid_argument, "%s: %u numbers are not %u rows of %u features", what, f.values.size(),
                f.rows, f.width);
  if (input.rows != 0 && f.rows != input.rows)
    return fail(ErrorCode::invalid_argument, "%s has %u rows of features; the model takes %u, no more and no fewer",
                what, f.rows, input.rows);
  if (input.most != 0 && f.rows > input.most)
    return fail(ErrorCode::invalid_argument, "%s has %u rows of features; the model takes at most %u", what, f.rows,
                input.most);
  if (f.counted > f.rows)
    return fail(ErrorCode::invalid_argument, "%s: %u of %u rows of features count", what, f.counted, f.rows);
  for (const float v : f.values)
    if (!std::isfinite(v)) return fail(ErrorCode::invalid_argument, "%s: a feature is not a finite number", what);
  const uint32_t rows = level_rows(input, f.rows).back(), most = config.encoder.max_positions;
  if (rows == 0)
    return fail(ErrorCode::invalid_argument, "%s: %u rows of features are too few for the model's convolutions", what,
                f.rows);
  if (most != 0 && rows > most)
    return fail(ErrorCode::invalid_argument, "%s: its features come to %u rows, the model has positions for %u", what,
                rows, most);
  return rows;
}

std::vector<uint32_t> feature_span_words(const FeatureInput& input, std::span<const FeatureRows> sources,
                                         std::span<const uint32_t> apart) {
  std::vector<uint32_t> words;
  for (uint32_t level = 0; level < feature_levels(input); ++level) {
    std::vector<Span> spans;
    for (uint32_t i = 0; i < sources.size(); ++i) {
      const uint32_t counted = counted_rows(input, sources[i]), all = level_rows(input, sources[i].rows)[level];
      const bool encoder = level + 1 == feature_levels(input);
      spans.push_back(
          {apart.empty() ? 0 : apart[level] * i, 0, encoder && apart.empty() ? counted : all, encoder ? counted : all});
    }
    const auto of_level = span_words(apart.empty() ? packed_spans(spans) : spans);
    words.insert(words.end(), of_level.begin(), of_level.end());
  }
  return words;
}

}  // namespace lapilli::model
