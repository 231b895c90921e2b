#include "text/sentences/sentences.hpp"

#include <algorithm>

#include "text/sentences/abbreviations.hpp"
#include "text/sentences/sentence_class.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using enum SentenceClass;

// A character with the marks that follow it.
struct Char {
  uint64_t at;
  uint32_t code;
  SentenceClass kind;
  bool marked;  // marks follow: marked white space counts as text
};

// In Greek a semicolon is a question mark.
std::vector<Char> read_chars(std::string_view text, bool greek) {
  std::vector<Char> chars;
  chars.reserve(text.size());
  for (uint64_t at = 0; at < text.size();) {
    const CodePoint c = decode_utf8(text, at);
    SentenceClass kind = c.valid ? sentence_class(c.code) : other;
    if (c.code == ';' && greek) kind = terminator;
    if (kind != extend || chars.empty() || chars.back().kind == newline) {
      chars.push_back({at, c.code, kind, false});
    } else {
      chars.back().marked = true;
    }
    at += c.bytes;
  }
  return chars;
}

bool cased(SentenceClass kind) { return kind == lower || kind == upper; }
bool letters(SentenceClass kind) { return cased(kind) || kind == letter; }
bool white(SentenceClass kind) { return kind == space || kind == newline; }
// Dots are ambiguous (abbreviations, numbers); other terminators are not.
bool dotted(SentenceClass kind) { return kind == dot || kind == ellipsis; }
bool ends(SentenceClass kind) { return dotted(kind) || kind == terminator || kind == full; }

class Splitter {
 public:
  Splitter(std::string_view text, const SentenceOptions& options)
      : text_(text), options_(options), language_(base_language(options.language)) {
    if (language_.empty() && !options.unicode_only) language_ = guess_language(text);
    chars_ = read_chars(text, language_ == "el");
  }

  std::vector<TextRange> split() {
    for (size_t i = 0; i < size();) {
      i = ends(kind(i)) ? terminator_at(i) : white(kind(i)) ? white_at(i) : i + 1;
    }
    cut(size());
    return std::move(sentences_);
  }

 private:
  [[nodiscard]] size_t size() const { return chars_.size(); }
  // `other` beyond the end.
  [[nodiscard]] SentenceClass kind(size_t i) const { return i < size() ? chars_[i].kind : other; }
  [[nodiscard]] uint32_t code(size_t i) const { return i < size() ? chars_[i].code : 0; }
  [[nodiscard]] uint64_t at(size_t i) const { return i < size() ? chars_[i].at : text_.size(); }
  [[nodiscard]] std::string_view between(size_t from, size_t to) const {
    return text_.substr(at(from), at(to) - at(from));
  }
  [[nodiscard]] bool at_end(size_t i) const { return i >= size(); }

  [[nodiscard]] bool blank(size_t i) const { return white(kind(i)) && !chars_[i].marked; }

  // Ends the sentence before character i.
  void cut(size_t i) {
    size_t from = start_, to = i;
    while (from < to && blank(from)) ++from;
    while (to > from && blank(to - 1)) --to;
    if (from < to) sentences_.push_back({at(from), at(to)});
    start_ = i;
  }

  // CR LF counts as one.
  [[nodiscard]] size_t newlines(size_t from, size_t to) const {
    size_t n = 0;
    for (size_t i = from; i < to; ++i) {
      if (kind(i) == newline && !(code(i) == '\n' && i > from && code(i - 1) == '\r')) ++n;
    }
    return n;
  }
  [[nodiscard]] size_t skip_white(size_t i) const {
    while (white(kind(i))) ++i;
    return i;
  }
  [[nodiscard]] size_t skip_spaces(size_t i) const {
    while (kind(i) == space) ++i;
    return i;
  }

