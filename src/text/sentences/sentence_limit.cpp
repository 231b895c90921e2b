// Sentences that are too long, and what was sentences put together again.
#include <algorithm>

#include "text/sentences/sentence_class.hpp"
#include "text/sentences/sentences.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using enum SentenceClass;

struct Char {
  uint64_t at;
  uint32_t code;
  SentenceClass kind;
};

bool white(SentenceClass kind) { return kind == space || kind == newline; }

// Behind these a reader pauses.
bool clause_end(const Char& c) {
  switch (c.kind) {
    case continuing: return c.code != '-';
    case dot:
    case ellipsis:
    case terminator:
    case full:
    case closing: return true;
    default: return c.code == ';' || c.code == 0xFF1B || c.code == 0x061B || c.code == 0x0F0D || c.code == 0x104A;
  }
}

class Limiter {
 public:
  Limiter(std::string_view text, uint64_t budget, const CountTokens& count)
      : text_(text), budget_(budget), count_(count) {}

  Result<std::vector<TextRange>> run(TextRange sentence) {
    end_ = sentence.end;
    for (uint64_t at = sentence.begin; at < end_;) {
      const CodePoint c = decode_utf8(text_, at);
      const SentenceClass kind = c.valid ? sentence_class(c.code) : other;
      if (kind != extend || chars_.empty()) chars_.push_back({at, c.code, kind});
      at += c.bytes;
    }
    std::vector<TextRange> pieces;
    size_t from = 0;
    while (from < chars_.size()) {
      if (white(chars_[from].kind)) {
        ++from;
        continue;
      }
      LAPILLI_TRY(const size_t to, piece_end(from));
      size_t last = to;
      while (white(chars_[last - 1].kind)) --last;
      pieces.push_back({at(from), at(last)});
      from = to;
    }
    return pieces;
  }

 private:
  [[nodiscard]] uint64_t at(size_t i) const { return i < chars_.size() ? chars_[i].at : end_; }

  Result<bool> fits(size_t from, size_t to) {
    LAPILLI_TRY(const uint64_t tokens, count_(text_.substr(at(from), at(to) - at(from))));
    return tokens <= budget_;
  }

  // The most characters from `from` on that fit, at least one. Looks at pieces of about the budget, not at all of a
  // text.
  Result<size_t> longest(size_t from) {
    size_t low = from + 1, step = static_cast<size_t>(std::min<uint64_t>(budget_, 1 << 20)) * 4 + 16;
    while (true) {
      const size_t high = std::min(low + step, chars_.size());
      LAPILLI_TRY(const bool fit, fits(from, high));
      if (fit && high == chars_.size()) return high;
      if (!fit) {
        size_t over = high;
        while (over - low > 1) {
          const size_t middle = low + (over - low) / 2;
          LAPILLI_TRY(const bool middle_fits, fits(from, middle));
          (middle_fits ? low : over) = middle;
        }
        return low;
      }
      low = high;
      step *= 2;
    }
  }

  // Where to cut in (from, most]: see limit_sentence.
  [[nodiscard]] size_t good_cut(size_t from, size_t most) const {
    size_t blank = 0;
    for (size_t i = most; i > from + 1; --i) {
      const bool before_blank = i < chars_.size() && white(chars_[i].kind);
      const bool loose = before_blank || unspaced_script(chars_[i - 1].code);
      if (loose && clause_end(chars_[i - 1]) && (i - from) * 2 >= most - from) return i;
      if (blank == 0 && before_blank) blank = i;
      if (blank != 0 && (i - from) * 2 < most - from) break;
    }
    return blank != 0 ? blank : most;
  }

  Result<size_t> piece_end(size_t from) {
    LAPILLI_TRY(size_t most, longest(from));
    if (most == chars_.size()) return most;
    size_t cut = good_cut(from, most);
    // Fewer characters may be more tokens.
    LAPILLI_TRY(bool fit, fits(from, cut));
    while (!fit && cut > from + 1) {
      cut = good_cut(from, cut - 1);
      LAPILLI_TRY(fit, fits(from, cut));
    }
    return cut;
  }

  std::string_view text_;
  uint64_t budget_, end_ = 0;
  const CountTokens& count_;
  std::vector<Char> chars_;
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

Result<std::vector<TextRange>> limit_sentence(std::string_view text, TextRange sentence, uint64_t budget,
                                              const CountTokens& count) {
  if (sentence.begin > sentence.end || sentence.end > text.size()) {
    return fail(ErrorCode::invalid_argument, "bytes %llu to %llu of a text of %zu",
                static_cast<unsigned long long>(sentence.begin), static_cast<unsigned long long>(sentence.end),
                text.size());
  }
  return Limiter(text, budget, count).run(sentence);
}

std::string join_sentences(std::string_view text, std::span<const TextRange> sentences,
                           std::span<const std::string> pieces) {
  std::string out;
  uint64_t at = 0;
  for (size_t i = 0; i < sentences.size() && i < pieces.size(); ++i) {
    const std::string_view gap = text.substr(at, sentences[i].begin - at);
    const uint32_t before = last_code(out), after = first_code(pieces[i]);
    const bool spaced = before != 0 && after != 0 && !unspaced_script(before) && !unspaced_script(after) &&
                        !white(sentence_class(before)) && !white(sentence_class(after));
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
