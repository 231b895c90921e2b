#include "speech/words.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace lapilli::speech {

namespace {

constexpr std::string_view kUnreadable = "\xef\xbf\xbd";  // U+FFFD: an incomplete character
constexpr std::string_view kMarks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

constexpr std::array<std::string_view, 8> kOpening = {"\"", "'", "\xe2\x80\x9c", "\xc2\xbf", "(", "[", "{", "-"};
constexpr std::array<std::string_view, 17> kClosing = {"\"",
                                                       "'",
                                                       ".",
                                                       "\xe3\x80\x82",
                                                       ",",
                                                       "\xef\xbc\x8c",
                                                       "!",
                                                       "\xef\xbc\x81",
                                                       "?",
                                                       "\xef\xbc\x9f",
                                                       ":",
                                                       "\xef\xbc\x9a",
                                                       "\xe2\x80\x9d",
                                                       ")",
                                                       "]",
                                                       "}",
                                                       "\xe3\x80\x81"};

bool has_spaces(const std::string& language) {
  constexpr std::array<std::string_view, 6> kWithout = {"<|zh|>", "<|ja|>", "<|th|>", "<|lo|>", "<|my|>", "<|yue|>"};
  return std::find(kWithout.begin(), kWithout.end(), language) == kWithout.end();
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Ids [first, last) of a segment.
struct Fragment {
  std::string text;
  size_t first = 0, last = 0;
};

class WordSplitter {
 public:
  WordSplitter(const TimedIds& timed, const WordRules& rules) : timed_(timed), rules_(rules) {}

  Result<std::vector<Word>> split() {
    LAPILLI_CHECK(rules_.tokenizer ? characters() : single_ids());
    if (rules_.tokenizer && has_spaces(rules_.language)) join_to_words();
    std::vector<Word> words;
    for (const Fragment& p : fragments_) words.push_back(word(p));
    return words;
  }

 private:
  [[nodiscard]] bool is_text(size_t i) const { return timed_.ids[i] < rules_.first_special; }

  Status single_ids() {
    for (size_t i = 0; i < timed_.ids.size(); ++i)
      if (is_text(i)) fragments_.push_back({"", i, i + 1});
    return {};
  }

  // Splits into the fewest ids that give whole characters; U+FFFD counts as whole if the full text has it too.
  Status characters() {
    std::vector<int32_t> text_ids;
    for (size_t i = 0; i < timed_.ids.size(); ++i)
      if (is_text(i)) text_ids.push_back(timed_.ids[i]);
    LAPILLI_TRY(const std::string all, rules_.tokenizer->decode(text_ids));
    std::vector<int32_t> run;
    size_t begin = 0, at = 0;  // the run's first id; bytes of the text before it
    for (size_t i = 0; i < timed_.ids.size(); ++i) {
      if (!is_text(i)) continue;
      if (run.empty()) begin = i;
      run.push_back(timed_.ids[i]);
      text_ids.pop_back();
      LAPILLI_TRY(std::string text, rules_.tokenizer->decode(run));
      const size_t bad = text.find(kUnreadable);
      const bool whole = bad == text.npos || all.compare(at + bad, kUnreadable.size(), kUnreadable) == 0;
      if (!whole && !text_ids.empty()) continue;
      at += text.size();
      fragments_.push_back({std::move(text), begin, i + 1});
      run.clear();
    }
    return {};
  }

  void join_to_words() {
    std::vector<Fragment> words;
    for (Fragment& p : fragments_) {
      const bool begins = p.text.starts_with(' ') || kMarks.find(p.text) != kMarks.npos;
      if (words.empty() || (begins && !trimmed(words.back().text).empty())) {
        words.push_back(std::move(p));
      } else {
        words.back().text += p.text;
        words.back().last = p.last;
      }
    }
    fragments_ = std::move(words);
  }

  // A word begins at the time of the id before its first.
  [[nodiscard]] Word word(const Fragment& p) const {
    Word w;
    w.text = p.text;
    w.ids.assign(timed_.ids.begin() + static_cast<ptrdiff_t>(p.first),
                 timed_.ids.begin() + static_cast<ptrdiff_t>(p.last));
    w.first = p.first;
    w.last = p.last;
    w.begin = p.first > 0 ? timed_.times[p.first - 1] : timed_.begin;
    w.end = std::max(timed_.times[p.last - 1], w.begin);
    for (size_t i = p.first; i < p.last; ++i) w.confidence += static_cast<double>(timed_.probabilities[i]);
    w.confidence /= static_cast<double>(p.last - p.first);
    return w;
  }

  const TimedIds& timed_;
  const WordRules& rules_;
  std::vector<Fragment> fragments_;
};

template <class Marks>
bool is_one_of(const Marks& marks, std::string_view text) {
  return std::find(marks.begin(), marks.end(), text) != marks.end();
}

// Moves text and ids of `mark` to `word`, in front or behind.
void take(Word& word, Word& mark, bool in_front) {
  word.text = in_front ? mark.text + word.text : word.text + mark.text;
  word.ids.insert(in_front ? word.ids.begin() : word.ids.end(), mark.ids.begin(), mark.ids.end());
  mark = {};
}

void join_punctuation(std::vector<Word>& words) {
  for (size_t i = words.size(), next = i; i-- > 0;) {
    const bool opens = words[i].text.starts_with(' ') && is_one_of(kOpening, trimmed(words[i].text));
    if (opens && next < words.size())
      take(words[next], words[i], true);
    else
      next = i;
  }
  std::erase_if(words, [](const Word& w) { return w.ids.empty(); });
  for (size_t i = 0, before = words.size(); i < words.size(); ++i) {
    if (before < words.size() && !words[before].text.ends_with(' ') && is_one_of(kClosing, words[i].text))
      take(words[before], words[i], false);
    else
      before = i;
  }
  std::erase_if(words, [](const Word& w) { return w.ids.empty(); });
}

}  // namespace

Result<std::vector<Word>> words_of(const TimedIds& timed, const WordRules& rules) {
  if (timed.times.size() != timed.ids.size() || timed.probabilities.size() != timed.ids.size())
    return fail(ErrorCode::internal, "%u ids with %u times and %u probabilities", timed.ids.size(), timed.times.size(),
                timed.probabilities.size());
  LAPILLI_TRY(auto words, WordSplitter(timed, rules).split());
  if (rules.tokenizer) join_punctuation(words);
  return words;
}

}  // namespace lapilli::speech