  // Handles white space from i on; returns where to continue.
  size_t white_at(size_t i) {
    if (options_.unicode_only) {
      const size_t at_newline = skip_spaces(i);
      if (kind(at_newline) != newline) return at_newline;
      const size_t next = at_newline + (code(at_newline) == '\r' && code(at_newline + 1) == '\n' ? 2 : 1);
      cut(next);
      return next;
    }
    const size_t next = skip_white(i);
    if (line_ends_sentence(i, next)) cut(next);
    return next;
  }

  [[nodiscard]] bool line_ends_sentence(size_t from, size_t next) {
    const size_t n = newlines(from, next);
    if (n != 1 || at_end(next)) return n > 1;
    if (options_.line_breaks != LineBreaks::guess) return options_.line_breaks == LineBreaks::end;
    if (list_mark_at(next)) return true;
    size_t first = next;
    while (kind(first) == opening || kind(first) == quote) ++first;
    if (kind(first) == lower) return false;
    return !wrapped(from, next);
  }

  // "- ", "* ", "3. ", "b) ": the start of a list item.
  [[nodiscard]] bool list_mark_at(size_t i) const {
    const uint32_t c = code(i);
    if (c == '-' || c == '*' || c == '+' || (c >= 0x2010 && c <= 0x2015) || c == 0x2022 || c == 0x2023 || c == 0x25CF ||
        c == 0x25AA || c == 0x00B7) {
      return kind(i + 1) == space;
    }
    size_t k = i;
    while (kind(k) == digit && k < i + 3) ++k;
    if (k == i && cased(kind(k))) ++k;
    return k > i && (code(k) == '.' || code(k) == ')') && kind(k + 1) == space;
  }

  // True if the line that ends at `from` is as full as its paragraph allows: the next line's first word would not have
  // fitted.
  [[nodiscard]] bool wrapped(size_t from, size_t next) {
    constexpr uint64_t kNarrow = 40;  // characters; narrower lines are titles, verses, items
    if (next >= paragraph_end_) measure_paragraph(from);
    if (widest_ < kNarrow) return false;
    size_t begin = from;
    while (begin > 0 && kind(begin - 1) != newline) --begin;
    size_t word = next;
    while (word < size() && !white(kind(word)) && word < next + widest_) {
      if (unspaced_script(code(word++))) break;
    }
    return (from - begin) + 1 + (word - next) > widest_;
  }

  // Finds the widest line from the one with i up to an empty line.
  void measure_paragraph(size_t i) {
    while (i > 0 && kind(i - 1) != newline) --i;
    widest_ = 0;
    while (i < size()) {
      size_t end = i;
      while (end < size() && kind(end) != newline) ++end;
      size_t last = end;
      while (last > i && kind(last - 1) == space) --last;
      widest_ = std::max<uint64_t>(widest_, last - i);
      const size_t next = skip_white(end);
      paragraph_end_ = next;
      if (newlines(end, next) != 1) break;
      i = next;
    }
    if (at_end(paragraph_end_)) paragraph_end_ = size() + 1;
  }

  // Handles the terminator at i: cuts if a sentence ends there; returns where to continue.
  size_t terminator_at(size_t i) {
    bool closed = false;
    const size_t close = closers(i + 1, i, closed);
    const size_t next = options_.unicode_only ? skip_unicode_gap(close) : skip_white(close);
    const SentenceClass after = kind(next);
    const bool new_line = newlines(close, next) > 0;
    if (!new_line && (ends(after) || after == continuing)) return std::max(next, i + 1);
    if (at_end(next)) return next;
    const bool lines = new_line && !options_.unicode_only;
    const bool ended = new_line && options_.unicode_only ? true : sentence_ends(i, close, next, closed);
    if (ended || (lines && line_ends_sentence(close, next))) cut(next);
    return next;
  }

  // UAX #29: Sp* ParaSep?
  [[nodiscard]] size_t skip_unicode_gap(size_t i) const {
    i = skip_spaces(i);
    if (code(i) == '\r' && code(i + 1) == '\n') return i + 2;
    return kind(i) == newline ? i + 1 : i;
  }

