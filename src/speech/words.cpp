#include "speech/words.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "text/sentences/sentence_class.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::speech {

namespace {

using enum SentenceClass;

// Where in the text each id begins. Ids that only together are a character begin at the same byte.
Result<std::vector<size_t>> begins_of(const Segment& segment, const Tokenizer& tokenizer) {
  std::vector<size_t> begins;
  size_t at = 0;
  for (size_t k = 0; k < segment.ids.size(); ++k) {
    begins.push_back(at);
    LAPILLI_TRY(const auto text, tokenizer.decode(std::span(segment.ids).first(k + 1)));
    if (text.size() > at && std::string_view(segment.text).starts_with(text)) at = text.size();
  }
  return begins;
}

// What there is between two places where a word may end.
struct Piece {
  size_t begin = 0;
  bool word = false;     // a letter or a digit is in it
  bool opening = false;  // what is in it opens what follows
};

bool is_blank(SentenceClass k) { return k == space || k == newline; }
bool is_letter(SentenceClass k) { return k == lower || k == upper || k == letter || k == digit; }

std::vector<Piece> pieces_of(std::string_view text, const std::vector<size_t>& begins) {
  std::vector<Piece> pieces;
  bool behind_blank = true, behind_unspaced = false;
  bool quoted = false;  // since a quotation mark that stood behind a blank
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    const SentenceClass k = sentence_class(c.code);
    const bool unspaced = is_letter(k) && unspaced_script(c.code);
    const bool at_id = std::binary_search(begins.begin(), begins.end(), at);
    const bool breaks = !behind_blank && (is_blank(k) || (at_id && (unspaced || behind_unspaced)));
    if (breaks || pieces.empty()) pieces.push_back({at});
    Piece& now = pieces.back();
    now.word = now.word || is_letter(k);
    if (k == quote) quoted = behind_blank && !quoted;
    if (!is_blank(k) && !now.word) now.opening = k == opening || (k == quote && quoted);
    behind_blank = is_blank(k);
    behind_unspaced = unspaced;
    at += c.bytes;
  }
  return pieces;
}

// Where each word begins: signs by themselves are none.
std::vector<size_t> word_begins(const std::vector<Piece>& pieces) {
  std::vector<size_t> begins;
  bool joins_next = false;  // what came before opens this piece
  for (const Piece& p : pieces) {
    const bool alone = p.word || p.opening || begins.empty();
    if (alone && !joins_next) begins.push_back(p.begin);
    joins_next = !p.word && (p.opening || joins_next);
  }
  return begins;
}

double probability_of(const Segment& segment, const std::vector<size_t>& ids) {
  if (ids.empty() || segment.token_scores.size() != segment.ids.size()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const size_t k : ids) sum += std::exp(static_cast<double>(segment.token_scores[k]));
  return sum / static_cast<double>(ids.size());
}

// An id lasts until the next one; the last one as long as the segment.
Word word_of(const Segment& segment, std::string text, const std::vector<size_t>& ids) {
  Word w;
  w.text = std::move(text);
  w.probability = probability_of(segment, ids);
  w.begin = w.end = segment.end;
  if (ids.empty()) return w;
  w.first = ids.front();
  w.last = ids.back() + 1;
  w.begin = segment.times[w.first];
  if (w.last < segment.times.size()) w.end = segment.times[w.last];
  w.end = std::max(w.begin, w.end);
  return w;
}

}  // namespace

Result<std::vector<Word>> words_of(const Segment& segment, const Tokenizer& tokenizer, int32_t timestamp_begin) {
  if (segment.times.size() != segment.ids.size())
    return fail(ErrorCode::internal, "words: %zu times for %zu ids", segment.times.size(), segment.ids.size());
  LAPILLI_TRY(const auto ids, begins_of(segment, tokenizer));
  const std::vector<size_t> begins = word_begins(pieces_of(segment.text, ids));
  std::vector<Word> words;
  for (size_t i = 0; i < begins.size(); ++i) {
    const size_t end = i + 1 < begins.size() ? begins[i + 1] : segment.text.size();
    std::vector<size_t> own;
    for (size_t k = 0; k < ids.size(); ++k)
      if (segment.ids[k] < timestamp_begin && ids[k] >= begins[i] && ids[k] < end) own.push_back(k);
    words.push_back(word_of(segment, segment.text.substr(begins[i], end - begins[i]), own));
  }
  return words;
}

}  // namespace lapilli::speech
