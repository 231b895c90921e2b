#include "runtime/weights/padding.hpp"

#include <algorithm>

namespace lapilli {

namespace {

// Appends [begin, end), which follows all earlier ranges.
void append(std::vector<WordRange>& ranges, uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  if (!ranges.empty() && ranges.back().end == begin)
    ranges.back().end = end;
  else
    ranges.push_back({begin, end});
}

// For each column of all panels: does a part of this kind write it?
std::vector<bool> written_columns(const WeightSource& source, WeightPart::Kind kind) {
  std::vector<bool> written(packed::panels(source.n) * packed::kPanel);
  for (const WeightPart& p : source.parts) {
    if (p.kind != kind) continue;
    for (uint64_t r = 0; r < p.rows; ++r) {
      const uint64_t column = p.first_column + r / p.group * p.group_stride + r % p.group;
      if (column < written.size()) written[column] = true;
    }
  }
  return written;
}

std::vector<WordRange> matrix_padding(const WeightSource& source) {
  std::vector<WordRange> ranges;
  const auto columns = written_columns(source, WeightPart::Kind::matrix);
  const WeightLayout layout = source.layout();
  const uint64_t panel_words = layout.panel_words(), with_values = layout.words_to(source.k);
  for (uint64_t panel = 0; panel < packed::panels(source.n); ++panel) {
    const auto first = columns.begin() + static_cast<ptrdiff_t>(panel * packed::kPanel);
    const bool whole = std::all_of(first, first + packed::kPanel, [](bool written) { return written; });
    append(ranges, panel * panel_words + (whole ? with_values : 0), (panel + 1) * panel_words);
  }
  const auto biases = written_columns(source, WeightPart::Kind::bias);
  const uint64_t begin = layout.bias_begin();
  for (uint64_t c = 0; c < biases.size(); ++c)
    if (!biases[c]) append(ranges, begin + c, begin + c + 1);
  append(ranges, layout.words(), source.words);
  return ranges;
}

}  // namespace

std::vector<WordRange> padding_of(const WeightSource& source) {
  const auto packs = [](const WeightPart& p) { return p.kind != WeightPart::Kind::plain; };
  if (std::any_of(source.parts.begin(), source.parts.end(), packs)) return matrix_padding(source);
  std::vector<WordRange> written{{0, source.values.size()}};
  for (const WeightPart& p : source.parts) written.push_back({p.destination, p.destination + p.rows * p.k});
  std::sort(written.begin(), written.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::vector<WordRange> ranges;
  uint64_t end = 0;
  for (const WordRange& w : written) {
    append(ranges, end, w.begin);
    end = std::max(end, w.end);
  }
  append(ranges, end, source.words);
  return ranges;
}

}  // namespace lapilli
