#include "cli/files/json_object.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cli/output.hpp"

namespace lapilli::cli {

namespace {

constexpr int kMostNested = 64;
constexpr std::string_view kJsonBlanks = " \t\r\n";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Scans a text; each step gives true if the expected token was there.
class Scanner {
 public:
  Scanner(std::string_view text, size_t at) : text_(text), at_(at) {}
  [[nodiscard]] size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

  void blanks() { at_ = std::min(text_.find_first_not_of(kJsonBlanks, at_), text_.size()); }
  bool one(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool string() {
    if (!one('"')) return false;
    for (; !at_end(); ++at_) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c < 0x20) return false;
      if (one('"')) return true;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }

  bool number() {
    one('-');
    if (!one('0') && !digits()) return false;
    if (one('.') && !digits()) return false;
    if (!one('e') && !one('E')) return true;
    if (!one('+')) one('-');
    return digits();
  }

  bool value(int depth) {
    if (at_end() || depth > kMostNested) return false;
    switch (text_[at_]) {
      case '"': return string();
      case '{': return list('}', depth, true);
      case '[': return list(']', depth, false);
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }

 private:
  bool digits() {
    const size_t before = at_;
    while (!at_end() && is_digit(text_[at_])) ++at_;
    return at_ > before;
  }
  // Stops at the escape's last character.
  bool escape() {
    ++at_;
    if (at_end()) return false;
    if (text_[at_] != 'u') return std::string_view("\"\\/bfnrt").find(text_[at_]) != std::string_view::npos;
    const std::string_view hex = text_.substr(at_ + 1, 4);
    if (hex.size() < 4 || hex.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) return false;
    at_ += 4;
    return true;
  }
  bool list(char close, int depth, bool named) {
    ++at_;
    blanks();
    if (one(close)) return true;
    do {
      blanks();
      if (named && !name()) return false;
      if (!value(depth + 1)) return false;
      blanks();
    } while (one(','));
    return one(close);
  }
  bool name() {
    if (!string()) return false;
    blanks();
    if (!one(':')) return false;
    blanks();
    return true;
  }

  std::string_view text_;
  size_t at_;
};

void append_utf8(std::string& to, uint32_t c) {
  if (c < 0x80) {
    to += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr uint32_t kHeads[] = {0, 0xc0, 0xe0, 0xf0};
  to += static_cast<char>(kHeads[more] | (c >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) to += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3f));
}

uint32_t hex(std::string_view four) {
  uint32_t value = 0;
  for (const char c : four) value = value * 16 + static_cast<uint32_t>(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  return value;
}

// The character of the "\uXXXX" at `at`, including the second half of a surrogate pair; U+FFFD for half a pair. Moves
// `at`.
uint32_t code_point(std::string_view text, size_t& at) {
  constexpr uint32_t kReplacement = 0xfffd;
  const uint32_t first = hex(text.substr(at + 2, 4));
  at += 6;
  if (first < 0xd800 || first > 0xdfff) return first;
  if (first > 0xdbff || text.substr(at, 2) != "\\u") return kReplacement;
  const uint32_t second = hex(text.substr(at + 2, 4));
  if (second < 0xdc00 || second > 0xdfff) return kReplacement;
  at += 6;
  return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

// Decodes a scanned string with its quotes.
std::string text_of_string(std::string_view text) {
  constexpr std::string_view kNames = "bfnrt", kMeant = "\b\f\n\r\t";
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out += text[at++];
    } else if (text[at + 1] == 'u') {
      append_utf8(out, code_point(text, at));
    } else {
      const size_t name = kNames.find(text[at + 1]);
      out += name == std::string_view::npos ? text[at + 1] : kMeant[name];
      at += 2;
    }
  }
  return out;
}

}  // namespace

JsonObject::JsonObject(std::string_view text) : text_(text) {
  Scanner scanner(text, 0);
  scanner.blanks();
  open_ = scanner.at();
  if (open_ == text.size() || text[open_] != '{') {
    error_ = "the line is no JSON object";
    return;
  }
  if (!scanner.value(0)) {
    error_ = "the line is no JSON: what it holds breaks off or is misspelt";
    return;
  }
  close_ = scanner.at() - 1;
  scanner.blanks();
  if (!scanner.at_end()) error_ = "the line holds more than one JSON object";
  empty_ = text.substr(open_ + 1, close_ - open_ - 1).find_first_not_of(kJsonBlanks) == std::string_view::npos;
}

JsonObject::Member JsonObject::member(std::string_view name) const {
  Member found;
  if (!error_.empty() || empty_) return found;
  Scanner scanner(text_, open_ + 1);
  do {
    scanner.blanks();
    const size_t key = scanner.at();
    scanner.string();
    const std::string_view quoted = text_.substr(key, scanner.at() - key);
    scanner.blanks();
    scanner.one(':');
    scanner.blanks();
    const size_t begin = scanner.at();
    scanner.value(1);
    if (text_of_string(quoted) == name) found = {begin, scanner.at(), true};
    scanner.blanks();
  } while (scanner.one(','));
  return found;
}

JsonObject::Found JsonObject::find(std::string_view name, std::string& value) const {
  const Member at = member(name);
  if (!at.found) return Found::nothing;
  if (text_[at.begin] != '"') return Found::other;
  value = text_of_string(text_.substr(at.begin, at.end - at.begin));
  return Found::string;
}

std::optional<double> JsonObject::number(std::string_view name) const {
  const Member at = member(name);
  const bool digits = at.found && (text_[at.begin] == '-' || is_digit(text_[at.begin]));
  if (!digits) return {};
  const double value = std::strtod(std::string(text_.substr(at.begin, at.end - at.begin)).c_str(), nullptr);
  if (!std::isfinite(value)) return {};
  return value;
}

std::string JsonObject::with(std::string_view name, std::string_view value) const {
  return with_json(name, json_string(value));
}

std::string JsonObject::with_json(std::string_view name, std::string_view value) const {
  const Member at = member(name);
  const std::string head(text_.substr(0, at.found ? at.begin : close_));
  if (at.found) return head + std::string(value) + std::string(text_.substr(at.end));
  // Follow the object's style: {"a":1} or { "a": 1 }.
  const size_t last = head.find_last_not_of(kJsonBlanks);
  const bool roomy = text_.find("\": ") != std::string_view::npos;
  const std::string member = json_string(name) + (roomy ? ": " : ":") + std::string(value);
  return head.substr(0, last + 1) +
         (empty_  ? ""
          : roomy ? ", "
                  : ",") +
         member + head.substr(last + 1) + std::string(text_.substr(close_));
}

}  // namespace lapilli::cli
