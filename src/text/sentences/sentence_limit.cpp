// Cuts overlong sentences, and joins translated sentences again.
#include <algorithm>

#include "text/sentences/abbreviations.hpp"
#include "text/sentences/conjunctions.hpp"
#include "text/sentences/neutral_text.hpp"
#include "text/sentences/sentence_class.hpp"
#include "text/sentences/sentences.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using enum SentenceClass;

struct LimitChar {
  uint64_t at;
  uint32_t code;
  SentenceClass kind;
  bool in_address;  // in a URL or an e-mail address, but not its first character
};

bool is_blank(SentenceClass kind) { return kind == space || kind == newline; }

// Quality of a position for cutting, in ascending order; positions of quality none are never used.
enum class Place : uint8_t { none, character, tied_blank, blank, conjunction, comma, clause };

// The quality of the position after a character that blanks follow, or nothing in scripts without white space. For full
// stops see Limiter::behind.
Place place_behind(const LimitChar& c) {
  switch (c.kind) {
    case continuing:
      return c.code == ':' || c.code == 0xFF1A ? Place::clause : c.code == '-' ? Place::none : Place::comma;
    case ellipsis:
    case terminator:
    case full: return Place::clause;
    case closing: return Place::comma;
    default: break;
  }
  const bool semicolon = c.code == ';' || c.code == 0xFF1B || c.code == 0x061B;
  if (semicolon) return Place::clause;
  return c.code == 0x0F0D || c.code == 0x104A ? Place::comma : Place::none;
}

// White space that ties its neighbours together.
bool ties(uint32_t code) { return code == 0xA0 || code == 0x202F || code == 0x2007; }

class Limiter {
 public:
  Limiter(std::string_view text, const SentenceLimit& limit, const CountTokens& count)
      : text_(text), limit_(limit), count_(count), language_(base_language(limit.language)) {}

  Result<std::vector<TextRange>> run(TextRange sentence) {
    read(sentence);
    std::vector<TextRange> pieces;
    size_t from = 0;
    while (from < chars_.size()) {
      if (is_blank(chars_[from].kind)) {
        ++from;
        continue;
      }
      LAPILLI_TRY(const size_t to, piece_end(from));
      size_t last = to;
      while (is_blank(chars_[last - 1].kind)) --last;
      pieces.push_back({at(from), at(last)});
      from = to;
    }
    return pieces;
  }

 private:
  void read(const TextRange& sentence) {
    end_ = sentence.end;
    const std::string_view part = text_.substr(sentence.begin, sentence.end - sentence.begin);
    if (language_.empty()) language_ = guess_language(part);
    for (uint64_t at = sentence.begin; at < end_;) {
      const CodePoint c = decode_utf8(text_, at);
      const SentenceClass kind = c.valid ? sentence_class(c.code) : other;
      if (kind != extend || chars_.empty()) chars_.push_back({at, c.code, kind, false});
      at += c.bytes;
    }
    auto c = chars_.begin();
    for (const TextRange& address : find_addresses(part)) {
      while (c != chars_.end() && c->at <= address.begin + sentence.begin) ++c;
      for (; c != chars_.end() && c->at < address.end + sentence.begin; ++c) c->in_address = true;
    }
  }

  [[nodiscard]] uint64_t at(size_t i) const { return i < chars_.size() ? chars_[i].at : end_; }
  [[nodiscard]] bool blank(size_t i) const { return i < chars_.size() && is_blank(chars_[i].kind); }

  Result<bool> fits(size_t from, size_t to, uint64_t budget) {
    LAPILLI_TRY(const uint64_t tokens, count_(text_.substr(at(from), at(to) - at(from))));
    return tokens <= budget;
  }

  // The most characters from `from` on that fit, at least one. Examines text of about the budget, not all of it.
  Result<size_t> longest(size_t from, uint64_t budget) {
    size_t low = from + 1, step = static_cast<size_t>(std::min<uint64_t>(budget, 1 << 20)) * 4 + 16;
    while (true) {
      const size_t high = std::min(low + step, chars_.size());
      LAPILLI_TRY(const bool fit, fits(from, high, budget));
      if (fit && high == chars_.size()) return high;
      if (!fit) {
        size_t over = high;
        while (over - low > 1) {
          const size_t middle = low + (over - low) / 2;
          LAPILLI_TRY(const bool middle_fits, fits(from, middle, budget));
          (middle_fits ? low : over) = middle;
        }
        return low;
      }
      low = high;
      step *= 2;
    }
  }

  [[nodiscard]] bool conjunction_at(size_t i) const {
    constexpr size_t kLongest = 12;  // characters
    size_t to = i;
    while (to < chars_.size() && to < i + kLongest && !is_blank(chars_[to].kind)) ++to;
    return is_conjunction(language_, text_.substr(at(i), at(to) - at(i)));
  }