  // The end of closing characters from i on, after the terminator at `term`; sets `closed` if there are any.
  [[nodiscard]] size_t closers(size_t i, size_t term, bool& closed) const {
    while (true) {
      const SentenceClass k = kind(i);
      bool closes = k == closing || k == quote;
      if (k == opening) closes = options_.unicode_only || code(i) == 0x201E;
      // After a terminator that needs no white space, an opening quote in these scripts begins the next sentence.
      if (kind(term) == full && !options_.unicode_only && (code(i) == 0x201C || code(i) == 0x2018 || code(i) == 0xAB))
        closes = false;
      if (closes) {
        closed = true;
        ++i;
      } else if (const size_t note = note_at(i); note > i && !options_.unicode_only) {
        i = note;
      } else if (const size_t late = late_closer(i); late > i && !options_.unicode_only) {
        closed = true;
        i = late;
      } else {
        return i;
      }
    }
  }

  // "[12]", a note mark; returns its end, or i.
  [[nodiscard]] size_t note_at(size_t i) const {
    if (code(i) != '[') return i;
    size_t k = i + 1;
    while (k < i + 4 && (kind(k) == digit || kind(k) == lower)) ++k;
    return k > i + 1 && code(k) == ']' ? k + 1 : i;
  }

  // A closing quotation mark after white space, as in French; returns its end, or i.
  [[nodiscard]] size_t late_closer(size_t i) const {
    if (kind(i) != space) return i;
    const size_t k = skip_spaces(i);
    if (kind(k) != closing && code(k) != 0xBB && code(k) != 0x203A && code(k) != 0x201D) return i;
    const SentenceClass after = kind(k + 1);
    return at_end(k + 1) || white(after) || ends(after) || after == continuing || after == closing ? k + 1 : i;
  }

  // Terminator at `term`, closing characters up to `close`, white space up to `next`, which exists.
  [[nodiscard]] bool sentence_ends(size_t term, size_t close, size_t next, bool closed) const {
    const SentenceClass k = kind(term), after = kind(next);
    const bool spaced = next > close;
    if (options_.unicode_only && k == ellipsis) return false;
    if (k == dot && close == term + 1 && !spaced) {
      if (after == digit) return false;                                       // SB6
      if (after == upper && term > 0 && cased(kind(term - 1))) return false;  // SB7
    }
    if (dotted(k) && lower_follows(next)) return false;  // SB8
    if (options_.unicode_only) return true;
    if (k == full) {
      // In Japanese a particle continues the sentence after a quotation.
      return !(closed && !spaced && code(next) >= 0x3041 && code(next) <= 0x3096);
    }
    if (!spaced)
      return k != ellipsis && after == letter && unspaced_script(code(next)) && (k != dot || kind(term - 1) == letter);
    if (k == terminator) return !(closed && after == lower);
    return k == ellipsis || closed || !suppressed(term, next);
  }

  // SB8: a small letter comes before any other letter or terminator.
  [[nodiscard]] bool lower_follows(size_t i) const {
    while (i < size() && !letters(kind(i)) && kind(i) != newline && !ends(kind(i))) ++i;
    return kind(i) == lower;
  }

  [[nodiscard]] std::string_view word_at(size_t i) const {
    while (kind(i) == quote || kind(i) == opening) ++i;
    size_t end = i;
    while (letters(kind(end))) ++end;
    return between(i, end);
  }

