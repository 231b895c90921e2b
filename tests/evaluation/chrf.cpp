#include "evaluation/chrf.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace lapilli::evaluation {

namespace {

constexpr size_t kLongest = 6;
constexpr double kBeta = 2;

// Characters, each as its bytes.
std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> characters;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    if (text[at] != ' ' && text[at] != '\t') characters.push_back(text.substr(at, end - at));
    at = end;
  }
  return characters;
}

using NgramCounts = std::map<std::string, size_t>;

NgramCounts ngrams_of(const std::vector<std::string_view>& characters, size_t length) {
  NgramCounts counts;
  for (size_t i = 0; i + length <= characters.size(); ++i) {
    std::string ngram;
    for (size_t n = 0; n < length; ++n) ngram += characters[i + n];
    ++counts[ngram];
  }
  return counts;
}

size_t common(const NgramCounts& a, const NgramCounts& b) {
  size_t count = 0;
  for (const auto& [ngram, times] : a)
    if (const auto other = b.find(ngram); other != b.end()) count += std::min(times, other->second);
  return count;
}

}  // namespace

double chrf(std::string_view hypothesis, std::string_view reference) {
  const auto ours = characters_of(hypothesis), theirs = characters_of(reference);
  double precision = 0, recall = 0;
  size_t lengths = 0;
  for (size_t n = 1; n <= std::min({kLongest, ours.size(), theirs.size()}); ++n, ++lengths) {
    const auto same = static_cast<double>(common(ngrams_of(ours, n), ngrams_of(theirs, n)));
    precision += same / static_cast<double>(ours.size() - n + 1);
    recall += same / static_cast<double>(theirs.size() - n + 1);
  }
  if (lengths == 0) return ours.empty() && theirs.empty() ? 100 : 0;
  precision /= static_cast<double>(lengths);
  recall /= static_cast<double>(lengths);
  const double weighted = kBeta * kBeta * precision + recall;
  return weighted > 0 ? 100 * (1 + kBeta * kBeta) * precision * recall / weighted : 0;
}

double best_chrf(std::string_view hypothesis, std::span<const std::string> references) {
  double best = 0;
  for (const std::string& reference : references) best = std::max(best, chrf(hypothesis, reference));
  return best;
}

}  // namespace lapilli::evaluation