  // The quality of a cut before character i, which exists.
  [[nodiscard]] Place place_before(size_t i) const {
    if (chars_[i].in_address || is_blank(chars_[i - 1].kind)) return Place::none;
    size_t next = i;
    while (blank(next)) ++next;
    if (next == chars_.size() || place_behind(chars_[next]) != Place::none) return Place::none;
    const Place mark = behind(i - 1);
    if (next == i) return unspaced(i) ? std::max(mark, Place::character) : Place::none;
    if (mark != Place::none) return mark;
    if (conjunction_at(next)) return Place::conjunction;
    return ties(chars_[i].code) ? Place::tied_blank : Place::blank;
  }
  // A full stop ends a clause unless it belongs to an abbreviation: text without capitals has sentences, too.
  [[nodiscard]] Place behind(size_t i) const {
    if (chars_[i].kind != dot) return place_behind(chars_[i]);
    constexpr size_t kLongest = 16;  // characters
    size_t begin = i;
    while (begin > 0 && i - begin < kLongest && !is_blank(chars_[begin - 1].kind)) --begin;
    const std::string_view word = text_.substr(at(begin), at(i) - at(begin));
    return i - begin < 2 || find_abbreviation(language_, word) != Abbreviation::none ? Place::tied_blank
                                                                                     : Place::clause;
  }
  [[nodiscard]] bool unspaced(size_t i) const {
    const LimitChar &before = chars_[i - 1], &after = chars_[i];
    return unspaced_script(before.code) && !(before.kind == digit && after.kind == digit);
  }

  // The best position in (from, most], if any: of the best quality, the one that makes pieces most equal. Positions
  // that leave a piece less than a third full are a last resort.
  [[nodiscard]] size_t good_cut(size_t from, size_t most) const {
    const size_t room = most - from, rest = chars_.size() - from, pieces = (rest + room - 1) / room;
    const size_t goal = from + rest / pieces;
    const auto distance = [&](size_t i) { return i > goal ? i - goal : goal - i; };
    Place best = Place::none;
    size_t cut = 0;
    for (size_t i = most; i > from + 1; --i) {
      const bool full_enough = (i - from) * 3 >= room;
      if (!full_enough && best != Place::none) break;
      const Place place = i < chars_.size() ? place_before(i) : Place::none;
      if (place == Place::none || place < best || (place == best && distance(i) >= distance(cut))) continue;
      best = place;
      cut = i;
    }
    return cut;
  }

  // End of the word or address that begins at `from`; `last` if that comes first.
  [[nodiscard]] size_t word_end(size_t from, size_t last) const {
    size_t i = from + 1;
    while (i < last && place_before(i) == Place::none) ++i;
    return i;
  }

  // Handles a word that is too long for a good piece.
  Result<size_t> long_word_end(size_t from) {
    // Bounds the search, however long the word is.
    const size_t reach = static_cast<size_t>(std::min<uint64_t>(limit_.most, 1 << 20)) * 4 + 16;
    const size_t end = word_end(from, from + std::min(reach, chars_.size() - from));
    LAPILLI_TRY(const bool fit, fits(from, end, limit_.most));
    if (fit) return end;
    LAPILLI_TRY(const size_t most, longest(from, limit_.most));
    return std::min(end, most);
  }

  Result<size_t> piece_end(size_t from) {
    LAPILLI_TRY(const size_t good, longest(from, limit_.good));
    if (good == chars_.size()) return good;
    for (size_t cut = good_cut(from, good); cut != 0; cut = good_cut(from, cut - 1)) {
      // Fewer characters may give more tokens.
      LAPILLI_TRY(const bool fit, fits(from, cut, limit_.good));
      if (fit) return cut;
    }
    return long_word_end(from);
  }

  std::string_view text_;
  const SentenceLimit& limit_;
  const CountTokens& count_;
  std::string language_;
  uint64_t end_ = 0;
  std::vector<LimitChar> chars_;
};

uint32_t first_code(std::string_view text) { return text.empty() ? 0 : decode_utf8(text, 0).code; }

uint32_t last_code(std::string_view text) {
  size_t at = text.size();
  while (at > 0 && text.size() - at < 4) {
    const CodePoint c = decode_utf8(text, --at);
    if (c.valid && at + c.bytes == text.size()) return c.code;
  }
  return 0;
}

}  // namespace

Result<std::vector<TextRange>> limit_sentence(std::string_view text, TextRange sentence, const SentenceLimit& limit,
                                              const CountTokens& count) {
  if (sentence.begin > sentence.end || sentence.end > text.size()) {
    return fail(ErrorCode::invalid_argument, "bytes %u to %u of a text of %u", sentence.begin, sentence.end,
                text.size());
  }
  return Limiter(text, limit, count).run(sentence);
}

std::string join_sentences(std::string_view text, std::span<const TextRange> sentences,
                           std::span<const std::string> pieces) {
  std::string out;
  uint64_t at = 0;
  for (size_t i = 0; i < sentences.size() && i < pieces.size(); ++i) {
    const std::string_view gap = text.substr(at, sentences[i].begin - at);
    const uint32_t before = last_code(out), after = first_code(pieces[i]);
    const bool spaced = before != 0 && after != 0 && !unspaced_script(before) && !unspaced_script(after) &&
                        !is_blank(sentence_class(before)) && !is_blank(sentence_class(after));
    if (i > 0 && gap.empty() && spaced) {
      out += ' ';
    } else {
      out += gap;
    }
    out += pieces[i];
    at = sentences[i].end;
  }
  return out.append(text.substr(at));
}

}  // namespace lapilli
