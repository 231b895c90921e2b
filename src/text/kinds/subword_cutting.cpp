// Tensor2Tensor's subwords (Vaswani et al. 2018): a text is cut where letters and digits meet others, a space between
// two such tokens is left out, and each token is cut into the longest pieces of the vocabulary, from the left.
#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>
#include <utility>

#include "text/kinds/piece_cutting.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

bool is_alphanumeric(char32_t c) { return is_word(c) ? !is_mark(c) && c != U'_' && !is_punctuation(c) : is_number(c); }

struct SubwordCharacter {
  char32_t code;
  ByteRange range;
};
using Token = std::vector<SubwordCharacter>;

bool is_space(const Token& token) { return token.size() == 1 && token[0].code == U' '; }

// Between the first token and the last one, single spaces are left out.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  bool last = false;
  for (size_t at = 0; at < text.size();) {
    const size_t from = at;
    const char32_t c = next_character(text, at);
    const bool letter = is_alphanumeric(c);
    if (tokens.empty() || letter != last) {
      if (tokens.size() > 1 && is_space(tokens.back())) tokens.pop_back();
      tokens.emplace_back();
    }
    tokens.back().push_back({c, {from, at}});
    last = letter;
  }
  return tokens;
}

class SubwordCutting final : public PieceCutting {
 public:
  explicit SubwordCutting(const Vocabulary& words) : words_(words) {
    for (uint64_t id = 0; id < words.size(); ++id)
      if (const std::string* piece = words.token(static_cast<int32_t>(id))) {
        if (piece->size() <= kLongest) lengths_.insert(piece->size());
        for (size_t at = 0; at < piece->size();) alphabet_.insert(next_character(*piece, at));
      }
    for (const char c : std::string_view("\\_u;0123456789")) alphabet_.insert(static_cast<char32_t>(c));
  }
  [[nodiscard]] Result<std::vector<CutPiece>> cut(std::string_view text) const override {
    std::vector<CutPiece> pieces;
    for (const Token& token : tokens_of(text)) cut_token(token, pieces);
    return pieces;
  }
  [[nodiscard]] std::string join(const std::vector<std::string>& pieces) const override {
    std::string all;
    for (const std::string& piece : pieces) all += piece;
    std::vector<std::string> tokens;
    for (size_t at = 0; at < all.size();) {
      const size_t end = std::min(all.find('_', at), all.size());
      if (end > at) tokens.push_back(unescaped(std::string_view(all).substr(at, end - at)));
      at = end + 1;
    }
    return joined(tokens);
  }

 private:
  // The token as it stands in pieces: each byte has the range of its character.
  struct Escaped {
    std::string text;
    std::vector<ByteRange> ranges;
    void append(std::string_view more, ByteRange range) {
      text += more;
      ranges.resize(text.size(), range);
    }
  };
  [[nodiscard]] Escaped escaped(const Token& token) const {
    Escaped out;
    for (const auto& [code, range] : token) {
      std::string own;
      append_utf8(own, code);
      if (code == U'\\')
        own = "\\\\";
      else if (code == U'_')
        own = "\\u";
      else if (!alphabet_.contains(code) || code == U'\n')
        own = "\\" + std::to_string(static_cast<uint32_t>(code)) + ";";
      out.append(own, range);
    }
    const uint64_t end = token.back().range.end;
    out.append("_", {end, end});
    return out;
  }
  // The bytes of the longest piece at the text's beginning, or 1.
  [[nodiscard]] size_t longest_at(std::string_view text) const {
    for (const size_t length : lengths_)
      if (length <= text.size() && words_.id(text.substr(0, length)) >= 0) return std::max<size_t>(length, 1);
    return 1;
  }
  void cut_token(const Token& token, std::vector<CutPiece>& pieces) const {
    const Escaped whole = escaped(token);
    for (size_t at = 0; at < whole.text.size();) {
      size_t length = longest_at(std::string_view(whole.text).substr(at));
      // A character that no piece has is unknown as a whole.
      while (at + length < whole.text.size() && (static_cast<uint8_t>(whole.text[at + length]) & 0xc0) == 0x80)
        ++length;
      const ByteRange range{whole.ranges[at].begin, whole.ranges[at + length - 1].end};
      pieces.push_back({whole.text.substr(at, length), range});
      at += length;
    }
  }

  static std::string unescaped(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '\\' || at + 1 == text.size()) {
        out += text[at];
      } else if (text[at + 1] == '\\' || text[at + 1] == 'u') {
        out += text[++at] == 'u' ? '_' : '\\';
      } else {
        at = unescape_number(text, at, out);
      }
    }
    return out;
  }
  // "\123;" at `at`; returns the last byte read. What is no such number stays.
  static size_t unescape_number(std::string_view text, size_t at, std::string& out) {
    uint32_t code = 0;
    size_t end = at + 1;
    for (; end < text.size() && text[end] >= '0' && text[end] <= '9' && code < 0x110000; ++end)
      code = code * 10 + static_cast<uint32_t>(text[end] - '0');
    if (end == at + 1 || end == text.size() || text[end] != ';') return out += text[at], at;
    if (code < 0x110000 && (code < 0xd800 || code > 0xdfff))
      append_utf8(out, code);
    else
      out += "\u3013";  // what Tensor2Tensor puts there
    return end;
  }
  // A space between two tokens of letters and digits.
  static std::string joined(const std::vector<std::string>& tokens) {
    std::string text;
    bool before = false;
    for (const std::string& token : tokens) {
      if (token.empty()) continue;
      size_t at = 0;
      const bool letters = is_alphanumeric(next_character(token, at));
      if (before && letters) text += ' ';
      text += token;
      before = letters;
    }
    return text;
  }

  const Vocabulary& words_;
  std::unordered_set<char32_t> alphabet_;
  // Lengths of pieces, the longest first. Longer ones than this are no pieces of texts: they would be looked for at
  // each byte.
  static constexpr size_t kLongest = 1024;
  std::set<size_t, std::greater<>> lengths_;
};

}  // namespace

std::unique_ptr<PieceCutting> make_subword_cutting(const Vocabulary& words) {
  return std::make_unique<SubwordCutting>(words);
}

}  // namespace lapilli
