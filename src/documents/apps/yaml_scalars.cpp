#include "documents/apps/yaml_scalars.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "documents/apps/json_tree.hpp"

namespace lapilli::documents {

namespace {

bool is_yaml_blank(char c) { return c == ' ' || c == '\t'; }
bool is_yaml_break(char c) { return c == '\n' || c == '\r'; }

class YamlText {
 public:
  YamlText(std::string_view bytes, Range range, YamlScalar scalar)
      : bytes_(bytes.substr(0, range.end)), at_(range.begin), scalar_(scalar) {}

  // Flow scalars: lines are folded.
  WrittenText flow() {
    for (size_t begin = at_; at_ < bytes_.size(); begin = at_) {
      at_ = std::min(bytes_.find_first_of(signs(), at_), bytes_.size());
      const bool breaks = at_ < bytes_.size() && is_yaml_break(bytes_[at_]);
      const size_t words = breaks ? without_blanks(begin, at_) : at_;
      text_.literal(bytes_, {begin, words});
      if (breaks)
        fold(words);
      else if (at_ < bytes_.size())
        bytes_[at_] == '\'' ? quote() : escape();
    }
    return std::move(text_);
  }

  // Block scalars: `indent` bytes begin each line.
  WrittenText block(size_t indent) {
    skip_indent(indent);
    while (at_ < bytes_.size()) {
      const size_t end = std::min(bytes_.find_first_of("\r\n", at_), bytes_.size());
      const bool more = at_ < end && is_yaml_blank(bytes_[at_]);
      text_.literal(bytes_, {at_, end});
      at_ = end;
      if (at_ >= bytes_.size()) break;
      const size_t begin = at_, count = breaks(indent);
      const bool folds =
          scalar_ == YamlScalar::folded && count == 1 && !more && at_ < bytes_.size() && !is_yaml_blank(bytes_[at_]);
      text_.escaped({begin, at_}, folds ? std::string("\r") : std::string(count, '\n'));
    }
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::string_view signs() const {
    if (scalar_ == YamlScalar::double_quoted) return "\\\r\n";
    return scalar_ == YamlScalar::single_quoted ? "'\r\n" : "\r\n";
  }

  [[nodiscard]] size_t without_blanks(size_t begin, size_t end) const {
    while (end > begin && is_yaml_blank(bytes_[end - 1])) --end;
    return end;
  }

  void pass_break() { at_ += bytes_.substr(at_, 2) == "\r\n" ? 2 : 1; }

  // One line end is a blank; of more, the first one does not count.
  void fold(size_t words) {
    size_t count = 0;
    while (at_ < bytes_.size() && (is_yaml_break(bytes_[at_]) || is_yaml_blank(bytes_[at_]))) {
      if (is_yaml_break(bytes_[at_]))
        pass_break(), ++count;
      else
        ++at_;
    }
    text_.escaped({words, at_}, count > 1 ? std::string(count - 1, '\n') : "\r");
  }

  void skip_indent(size_t indent) {
    for (size_t n = 0; n < indent && at_ < bytes_.size() && bytes_[at_] == ' '; ++n) ++at_;
  }

  // Passes line ends, with the indents behind them; gives their number.
  size_t breaks(size_t indent) {
    size_t count = 0;
    while (at_ < bytes_.size() && is_yaml_break(bytes_[at_])) {
      pass_break();
      skip_indent(indent);
      ++count;
    }
    return count;
  }

  void quote() {
    text_.escaped({at_, std::min(at_ + 2, bytes_.size())}, "'");
    at_ = std::min(at_ + 2, bytes_.size());
  }

  void escape() {
    const size_t begin = at_;
    const char name = at_ + 1 < bytes_.size() ? bytes_[at_ + 1] : ' ';
    if (is_yaml_break(name)) return escaped_break();
    std::string means;
    size_t length = decode_u_escape(bytes_, at_, means);
    if (length == 0) length = named(name, means);
    at_ = std::min(begin + length, bytes_.size());
    text_.escaped({begin, at_}, means);
  }

  // A backslash joins the lines.
  void escaped_break() {
    const size_t begin = at_++;
    while (at_ < bytes_.size() && (is_yaml_break(bytes_[at_]) || is_yaml_blank(bytes_[at_]))) ++at_;
    text_.escaped({begin, at_}, "");
  }

  size_t named(char name, std::string& means) const {
    const size_t digits = name == 'x' ? 2 : name == 'U' ? 8 : 0;
    const std::string_view hex = bytes_.substr(std::min(at_ + 2, bytes_.size()), digits);
    uint32_t value = 0;
    const auto read = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
    if (digits > 0 && read.ptr == hex.data() + digits && value < 0x110000 && (value < 0xd800 || value > 0xdfff))
      return append_character(means, value), digits + 2;
    constexpr std::string_view kNames = "0abtnvfre", kMeanings("\0\a\b\t\n\v\f\r\033", 9);
    const size_t known = kNames.find(name);
    if (known != std::string_view::npos)
      means = kMeanings[known];
    else if (name == '_')
      means = "\u00a0";
    else
      means = std::string(1, name);
    size_t length = 2;
    while (at_ + length < bytes_.size() && (bytes_[at_ + length] & 0xc0) == 0x80) means += bytes_[at_ + length++];
    return length;
  }

  std::string_view bytes_;
  size_t at_;
  YamlScalar scalar_;
  WrittenText text_;
};

}  // namespace

WrittenText yaml_text(std::string_view bytes, Range range, YamlScalar scalar, size_t indent) {
  YamlText text(bytes, range, scalar);
  return scalar == YamlScalar::literal || scalar == YamlScalar::folded ? text.block(indent) : text.flow();
}

bool is_yaml_value(std::string_view plain) {
  constexpr std::array<std::string_view, 11> kValues = {"null", "true", "false", "yes", "no",  "on",
                                                        "off",  "y",    "n",     "~",   ".inf"};
  if (plain.empty()) return false;
  if (plain.starts_with(':') && plain.find(' ') == std::string_view::npos) return true;
  if (std::find(kValues.begin(), kValues.end(), ascii_lower(plain)) != kValues.end()) return true;
  const bool number = plain.find_first_not_of("0123456789abcdefABCDEFxXo+-._:TZ") == std::string_view::npos;
  const size_t first = std::min(plain.find_first_not_of("+-."), plain.size() - 1);
  return number && is_ascii_digit(static_cast<unsigned char>(plain[first]));
}

bool is_plain_yaml(std::string_view words, bool in_flow) {
  constexpr std::string_view kIndicators = "-?:,[]{}#&*!|>'\"%@`";
  if (words.empty() || kIndicators.find(words[0]) != std::string_view::npos || is_yaml_value(words)) return false;
  if (words.ends_with(':') || words.front() == ' ' || words.back() == ' ') return false;
  if (in_flow && words.find_first_of(",[]{}") != std::string_view::npos) return false;
  return words.find(": ") == std::string_view::npos && words.find(" #") == std::string_view::npos &&
         words.find(":\n") == std::string_view::npos && words.find(":\r") == std::string_view::npos;
}

void append_yaml_quoted(std::string& out, std::string_view words, char quote) {
  for (const char c : words) {
    if (c == quote || (quote == '"' && c == '\\')) out += quote == '"' ? '\\' : '\'';
    out += c;
  }
}

}  // namespace lapilli::documents
