#include "formats/doors/marian/vocabulary_file.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "formats/quote.hpp"

namespace lapilli::doors::marian {

namespace {

constexpr size_t kMostVocabularyBytes = size_t{64} << 20;
constexpr uint32_t kMostVocabularyIds = uint32_t{1} << 21;

void append_character(std::string& to, uint32_t c) {
  if (c < 0x80) return to.push_back(static_cast<char>(c));
  if (c >= 0x10000) {
    to += static_cast<char>(0xf0 | c >> 18);
    to += static_cast<char>(0x80 | (c >> 12 & 0x3f));
  } else if (c >= 0x800) {
    to += static_cast<char>(0xe0 | c >> 12);
  } else {
    to += static_cast<char>(0xc0 | c >> 6);
    return to.push_back(static_cast<char>(0x80 | (c & 0x3f)));
  }
  to += static_cast<char>(0x80 | (c >> 6 & 0x3f));
  to += static_cast<char>(0x80 | (c & 0x3f));
}

// Digits of an escape ("\x41", "\u2581", "\U0001F600").
bool read_code(std::string_view& rest, size_t digits, std::string& to) {
  uint32_t code = 0;
  if (rest.size() < digits) return false;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + digits, code, 16);
  if (error != std::errc() || end != rest.data() + digits || code > 0x10ffff) return false;
  append_character(to, code);
  rest.remove_prefix(digits);
  return true;
}

bool read_escape(std::string_view& rest, std::string& to) {
  constexpr std::string_view kLetters = "0abtnvfre\"/\\ ";
  constexpr std::string_view kMeant{"\0\a\b\t\n\v\f\r\x1b\"/\\ ", 13};
  if (rest.empty()) return false;
  const char letter = rest.front();
  rest.remove_prefix(1);
  if (letter == 'x') return read_code(rest, 2, to);
  if (letter == 'u') return read_code(rest, 4, to);
  if (letter == 'U') return read_code(rest, 8, to);
  const size_t at = kLetters.find(letter);
  if (at == std::string_view::npos) return false;
  to += kMeant[at];
  return true;
}

// A text in quotes at the beginning of `rest`, which goes on behind it.
bool read_quoted(std::string_view& rest, std::string& to) {
  const char quote = rest.front();
  rest.remove_prefix(1);
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '\\' && quote == '"') {
      if (!read_escape(rest, to)) return false;
    } else if (c != quote) {
      to += c;
    } else if (quote == '\'' && rest.starts_with('\'')) {  // a quote within
      to += c;
      rest.remove_prefix(1);
    } else {
      return true;
    }
  }
  return false;
}

// "KEY: ID"; a plain key ends at the last colon.
bool read_key(std::string_view& rest, std::string& key) {
  constexpr std::string_view kIndicators = "&*!|>%@`{}[],";
  if (rest.starts_with('"') || rest.starts_with('\'')) return read_quoted(rest, key);
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || kIndicators.find(rest.front()) != std::string_view::npos)
    return false;
  key = rest.substr(0, colon);
  rest.remove_prefix(colon);
  return true;
}

// kMostVocabularyIds: it is none.
uint32_t read_id(std::string_view rest) {
  if (!rest.starts_with(':')) return kMostVocabularyIds;
  rest.remove_prefix(std::min(rest.find_first_not_of(' ', 1), rest.size()));
  uint32_t id = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), id);
  const bool whole = error == std::errc() && end == rest.data() + rest.size();
  return whole ? std::min(id, kMostVocabularyIds) : kMostVocabularyIds;
}

// The lines of the file, of which long keys take two: "? KEY" and ": ID".
class VocabularyLines {
 public:
  explicit VocabularyLines(std::string_view text) : text_(text) {}
  // False at the end; an empty line counts.
  bool next(std::string& key, uint32_t& id) {
    key.clear();
    id = kMostVocabularyIds;
    std::string_view line;
    if (!next_line(line)) return false;
    if (line.empty() || line.starts_with("---") || line == "..." || line.starts_with('#')) return is_blank_ = true;
    is_blank_ = false;
    if (line.starts_with("? ")) {
      line.remove_prefix(2);
      std::string_view behind;
      const bool quoted = line.starts_with('"') || line.starts_with('\'');
      if (!quoted) key = line;
      if ((!quoted || read_quoted(line, key)) && next_line(behind)) id = read_id(behind);
    } else if (read_key(line, key)) {
      id = read_id(line);
    }
    return true;
  }
  [[nodiscard]] bool is_blank() const { return is_blank_; }
  [[nodiscard]] size_t number() const { return number_; }

 private:
  bool next_line(std::string_view& line) {
    if (at_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    line = text_.substr(at_, end - at_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at_ = end + 1;
    ++number_;
    return true;
  }
  const std::string_view text_;
  size_t at_ = 0, number_ = 0;
  bool is_blank_ = false;
};

}  // namespace

Result<std::vector<std::string>> parse_vocabulary(std::string_view text, const std::string& where) {
  std::vector<std::optional<std::string>> found;
  VocabularyLines lines(text);
  std::string key;
  uint32_t id = 0;
  while (lines.next(key, id)) {
    if (lines.is_blank()) continue;
    if (id >= kMostVocabularyIds)
      return fail(ErrorCode::invalid_data, "%s:%u: no piece with its id, as Marian writes vocabularies: %s", where,
                  lines.number(), quote_name(key, 60));
    if (id >= found.size()) found.resize(id + 1);
    if (found[id]) return fail(ErrorCode::invalid_data, "%s:%u: the id %u is there twice", where, lines.number(), id);
    found[id] = key;
  }
  std::vector<std::string> pieces;
  for (std::optional<std::string>& piece : found) {
    if (!piece) return fail(ErrorCode::invalid_data, "%s: no piece has the id %u", where, pieces.size());
    pieces.push_back(std::move(*piece));
  }
  return pieces;
}

Result<std::vector<std::string>> read_vocabulary(const FileName& file) {
  LAPILLI_TRY(const auto text, read_text_file(file, kMostVocabularyBytes));
  return parse_vocabulary(text, file.path());
}

}  // namespace lapilli::doors::marian
