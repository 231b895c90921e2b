// Word alignment from cross attention.
#include <algorithm>
#include <utility>

#include "generate/attention.hpp"
#include "text/sentences/sentence_class.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

using enum SentenceClass;

enum class Part { blank, word, mark };

// Hyphens and apostrophes join the parts of a word.
bool joins(uint32_t code) { return code == '-' || code == '\'' || code == 0x2019 || code == 0x2010 || code == 0x2011; }

Part part_of(const CodePoint& c) {
  const SentenceClass k = c.valid ? sentence_class(c.code) : other;
  if (k == space || k == newline) return Part::blank;
  return k == lower || k == upper || k == letter || k == digit || k == extend ? Part::word : Part::mark;
}

// Attention of each target token to each source word.
struct WordWeights {
  size_t rows = 0, cols = 0;
  std::vector<double> values;
  double& at(size_t r, size_t c) { return values[r * cols + c]; }
  [[nodiscard]] double at(size_t r, size_t c) const { return values[r * cols + c]; }
};

bool overlap(ByteRange a, ByteRange b) { return a.begin < b.end && b.begin < a.end; }

// For each word, the tokens with bytes of it.
std::vector<std::vector<size_t>> tokens_of(const std::vector<Word>& words, const std::vector<AttentionToken>& tokens) {
  std::vector<std::vector<size_t>> of(words.size());
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t].special) continue;
    auto first = std::partition_point(words.begin(), words.end(),
                                      [&](const Word& w) { return w.bytes.end <= tokens[t].bytes.begin; });
    for (; first != words.end() && overlap(first->bytes, tokens[t].bytes); ++first) {
      of[static_cast<size_t>(first - words.begin())].push_back(t);
    }
  }
  return of;
}

ByteRange span_of(const std::vector<AttentionToken>& tokens) {
  ByteRange range{UINT64_MAX, 0};
  for (const AttentionToken& t : tokens) {
    if (t.special) continue;
    range.begin = std::min(range.begin, t.bytes.begin);
    range.end = std::max(range.end, t.bytes.end);
  }
  return range.begin < range.end ? range : ByteRange{};
}

WordWeights word_weights(const Attention& attention, const std::vector<float>& map, const Alignment& words) {
  const auto source_tokens = tokens_of(words.source, attention.source);
  const auto target_tokens = tokens_of(words.target, attention.target);
  const size_t cols = words.source.size();
  WordWeights weights{words.target.size(), cols, std::vector<double>(words.target.size() * cols, 0.0)};
  for (size_t w = 0; w < weights.rows; ++w) {
    for (const size_t token : target_tokens[w]) {
      // The step that wrote this token read the one before.
      if (token == 0) continue;
      const float* row = map.data() + (token - 1) * attention.cross.cols;
      for (size_t s = 0; s < cols; ++s) {
        for (const size_t column : source_tokens[s]) weights.at(w, s) += static_cast<double>(row[column]);
      }
    }
    const auto tokens = static_cast<double>(std::max<size_t>(target_tokens[w].size(), 1));
    for (size_t s = 0; s < cols; ++s) weights.at(w, s) /= tokens;
  }
  return weights;
}

// Punctuation never pairs with a word; signs ("%", "&") pair with signs and words.
enum class Kind { word, punctuation, sign };

Kind kind_of(std::string_view text, const Word& word) {
  const CodePoint c = decode_utf8(text, word.bytes.begin);
  const Part part = part_of(c);
  if (part != Part::mark) return Kind::word;
  return c.valid && sentence_class(c.code) != other ? Kind::punctuation : Kind::sign;
}

bool may_pair(Kind a, Kind b) {
  return a == b || (a == Kind::sign && b == Kind::word) || (a == Kind::word && b == Kind::sign);
}

// Least attention for a link: a word that attends elsewhere (mostly to the end token) has none.
constexpr double kLeast = 0.05;

