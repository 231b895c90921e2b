#include "documents/written_text.hpp"

#include <algorithm>

namespace lapilli::documents {

void WrittenText::literal(std::string_view bytes, Range source) {
  if (source.empty()) return;
  const size_t begin = text_.size();
  text_ += source.of(bytes);
  const bool goes_on = !runs_.empty() && runs_.back().literal && runs_.back().source.end == source.begin;
  if (!goes_on) return runs_.push_back({{begin, text_.size()}, source, true});
  runs_.back().text.end = text_.size();
  runs_.back().source.end = source.end;
}

void WrittenText::escaped(Range source, std::string_view means) {
  const size_t begin = text_.size();
  text_ += means;
  runs_.push_back({{begin, text_.size()}, source, false});
}

// The first run that ends behind `at`.
size_t WrittenText::run_at(size_t at) const {
  const auto run =
      std::upper_bound(runs_.begin(), runs_.end(), at, [](size_t place, const Run& r) { return place < r.text.end; });
  return static_cast<size_t>(run - runs_.begin());
}

Range WrittenText::source_in(const Run& run, Range words) {
  if (!run.literal) return run.source;
  return {run.source.begin + (words.begin - run.text.begin), run.source.begin + (words.end - run.text.begin)};
}

Range WrittenText::source(Range range) const {
  if (range.empty()) return {};
  const Run &first = runs_[run_at(range.begin)], &last = runs_[run_at(range.end - 1)];
  const size_t begin = source_in(first, {std::max(range.begin, first.text.begin), first.text.end}).begin;
  return {begin, source_in(last, {last.text.begin, std::min(range.end, last.text.end)}).end};
}

}  // namespace lapilli::documents