  // True if the full stop at `term`, before white space and the text at `next`, belongs to an abbreviation, an initial,
  // an ordinal or an item's number.
  [[nodiscard]] bool suppressed(size_t term, size_t next) const {
    constexpr size_t kLongest = 32;
    size_t begin = term;
    while (begin > start_ && term - begin < kLongest && in_word(begin - 1)) --begin;
    if (begin == term) return false;
    if (first_word(begin) && item_number(begin, term)) return true;
    const std::string_view word = between(begin, term);
    const bool starter = begins_sentence(language_, word_at(next));
    const Abbreviation found = abbreviation(begin, term);
    if (found == Abbreviation::always) return true;
    if (found == Abbreviation::before_number && kind(next) == digit) return true;
    if (found == Abbreviation::maybe && !starter) return true;
    if (starter) return false;
    if (kind(begin) == digit) {
      return dotted_ordinals(language_, true) && term - begin <= 2 && all(begin, term, digit) && kind(next) == upper;
    }
    if (roman(word) && word.size() > 1) return dotted_ordinals(language_, false);
    const bool spaced_out = term - begin == 1 && cased(kind(next)) && kind(next + 1) == dot;  // "z. B."
    return spaced_out || initial(begin, term) || dotted_letters(begin, term);
  }

  [[nodiscard]] bool in_word(size_t i) const {
    const SentenceClass k = kind(i);
    return letters(k) || k == digit || k == dot || code(i) == '-' || code(i) == 0x2019 || code(i) == '\'' ||
           code(i) == '/' || code(i) == '@' || code(i) == ':' || code(i) == 0xB0;
  }
  [[nodiscard]] bool all(size_t from, size_t to, SentenceClass k) const {
    return std::all_of(chars_.begin() + static_cast<ptrdiff_t>(from), chars_.begin() + static_cast<ptrdiff_t>(to),
                       [k](const Char& c) { return c.kind == k; });
  }
  [[nodiscard]] bool first_word(size_t begin) const {
    size_t i = start_;
    while (i < begin && i < start_ + 16 && !letters(kind(i)) && kind(i) != digit) ++i;
    return i == begin;
  }
  [[nodiscard]] bool item_number(size_t begin, size_t end) const {
    const std::string_view word = between(begin, end);
    return end - begin <= 3 && (all(begin, end, digit) || roman(word) || (end - begin == 1 && cased(kind(begin))));
  }
  static bool roman(std::string_view word) {
    return !word.empty() && word.size() <= 7 && word.find_first_not_of("IVXLCDM") == std::string_view::npos;
  }

  // Looks up the whole word, or its part after the last hyphen or apostrophe ("l'av.").
  [[nodiscard]] Abbreviation abbreviation(size_t begin, size_t end) const {
    if (const auto found = find_abbreviation(language_, between(begin, end)); found != Abbreviation::none) return found;
    for (size_t i = end; i > begin + 1; --i) {
      if (code(i - 1) != '-' && code(i - 1) != '\'' && code(i - 1) != 0x2019) continue;
      return find_abbreviation(language_, between(i, end));
    }
    return Abbreviation::none;
  }

  // "J." of "J. R. R. Tolkien", but not the "I" of "So do I."
  [[nodiscard]] bool initial(size_t begin, size_t end) const {
    if (end - begin != 1 || kind(begin) != upper) return false;
    if (code(begin) != 'I') return true;
    size_t i = begin;
    while (i > start_ && white(kind(i - 1))) --i;
    while (i > start_ && in_word(i - 1)) --i;
    return i == begin || kind(i) == upper;
  }

  // "U.S", "z.B", "Ph.D": full stops inside, few letters between them.
  [[nodiscard]] bool dotted_letters(size_t begin, size_t end) const {
    size_t run = 0, dots = 0;
    for (size_t i = begin; i < end; ++i) {
      if (kind(i) == dot) {
        if (run == 0) return false;
        run = 0;
        ++dots;
      } else if (!letters(kind(i)) || ++run > 2) {
        return false;
      }
    }
    return dots > 0 && run > 0;
  }

  std::string_view text_;
  const SentenceOptions& options_;
  std::vector<Char> chars_;
  std::string language_;
  size_t start_ = 0;  // of the current sentence
  size_t paragraph_end_ = 0;
  uint64_t widest_ = 0;
  std::vector<TextRange> sentences_;
};

}  // namespace

std::vector<TextRange> split_sentences(std::string_view text, const SentenceOptions& options) {
  return Splitter(text, options).split();
}

}  // namespace lapilli