void link_targets(const Attention& attention, const WordWeights& weights, Alignment& out) {
  for (size_t t = 0; t < weights.rows; ++t) {
    const Kind kind = kind_of(attention.target_text, out.target[t]);
    size_t best = weights.cols;
    for (size_t s = 0; s < weights.cols; ++s) {
      if (!may_pair(kind, kind_of(attention.source_text, out.source[s])) || weights.at(t, s) < kLeast) continue;
      if (best == weights.cols || weights.at(t, s) > weights.at(t, best)) best = s;
    }
    if (best == weights.cols) continue;
    out.links.push_back(
        {static_cast<uint32_t>(best), static_cast<uint32_t>(t), static_cast<float>(weights.at(t, best))});
  }
}

// Links source words that no target word attends to most, like "have" in "I have" for "j'ai".
void link_left_over(const Attention& attention, const WordWeights& weights, Alignment& out) {
  constexpr double kShare = 0.5;  // of the weight of the target word's own link
  std::vector<double> own(weights.rows, 0.0);
  std::vector<bool> linked(weights.cols, false);
  for (const WordLink& link : out.links) {
    own[link.target] = static_cast<double>(link.weight);
    linked[link.source] = true;
  }
  for (size_t s = 0; s < weights.cols; ++s) {
    if (linked[s]) continue;
    const Kind kind = kind_of(attention.source_text, out.source[s]);
    size_t best = weights.rows;
    for (size_t t = 0; t < weights.rows; ++t) {
      if (!may_pair(kind, kind_of(attention.target_text, out.target[t]))) continue;
      if (best == weights.rows || weights.at(t, s) > weights.at(best, s)) best = t;
    }
    if (best == weights.rows || weights.at(best, s) <= kShare * own[best]) continue;
    out.links.push_back(
        {static_cast<uint32_t>(s), static_cast<uint32_t>(best), static_cast<float>(weights.at(best, s))});
  }
}

// Source and target have the same words.
Alignment align_kept(const Attention& attention) {
  Alignment out;
  out.source = find_words(attention.source_text, attention.kept->source, {});
  out.target = find_words(attention.target_text, attention.kept->target, {});
  for (uint32_t i = 0; i < std::min(out.source.size(), out.target.size()); ++i) out.links.push_back({i, i, 1});
  return out;
}

}  // namespace

std::vector<Word> find_words(std::string_view text, ByteRange range, std::span<const AttentionToken> tokens) {
  std::vector<Word> words;
  std::vector<uint64_t> begins;  // of tokens
  for (const AttentionToken& t : tokens) {
    if (!t.special) begins.push_back(t.bytes.begin);
  }
  std::sort(begins.begin(), begins.end());
  Part before = Part::blank;
  bool unspaced_before = false;
  for (uint64_t at = range.begin; at < range.end && at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const uint64_t next = at + c.bytes;
    Part part = part_of(c);
    if (part == Part::mark && joins(c.code) && before == Part::word && next < range.end && next < text.size() &&
        part_of(decode_utf8(text, next)) == Part::word) {
      part = Part::word;
    }
    const bool unspaced = unspaced_script(c.code);
    const bool new_token = (unspaced || unspaced_before) && std::binary_search(begins.begin(), begins.end(), at);
    if (part != Part::blank) {
      if (part != before || new_token) words.push_back({{at, next}});
      words.back().bytes.end = next;
    }
    before = part;
    unspaced_before = unspaced;
    at = next;
  }
  return words;
}

Result<Alignment> align(const Attention& attention, const AlignmentOptions& options) {
  if (attention.source_text.empty()) {
    return fail(ErrorCode::invalid_argument, "an alignment needs texts: ids alone have no words");
  }
  if (attention.kept) return align_kept(attention);
  Alignment out;
  out.source = find_words(attention.source_text, span_of(attention.source), attention.source);
  out.target = find_words(attention.target_text, span_of(attention.target), attention.target);
  LAPILLI_TRY(const auto map, attention.cross.select(options.layer, kAttentionMean));
  const WordWeights weights = word_weights(attention, map, out);
  link_targets(attention, weights, out);
  link_left_over(attention, weights, out);
  std::sort(out.links.begin(), out.links.end(), [](const WordLink& x, const WordLink& y) {
    return std::pair(x.target, x.source) < std::pair(y.target, y.source);
  });
  return out;
}

}  // namespace lapilli
