#include "jinja/tokens.hpp"

#include <algorithm>
#include <array>

#include "jinja/python_text.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::jinja {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
// Letters outside of ASCII are taken for parts of names.
bool in_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
uint32_t hex_digit(char c) {
  return static_cast<uint32_t>(is_digit(c) ? c - '0' : (c >= 'a' ? c - 'a' : c - 'A') + 10);
}

std::string with_unix_lines(std::string_view source) {
  std::string out;
  for (size_t i = 0; i < source.size(); ++i) {
    out += source[i] == '\r' ? '\n' : source[i];
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

// The text of a literal between its quotes.
class Unescaped {
 public:
  explicit Unescaped(std::string_view raw) : raw_(raw) {}

  Result<std::string> text() {
    while (at_ < raw_.size()) {
      if (raw_[at_] != '\\' || at_ + 1 == raw_.size())
        out_ += raw_[at_++];
      else
        LAPILLI_CHECK(escape());
    }
    return std::move(out_);
  }

 private:
  Status escape() {
    const char c = raw_[at_ + 1];
    constexpr std::string_view kLetters = "\\'\"abfnrtv", kMeanings = "\\'\"\a\b\f\n\r\t\v";
    if (const size_t known = kLetters.find(c); known != kLetters.npos) {
      out_ += kMeanings[known];
      at_ += 2;
      return {};
    }
    if (c == '\n') return skip(2);
    if (c >= '0' && c <= '7') return octal();
    if (c == 'x') return number(2);
    if (c == 'u') return number(4);
    if (c == 'U') return number(8);
    if (c == 'N') return fail(ErrorCode::unsupported, "names of characters (\\N{...}) are not read");
    out_ += '\\';
    return skip(1);
  }

  Status skip(size_t bytes) {
    at_ += bytes;
    return {};
  }

  Status octal() {
    uint32_t code = 0;
    size_t end = at_ + 1;
    while (end < raw_.size() && end < at_ + 4 && raw_[end] >= '0' && raw_[end] <= '7')
      code = code * 8 + hex_digit(raw_[end++]);
    at_ = end;
    return add(code);
  }

  Status number(size_t digits) {
    uint32_t code = 0;
    for (size_t i = at_ + 2; i < at_ + 2 + digits; ++i) {
      if (i >= raw_.size() || !is_hex(raw_[i]))
        return fail(ErrorCode::invalid_data, "an escape of a text is cut short");
      code = code << 4 | hex_digit(raw_[i]);
    }
    at_ += 2 + digits;
    return add(code);
  }

  Status add(uint32_t code) {
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
      return fail(ErrorCode::invalid_data, "an escape of a text stands for no character");
    append_utf8(out_, static_cast<char32_t>(code));
    return {};
  }

  std::string_view raw_;
  std::string out_;
  size_t at_ = 0;
};

class Cutter {
 public:
  explicit Cutter(std::string source) : source_(std::move(source)) {}

  Result<std::vector<Token>> cut() {
    while (at_ < source_.size()) {
      const auto status = next();
      if (!status) return Error(status.error()).in("line " + std::to_string(line_));
    }
    add(TokenKind::end, {});
    return std::move(tokens_);
  }

 private:
  // A text up to the next brackets, and what stands in these.
  Status next() {
    const size_t begin = opening(at_);
    if (begin == source_.npos) {
      add_text(source_.substr(at_));
      at_ = source_.size();
      return {};
    }
    const char sign = source_[std::min(begin + 2, source_.size() - 1)];
    const bool signed_ = begin + 2 < source_.size() && (sign == '-' || sign == '+');
    add_text(before_block(source_.substr(at_, begin - at_), signed_ ? sign : ' ', source_[begin + 1] == '{'));
    advance(begin + (signed_ ? 3 : 2));
    switch (source_[begin + 1]) {
      case '#': return comment();
      case '{': return expression(TokenKind::begin_output, "}}");
      default: return is_raw() ? raw() : expression(TokenKind::begin_block, "%}");
    }
  }

  [[nodiscard]] size_t opening(size_t from) const {
    for (size_t at = source_.find('{', from); at != source_.npos; at = source_.find('{', at + 1))
      if (at + 1 < source_.size() && std::string_view("{%#").find(source_[at + 1]) != std::string_view::npos) return at;
    return source_.npos;
  }

  // `sign` goes before all; else blanks before a block that begins a line go.
  [[nodiscard]] std::string before_block(std::string text, char sign, bool output) const {
    if (sign == '-') return stripped(text, Side::right);
    if (sign == '+' || output) return text;
    const size_t line = text.rfind('\n') + 1;  // 0: there is none
    if (line == 0 && !line_starts_) return text;
    return jinja::trimmed(std::string_view(text).substr(line), Side::left).empty() ? text.substr(0, line) : text;
  }

  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  void add_text(std::string text) {
    if (!text.empty()) add(TokenKind::text, std::move(text));
  }
  void advance(size_t to) {
    line_ += static_cast<uint32_t>(
        std::count(source_.begin() + static_cast<ptrdiff_t>(at_), source_.begin() + static_cast<ptrdiff_t>(to), '\n'));
    at_ = to;
  }

  [[nodiscard]] bool stands(std::string_view what, size_t at) const {
    return std::string_view(source_).substr(std::min(at, source_.size())).starts_with(what);
  }
  [[nodiscard]] size_t behind_blanks(size_t at) const {
    const std::string_view rest = std::string_view(source_).substr(at);
    return source_.size() - jinja::trimmed(rest, Side::left).size();
  }

  // Behind a closing bracket at `at`: what its sign takes away.
  void close(size_t at, char sign, bool takes_newline) {
    size_t to = at + 2;
    if (sign == '-')
      to = behind_blanks(to);
    else if (sign != '+' && takes_newline && stands("\n", to))
      ++to;
    advance(to);
    line_starts_ = to > 0 && source_[to - 1] == '\n';
  }

  Status comment() {
    const size_t end = source_.find("#}", at_);
    if (end == source_.npos) return fail(ErrorCode::invalid_data, "a comment does not end");
    close(end, end > at_ ? source_[end - 1] : ' ', true);
    return {};
  }

  [[nodiscard]] size_t raw_end(std::string_view word, size_t from) const {
    const size_t at = behind_blanks(from);
    if (!stands(word, at)) return source_.npos;
    size_t end = behind_blanks(at + word.size());
    if (stands("-", end) || stands("+", end)) ++end;
    return stands("%}", end) ? end : source_.npos;
  }
  [[nodiscard]] bool is_raw() const { return raw_end("raw", at_) != source_.npos; }

  Status raw() {
    const size_t head = raw_end("raw", at_);
    close(head, source_[head - 1] == '-' ? '-' : ' ', false);
    for (size_t at = source_.find("{%", at_); at != source_.npos; at = source_.find("{%", at + 1)) {
      const bool signed_ = stands("-", at + 2) || stands("+", at + 2);
      const size_t end = raw_end("endraw", at + (signed_ ? 3 : 2));
      if (end == source_.npos) continue;
      add_text(before_block(source_.substr(at_, at - at_), signed_ ? source_[at + 2] : ' ', false));
      close(end, source_[end - 1], true);
      return {};
    }
    return fail(ErrorCode::invalid_data, "a raw block does not end");
  }

  Status expression(TokenKind begin, std::string_view closing) {
    add(begin, {});
    brackets_.clear();
    while (true) {
      if (brackets_.empty()) {
        const bool minus = stands("-", at_) && stands(closing, at_ + 1);
        const bool plus = closing == "%}" && stands("+", at_) && stands(closing, at_ + 1);
        if (minus || plus || stands(closing, at_)) {
          add(begin == TokenKind::begin_block ? TokenKind::end_block : TokenKind::end_output, {});
          close(at_ + (minus || plus ? 1 : 0), minus ? '-' : plus ? '+' : ' ', closing == "%}");
          return {};
        }
      }
      if (at_ >= source_.size()) return fail(ErrorCode::invalid_data, "%s is missing", closing);
      if (const size_t to = behind_blanks(at_); to > at_)
        advance(to);
      else
        LAPILLI_CHECK(one_token());
    }
  }

  Status one_token() {
    const char c = source_[at_];
    if (is_digit(c)) return number();
    if (in_name(c)) return take_name();
    if (c == '\'' || c == '"') return string(c);
    return mark();
  }

  Status take_name() {
    size_t end = at_;
    while (end < source_.size() && in_name(source_[end])) ++end;
    add(TokenKind::name, source_.substr(at_, end - at_));
    advance(end);
    return {};
  }

  [[nodiscard]] size_t digits(size_t at) const {
    while (at < source_.size() &&
           (is_digit(source_[at]) || (source_[at] == '_' && at + 1 < source_.size() && is_digit(source_[at + 1]))))
      ++at;
    return at;
  }

  Status number() {
    const char letter = at_ + 1 < source_.size() ? static_cast<char>(source_[at_ + 1] | 0x20) : ' ';
    if (source_[at_] == '0' && (letter == 'x' || letter == 'b' || letter == 'o'))
      return fail(ErrorCode::unsupported, "numbers with another base than ten are not read");
    size_t end = digits(at_);
    bool real = false;
    if (stands(".", end) && end + 1 < source_.size() && is_digit(source_[end + 1])) {
      real = true;
      end = digits(end + 1);
    }
    if (end < source_.size() && (source_[end] | 0x20) == 'e') {
      const size_t sign = end + 1 + (stands("+", end + 1) || stands("-", end + 1) ? 1 : 0);
      if (sign < source_.size() && is_digit(source_[sign])) {
        real = true;
        end = digits(sign);
      }
    }
    std::string text = source_.substr(at_, end - at_);
    std::erase(text, '_');
    add(real ? TokenKind::real : TokenKind::integer, std::move(text));
    advance(end);
    return {};
  }

  Status string(char quote) {
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return fail(ErrorCode::invalid_data, "a text in quotes does not end");
    LAPILLI_TRY(std::string text, Unescaped(std::string_view(source_).substr(at_ + 1, end - at_ - 1)).text());
    add(TokenKind::string, std::move(text));
    advance(end + 1);
    return {};
  }

  Status mark() {
    constexpr std::array<std::string_view, 23> kMarks = {"//", "**", "==", "!=", ">=", "<=", "+", "-",
                                                         "/",  "*",  "%",  "~",  ">",  "<",  "=", ".",
                                                         ":",  "|",  ",",  ";",  "(",  "[",  "{"};
    constexpr std::string_view kClosing = ")]}", kOpening = "([{";
    const char c = source_[at_];
    if (const size_t closing = kClosing.find(c); closing != kClosing.npos) {
      if (brackets_.empty() || brackets_.back() != kOpening[closing])
        return fail(ErrorCode::invalid_data, "an unexpected \"%c\"", c);
      brackets_.pop_back();
      add(TokenKind::mark, std::string(1, c));
      advance(at_ + 1);
      return {};
    }
    for (const std::string_view known : kMarks) {
      if (!stands(known, at_)) continue;
      if (kOpening.find(c) != kOpening.npos) brackets_ += c;
      add(TokenKind::mark, std::string(known));
      advance(at_ + known.size());
      return {};
    }
    return fail(ErrorCode::invalid_data, "an unexpected character %s", quote_text(std::string(1, c)));
  }

  const std::string source_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  bool line_starts_ = true;  // what stands before the next text ends a line
  std::string brackets_;
};

}  // namespace

Result<std::vector<Token>> cut_tokens(std::string_view source) { return Cutter(with_unix_lines(source)).cut(); }

}  // namespace lapilli::jinja
