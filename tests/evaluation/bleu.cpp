#include "evaluation/bleu.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>

namespace lapilli::evaluation {

namespace {

constexpr size_t kOrders = 4;
using Counts = std::map<std::vector<std::string_view>, uint64_t>;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool point(char c) { return c == '.' || c == ','; }
// All of ASCII's punctuation but ' , - .
bool symbol(char c) {
  return (c >= '!' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

std::string spaced_symbols(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (symbol(c)) {
      out += {' ', c, ' '};
    } else {
      out += c;
    }
  }
  return out;
}

// Walks over `text`; where `matches` holds for two neighbours both are consumed and written as `put` says. Bytes will
// do in place of code points, since what is looked for is ASCII.
template <class Matches, class Put>
std::string replaced_pairs(std::string_view text, Matches matches, Put put) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && matches(text[i], text[i + 1])) {
      put(out, text[i], text[i + 1]);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Bytes of the white space that `text` begins with; 0 if it begins with something else.
size_t space_bytes(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned a = at(0), b = at(1), c = at(2);
  if (a == ' ' || (a >= 0x09 && a <= 0x0d) || (a >= 0x1c && a <= 0x1f)) return 1;
  if (a == 0xc2 && (b == 0x85 || b == 0xa0)) return 2;
  if (a == 0xe1 && b == 0x9a && c == 0x80) return 3;  // U+1680
  if (a == 0xe2 && b == 0x80 && ((c >= 0x80 && c <= 0x8a) || c == 0xa8 || c == 0xa9 || c == 0xaf)) return 3;
  if (a == 0xe2 && b == 0x81 && c == 0x9f) return 3;  // U+205F
  if (a == 0xe3 && b == 0x80 && c == 0x80) return 3;  // U+3000
  return 0;
}

Counts count(const std::vector<std::string>& words, size_t n) {
  Counts counts;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    const auto first = words.begin() + static_cast<ptrdiff_t>(i);
    ++counts[std::vector<std::string_view>(first, first + static_cast<ptrdiff_t>(n))];
  }
  return counts;
}

// An n-gram of the hypothesis counts at most as often as in the reference that has most of it.
uint64_t matching(const std::vector<std::string>& hypothesis, const std::vector<std::vector<std::string>>& references,
                  size_t n) {
  Counts most;
  for (const auto& reference : references)
    for (const auto& [gram, times] : count(reference, n)) most[gram] = std::max(most[gram], times);
  uint64_t sum = 0;
  for (const auto& [gram, times] : count(hypothesis, n)) {
    const auto it = most.find(gram);
    if (it != most.end()) sum += std::min(times, it->second);
  }
  return sum;
}

// The reference length nearest to the hypothesis', the shorter of two equally near.
size_t closest_length(size_t length, const std::vector<std::vector<std::string>>& references) {
  size_t best = 0, best_distance = SIZE_MAX;
  for (const auto& reference : references) {
    const size_t n = reference.size(), distance = n > length ? n - length : length - n;
    if (distance > best_distance || (distance == best_distance && n >= best)) continue;
    best = n;
    best_distance = distance;
  }
  return best;
}

}  // namespace

std::vector<std::string> bleu_tokens(std::string_view text) {
  std::string s = spaced_symbols(text);
  s = replaced_pairs(
      s, [](char a, char b) { return !digit(a) && point(b); },
      [](std::string& out, char a, char b) {
        out += {a, ' ', b, ' '};
      });
  s = replaced_pairs(
      s, [](char a, char b) { return point(a) && !digit(b); },
      [](std::string& out, char a, char b) {
        out += {' ', a, ' ', b};
      });
  s = replaced_pairs(
      s, [](char a, char b) { return digit(a) && b == '-'; },
      [](std::string& out, char a, char b) {
        out += {a, ' ', b, ' '};
      });
  std::vector<std::string> words;
  bool in_word = false;
  for (size_t i = 0; i < s.size();) {
    const size_t space = space_bytes(std::string_view(s).substr(i));
    if (space > 0) {
      in_word = false;
      i += space;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    words.back() += s[i++];
  }
  return words;
}

double bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references) {
  std::array<uint64_t, kOrders> matched{}, total{};
  uint64_t hypothesis_length = 0, reference_length = 0;
  for (size_t line = 0; line < std::min(hypotheses.size(), references.size()); ++line) {
    const auto words = bleu_tokens(hypotheses[line]);
    std::vector<std::vector<std::string>> all;
    for (const auto& reference : references[line]) all.push_back(bleu_tokens(reference));
    hypothesis_length += words.size();
    reference_length += closest_length(words.size(), all);
    for (size_t n = 1; n <= kOrders; ++n) {
      matched[n - 1] += matching(words, all, n);
      total[n - 1] += words.size() >= n ? words.size() - n + 1 : 0;
    }
  }
  double log_precision = 0;
  for (size_t n = 0; n < kOrders; ++n) {
    if (matched[n] == 0) return 0;
    log_precision += std::log(static_cast<double>(matched[n]) / static_cast<double>(total[n])) / kOrders;
  }
  const double brevity = 1 - static_cast<double>(reference_length) / static_cast<double>(hypothesis_length);
  return 100 * std::exp(std::min(0.0, brevity) + log_precision);
}

}  // namespace lapilli::evaluation
