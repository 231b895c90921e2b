#include "generate/encoders/answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "text/unicode/case_mapping.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {

namespace {

// Ids of a window, by default and at most, and those that it shares with the one before.
constexpr uint32_t kUsualWindow = 384, kUsualStride = 128;
constexpr size_t kSpansAtOnce = 1 << 16;

struct AnswerSpan {
  size_t first = 0, last = 0;  // rows of a window
  double score = 0;
};

// The probability of each row to be where an answer begins (column 0) or ends (1). Rows outside the text have none, but
// those of class tokens count in the sum.
std::vector<double> row_shares(const AnswerWindow& window, size_t column, int32_t cls) {
  const Encoding& e = *window.encoding;
  std::vector<double> shares(e.ids.size());
  const auto takes_part = [&](size_t i) { return e.texts[i] == 0 || (cls >= 0 && e.ids[i] == cls); };
  double highest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (size_t i = 0; i < shares.size(); ++i)
    if (takes_part(i)) highest = std::max(highest, double{window.logits[2 * i + column]});
  for (size_t i = 0; i < shares.size(); ++i) {
    if (takes_part(i)) shares[i] = std::exp(window.logits[2 * i + column] - highest);
    sum += shares[i];
  }
  for (double& share : shares) share /= sum;
  return shares;
}

bool is_better_span(const AnswerSpan& a, const AnswerSpan& b) {
  return std::pair(-a.score, std::pair(a.first, a.last)) < std::pair(-b.score, std::pair(b.first, b.last));
}

void keep_best_spans(std::vector<AnswerSpan>& spans, size_t most) {
  const size_t kept = std::min(most, spans.size());
  std::partial_sort(spans.begin(), spans.begin() + static_cast<ptrdiff_t>(kept), spans.end(), is_better_span);
  spans.resize(kept);
}

// The best spans of a window. A span without any probability is none.
std::vector<AnswerSpan> best_spans(const Encoding& e, const std::vector<double>& begins,
                                   const std::vector<double>& ends, size_t most, uint32_t most_tokens) {
  std::vector<AnswerSpan> spans;
  for (size_t i = 0; i < begins.size(); ++i) {
    if (e.texts[i] != 0) continue;
    if (spans.size() > 2 * most + kSpansAtOnce) keep_best_spans(spans, most);
    for (size_t j = i; j < std::min<size_t>(begins.size(), i + most_tokens); ++j) {
      const AnswerSpan span{i, j, begins[i] * ends[j]};
      if (e.texts[j] == 0 && span.score > 0) spans.push_back(span);
    }
  }
  keep_best_spans(spans, most);
  return spans;
}

// The bytes of a span; with `words` those of whole words, as far as the window has them.
ByteRange answer_bytes(const Encoding& e, AnswerSpan span, bool words) {
  const auto goes_on = [&](size_t from, size_t to) {
    return words && e.texts[to] == 0 && e.words[from] >= 0 && e.words[to] == e.words[from];
  };
  while (span.first > 0 && goes_on(span.first, span.first - 1)) --span.first;
  while (span.last + 1 < e.ids.size() && goes_on(span.last, span.last + 1)) ++span.last;
  return {e.offsets[span.first].begin, e.offsets[span.last].end};
}

std::string folded_answer(std::string_view text) {
  std::vector<char32_t> codes;
  for (size_t at = 0; at < text.size();) codes.push_back(next_character(text, at));
  std::string lower;
  for (const CasedCharacter& c : lower_case(codes)) append_utf8(lower, c.character);
  return lower;
}

// Gathers the answers of all windows; one that was found before adds its score to the first find.
class FoundAnswers {
 public:
  explicit FoundAnswers(std::string_view text) : text_(text) {}
  void add(ByteRange bytes, double score) {
    bytes.end = std::max(bytes.begin, bytes.end);
    std::string answer(text_.substr(bytes.begin, bytes.end - bytes.begin));
    const auto [place, is_new] = places_.try_emplace(folded_answer(answer), answers_.size());
    if (is_new) return answers_.push_back({score, bytes, std::move(answer)});
    answers_[place->second].score += score;
  }
  void add_empty(double score) { answers_.push_back({score, {}, ""}); }
  std::vector<Answer> best(size_t most) && {
    std::stable_sort(answers_.begin(), answers_.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
    if (answers_.size() > most) answers_.resize(most);
    return std::move(answers_);
  }

 private:
  std::string_view text_;
  std::vector<Answer> answers_;
  std::unordered_map<std::string, size_t> places_;  // by text in lower case
};

// The row that stands for no answer.
size_t empty_row(const Encoding& e, int32_t cls) {
  const auto found = std::find(e.ids.begin(), e.ids.end(), cls);
  return cls < 0 || found == e.ids.end() ? 0 : static_cast<size_t>(found - e.ids.begin());
}

}  // namespace

WindowOptions usual_answer_windows(uint32_t limit) {
  const uint32_t most = limit == 0 ? kUsualWindow : std::min(limit, kUsualWindow);
  return {most, std::min(most / 2, kUsualStride)};
}

std::vector<Answer> best_answers(std::string_view text, std::span<const AnswerWindow> windows, int32_t cls,
                                 const AnswerOptions& options) {
  const size_t top = options.top, of_window = options.align_to_words ? 2 * top + 10 : top;
  double empty = std::numeric_limits<double>::infinity();
  FoundAnswers found(text);
  for (const AnswerWindow& window : windows) {
    const Encoding& e = *window.encoding;
    if (e.ids.empty()) continue;
    auto begins = row_shares(window, 0, cls), ends = row_shares(window, 1, cls);
    const size_t none = empty_row(e, cls);
    empty = std::min(empty, begins[none] * ends[none]);
    begins[none] = ends[none] = 0;
    for (const AnswerSpan& span : best_spans(e, begins, ends, of_window, options.most_tokens))
      found.add(answer_bytes(e, span, options.align_to_words), span.score);
  }
  if (options.allow_empty && std::isfinite(empty)) found.add_empty(empty);
  return std::move(found).best(top);
}

}  // namespace lapilli
