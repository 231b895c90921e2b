// The sentences of an encode pass on the host: the words of StateKind::spans, and back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lapilli {

// One sentence: its first row and tile, how many ids (rows) it has, and its number in cross_kv and lengths.
struct Span {
  uint32_t row = 0, tile = 0, ids = 0, slot = 0;
};

// Packs sentences one after another: computes rows and tiles, ignoring those of the arguments. At most state::MAX_ROWS.
std::vector<Span> packed_spans(std::span<const Span> sentences);
// Encodes them as state::SPAN_WORDS words.
std::vector<uint32_t> span_words(std::span<const Span> packed);
// Decodes the sentences that have ids, in the order of the pass.
std::vector<Span> spans_of(std::span<const uint32_t> words);

// Totals of a whole pass.
struct SpanTotals {
  uint32_t rows = 0, tiles = 0;
};
SpanTotals span_totals(std::span<const Span> packed);

}  // namespace lapilli
