#include "ops/core/spans.hpp"

#include "base/math.hpp"
#include "ops/core/state.hpp"

namespace lapilli {

std::vector<Span> packed_spans(std::span<const Span> sentences) {
  std::vector<Span> packed;
  SpanTotals next;
  for (const Span& s : sentences) {
    packed.push_back({next.rows, next.tiles, s.ids, s.slot});
    next = span_totals(packed);
  }
  return packed;
}

std::vector<uint32_t> span_words(std::span<const Span> packed) {
  const SpanTotals end = span_totals(packed);
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < state::MAX_ROWS; ++i) {
    const Span s = i < packed.size() ? packed[i] : Span{end.rows, end.tiles, 0, 0};
    words.insert(words.end(), {s.row, s.tile, s.ids, s.slot});
  }
  return words;
}

std::vector<Span> spans_of(std::span<const uint32_t> words) {
  std::vector<Span> spans;
  for (size_t at = 0; at + state::SPAN_STRIDE <= words.size() && words[at + state::SPAN_IDS] != 0;
       at += state::SPAN_STRIDE)
    spans.push_back({words[at + state::SPAN_ROW], words[at + state::SPAN_TILE], words[at + state::SPAN_IDS],
                     words[at + state::SPAN_SLOT]});
  return spans;
}

SpanTotals span_totals(std::span<const Span> packed) {
  if (packed.empty()) return {};
  const Span& last = packed.back();
  return {last.row + last.ids, last.tile + div_up(last.ids, state::TILE_ROWS)};
}

}  // namespace lapilli
