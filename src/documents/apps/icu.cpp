#include "documents/apps/icu.hpp"

#include <algorithm>
#include <array>

namespace lapilli::documents {

namespace {

constexpr size_t kDeepestMessage = 16;
constexpr std::array<std::string_view, 3> kBranched = {"plural", "select", "selectordinal"};

bool is_icu_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// `at` is behind a brace: true for "name, plural,".
bool begins_branches(std::string_view text, size_t at) {
  const auto skip = [&] {
    while (at < text.size() && is_icu_space(text[at])) ++at;
  };
  const auto word = [&] {
    skip();
    const size_t begin = at;
    while (at < text.size() && !is_icu_space(text[at]) && text[at] != ',' && text[at] != '{' && text[at] != '}') ++at;
    const std::string_view found = text.substr(begin, at - begin);
    skip();
    return found;
  };
  const auto comma = [&] { return at < text.size() && text[at] == ',' && ++at > 0; };
  if (word().empty() || !comma()) return false;
  const bool branched = std::find(kBranched.begin(), kBranched.end(), word()) != kBranched.end();
  return branched && comma();
}

class IcuReader {
 public:
  explicit IcuReader(std::string_view text) : text_(text) {}

  IcuMessage read() {
    message(0, false);
    if (out_.error.empty() && at_ < text_.size()) fail_with("a } has no { before it");
    return std::move(out_);
  }

 private:
  // Reads to the brace that ends the message, or to the end. Recursion is bounded by kDeepestMessage.
  void message(size_t depth, bool plural) {
    if (depth > kDeepestMessage) return fail_with("its branches are too deep");
    IcuPiece piece{{at_, at_}, {}, plural};
    while (good() && text_[at_] != '}') {
      if (text_[at_] == '{' && begins_branches(text_, at_ + 1)) {
        finish(piece);
        branches(depth);
        piece = {{at_, at_}, {}, plural};
      } else {
        token(piece);
      }
    }
    finish(piece);
  }

  void finish(IcuPiece& piece) {
    piece.text.end = at_;
    if (!piece.text.empty()) out_.pieces.push_back(std::move(piece));
  }

  void token(IcuPiece& piece) {
    const size_t begin = at_;
    if (text_[at_] == '\'')
      quoted(piece.in_plural);
    else if (text_[at_] == '{')
      argument();
    else if (text_[at_] != '#' || !piece.in_plural)
      return void(++at_);
    else
      ++at_;
    if (at_ > begin + 1 || text_[begin] == '#') piece.kept.push_back({begin, at_});
  }

  // An apostrophe quotes signs of the syntax; elsewhere it is one. Two are one.
  void quoted(bool plural) {
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    if (next == '\'') return void(at_ += 2);
    if (next != '{' && next != '}' && next != '|' && !(next == '#' && plural)) return void(++at_);
    for (at_ += 2; at_ < text_.size(); ++at_) {
      if (text_[at_] != '\'') continue;
      if (text_.substr(at_ + 1, 1) != "'") break;
      ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  // An argument without branches; its style may hold braces and quotes.
  void argument() {
    size_t depth = 0;
    do {
      if (text_[at_] == '\'')
        quoted(false);
      else
        depth += text_[at_] == '{' ? 1 : 0, depth -= text_[at_] == '}' ? 1 : 0, ++at_;
    } while (at_ < text_.size() && depth > 0);
    if (depth > 0) fail_with("a { is never closed");
  }

  void branches(size_t depth) {
    ++at_;
    IcuPlural argument{name(), at_, {}};
    pass(',');
    const std::string_view type = name();
    pass(',');
    size_t count = 0;
    for (skip(); good() && text_[at_] != '}'; skip(), ++count) branch(depth, type, argument);
    if (count == 0) fail_with("a plural or select has no branches");
    pass('}');
    if (type == "plural") out_.plurals.push_back(std::move(argument));
  }

  void branch(size_t depth, std::string_view type, IcuPlural& argument) {
    const std::string_view selector = name();
    if (type != "select" && selector.starts_with("offset:")) {
      if (selector == "offset:") name();
      return;
    }
    skip();
    if (selector.empty() || !pass('{')) return fail_with("a branch has no { }");
    if (selector[0] != '=') argument.categories.push_back(selector);
    message(depth + 1, type != "select");
    pass('}');
  }

  std::string_view name() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && !is_icu_space(text_[at_]) && std::string_view(",{}").find(text_[at_]) == kNone) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void skip() {
    while (at_ < text_.size() && is_icu_space(text_[at_])) ++at_;
  }
  bool pass(char c) {
    skip();
    if (at_ < text_.size() && text_[at_] == c) return ++at_, true;
    fail_with(c == '}' ? "a { is never closed" : "a plural or select is not complete");
    return false;
  }
  [[nodiscard]] bool good() const { return out_.error.empty() && at_ < text_.size(); }
  void fail_with(const char* what) {
    if (out_.error.empty()) out_.error = what;
  }

  static constexpr size_t kNone = std::string_view::npos;
  std::string_view text_;
  size_t at_ = 0;
  IcuMessage out_;
};

}  // namespace

bool is_icu_message(std::string_view text) {
  for (size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1))
    if (begins_branches(text, at + 1)) return true;
  return false;
}

IcuMessage read_icu_message(std::string_view text) { return IcuReader(text).read(); }

}  // namespace lapilli::documents
