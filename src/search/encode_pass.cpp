#include "search/encode_pass.hpp"

#include <algorithm>
#include <cstring>

#include "ops/core/spans.hpp"
#include "ops/search/search_util.hpp"
#include "search/globals.hpp"

namespace lapilli {

namespace {

uint32_t positions_of(const PassSource& s, const PassOptions& options) {
  return s.features ? model::counted_rows(*options.features, rows_of(*s.features))
                    : static_cast<uint32_t>(s.ids.size());
}

void pack_features(std::span<const PassSource> sources, const model::FeatureInput& input, EncodePass& pass) {
  std::vector<model::FeatureRows> rows;
  const uint64_t stride = model::feature_stride(input);
  for (const PassSource& s : sources) {
    if (!s.features) continue;
    rows.push_back(rows_of(*s.features));
    const size_t begin = pass.features.size();
    pass.features.resize(begin + s.features->rows * stride, 0);
    for (uint64_t r = 0; r < s.features->rows; ++r)
      std::memcpy(&pass.features[begin + r * stride], &s.features->values[r * input.width],
                  uint64_t{input.width} * sizeof(float));
  }
  pass.feature_spans = model::feature_span_words(input, rows);
}

// Behind the source's ids.
void pack_types(const PassSource& source, EncodePass& pass) {
  pass.source_types.insert(pass.source_types.end(), source.types.begin(), source.types.end());
  pass.source_types.resize(pass.source_ids.size(), 0);
}

}  // namespace

EncodePass pack_pass(std::span<const PassSource> sources, const PassOptions& options) {
  EncodePass pass;
  std::vector<Span> sentences;
  for (const PassSource& s : sources) {
    sentences.push_back({0, 0, positions_of(s, options), s.slot});
    std::transform(s.ids.begin(), s.ids.end(), std::back_inserter(pass.source_ids),
                   [](int32_t id) { return static_cast<uint32_t>(id); });
    if (options.types) pack_types(s, pass);
  }
  if (options.features) pack_features(sources, *options.features, pass);
  const auto packed = packed_spans(sentences);
  pass.spans = span_words(packed);
  pass.rows = span_totals(packed).rows;
  pass.tiles = span_totals(packed).tiles;
  if (!options.windows) return pass;
  const uint64_t stride = uint64_t{options.globals} + 1;
  pass.globals.resize(sources.size() * stride, 0);
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto list = ordered_positions(sources[i].globals);
    uint32_t* words = pass.globals.data() + i * stride;
    words[0] = static_cast<uint32_t>(list.size());
    std::transform(list.begin(), list.end(), words + 1, [&](uint32_t position) { return packed[i].row + position; });
  }
  return pass;
}

std::vector<uint32_t> encode_grid_words(const Plan& encode, const EncodePass& pass) {
  auto words = grid_words(encode.grids, encode.max_group_x);
  for (size_t i = 0; i < encode.grids.size(); ++i)
    search::write_grid(words, i * state::GRID_STRIDE,
                       encode.grids[i].follows == Follows::tiles ? pass.tiles : pass.rows);
  return words;
}

std::vector<std::pair<StateKind, const std::vector<uint32_t>*>> words_of(const EncodePass& pass) {
  return {{StateKind::source_ids, &pass.source_ids},
          {StateKind::spans, &pass.spans},
          {StateKind::globals, &pass.globals},
          {StateKind::features, &pass.features},
          {StateKind::feature_spans, &pass.feature_spans},
          {StateKind::source_types, &pass.source_types}};
}

PassOptions pass_options(const model::Config& config, uint32_t source_positions) {
  PassOptions options{!config.encoder.windows.empty(), config.encoder.globals_stride(source_positions) - 1};
  if (config.kind().reads != model::Reads::ids) options.features = &config.features;
  options.types = config.encoder.row_types > 0;
  return options;
}

void put_pass(UploadArea& area, const Plan& encode, std::span<const PassSource> sources, const model::Config& config,
              uint32_t source_positions) {
  const EncodePass pass = pack_pass(sources, pass_options(config, source_positions));
  const auto put = [&](StateKind kind, const std::vector<uint32_t>& words) {
    std::copy(words.begin(), words.end(), area.words(kind).begin());
  };
  for (const auto& [kind, words] : words_of(pass)) put(kind, *words);
  put(StateKind::encode_grids, encode_grid_words(encode, pass));
}

}  // namespace lapilli
