#include "evaluation/unsure.hpp"

#include "base/result.hpp"

namespace lapilli::evaluation {

namespace {
double percent(size_t part, size_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}
}  // namespace

Separation separate(std::span<const Judged> lines, double below) {
  Separation all;
  for (const Judged& line : lines) {
    const bool wrong = line.chrf < kWrongBelow, right = line.chrf >= kRightFrom, noted = line.sure < below;
    ++all.lines;
    all.wrong += wrong;
    all.right += right;
    all.noted += noted;
    all.found += wrong && noted;
    all.accused += right && noted;
  }
  return all;
}

std::string text_of(const Separation& s, double below) {
  return format(
      "unsure below %.2f: %zu of %zu lines (%.1f %%); found %zu of %zu wrong ones (%.1f %%), accused %zu of %zu "
      "right ones (%.1f %%)",
      below, s.noted, s.lines, percent(s.noted, s.lines), s.found, s.wrong, percent(s.found, s.wrong), s.accused,
      s.right, percent(s.accused, s.right));
}

}  // namespace lapilli::evaluation
