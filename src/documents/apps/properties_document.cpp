// Java's .properties, in UTF-8 or ISO-8859-1. A file of ASCII alone gets \uXXXX for other characters, which every Java
// reads.
#include <algorithm>

#include "documents/apps/app_kinds.hpp"
#include "documents/apps/encodings.hpp"
#include "documents/apps/entry_comments.hpp"
#include "documents/apps/json_tree.hpp"
#include "documents/apps/messages.hpp"

namespace lapilli::documents {

namespace {

constexpr uint32_t kAsciiAlone = kFirstOwn;

bool is_properties_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

class PropertiesReader {
 public:
  PropertiesReader(std::string_view bytes, size_t begin, const MessageRules& rules)
      : bytes_(bytes), at_(begin), rules_(rules), messages_(bytes, found_) {}

  Found read() {
    while (at_ < bytes_.size()) line();
    found_.notes = messages_.notes.sentences();
    return std::move(found_);
  }

 private:
  void line() {
    skip_blanks();
    if (at_ >= bytes_.size()) return;
    if (bytes_[at_] == '\n' || bytes_[at_] == '\r') return void(++at_);
    if (bytes_[at_] == '#' || bytes_[at_] == '!') return comment();
    const bool stays = comments_.take();
    const size_t begin = at_;
    keys_.add(key(), begin, messages_.notes);
    const WrittenText text = value();
    if (!stays && !text.text().empty()) messages_.add(text, rules_);
  }

  void comment() {
    const size_t begin = at_;
    at_ = std::min(bytes_.find_first_of("\r\n", at_), bytes_.size());
    comments_.comment(bytes_.substr(begin, at_ - begin));
  }

  void skip_blanks() {
    while (at_ < bytes_.size() && is_properties_blank(bytes_[at_])) ++at_;
  }

  // Behind a backslash at `at`: the end of the line break and of the next line's blanks; `at` if there is none.
  [[nodiscard]] size_t continuation(size_t at) const {
    size_t end = at + 1;
    if (bytes_.substr(end, 2) == "\r\n")
      end += 2;
    else if (end < bytes_.size() && (bytes_[end] == '\n' || bytes_[end] == '\r'))
      ++end;
    else
      return at;
    while (end < bytes_.size() && is_properties_blank(bytes_[end])) ++end;
    return end;
  }

  // Goes to the value.
  std::string_view key() {
    const size_t begin = at_;
    for (; at_ < bytes_.size() && std::string_view("=: \t\f\r\n").find(bytes_[at_]) == std::string_view::npos; ++at_) {
      if (bytes_[at_] != '\\') continue;
      const size_t behind = continuation(at_);
      at_ = behind == at_ ? std::min(at_ + 1, bytes_.size() - 1) : behind - 1;
    }
    const std::string_view name = Range{begin, at_}.of(bytes_);
    skip_blanks();
    if (at_ < bytes_.size() && (bytes_[at_] == '=' || bytes_[at_] == ':')) ++at_;
    skip_blanks();
    return name;
  }

  WrittenText value() {
    WrittenText text;
    size_t begin = at_;
    for (at_ = next_sign(at_); at_ < bytes_.size() && bytes_[at_] == '\\'; at_ = next_sign(at_)) {
      const size_t behind = continuation(at_);
      const size_t words = behind == at_ ? at_ : without_blanks(begin, at_);
      text.literal(bytes_, {begin, words});
      if (behind != at_)
        text.escaped({words, behind}, words < at_ ? "\r" : "");
      else
        escape(text);
      begin = at_ = std::max(behind, at_);
    }
    text.literal(bytes_, {begin, at_});
    return text;
  }
  [[nodiscard]] size_t next_sign(size_t at) const {
    return std::min(bytes_.find_first_of("\\\r\n", at), bytes_.size());
  }
  [[nodiscard]] size_t without_blanks(size_t begin, size_t end) const {
    while (end > begin && is_properties_blank(bytes_[end - 1])) --end;
    return end;
  }

  void escape(WrittenText& text) {
    std::string means;
    size_t length = decode_u_escape(bytes_, at_, means);
    if (length == 0) {
      constexpr std::string_view kNames = "tnrf", kMeanings = "\t\n\r\f";
      const size_t name = at_ + 1 < bytes_.size() ? kNames.find(bytes_[at_ + 1]) : std::string_view::npos;
      length = std::min<size_t>(2, bytes_.size() - at_);
      means = name != std::string_view::npos ? std::string(1, kMeanings[name]) : std::string(bytes_.substr(at_ + 1, 1));
      if (means == "u") means = "\\u";
      while (at_ + length < bytes_.size() && (bytes_[at_ + length] & 0xc0) == 0x80) means += bytes_[at_ + length++];
    }
    text.escaped({at_, at_ + length}, means);
    at_ += length;
  }

  std::string_view bytes_;
  size_t at_;
  const MessageRules& rules_;
  Found found_;
  Messages messages_;
  EntryComments comments_;
  SeenKeys keys_;
};

void encode_properties(std::string& out, std::string_view text, Range range, bool, const Passage& passage) {
  const std::string words = message_words(text, range, passage.escapes);
  for (size_t at = 0; at < words.size();) {
    const size_t begin = at;
    const char32_t c = next_character(words, at);
    if (c >= 0x80 && (passage.escapes & kAsciiAlone))
      append_u_escape(out, c);
    else
      out += (c == '\\' ? "\\" : "") + words.substr(begin, at - begin);
  }
}

}  // namespace

const Style kPropertiesStyle = {encode_properties};

Result<std::vector<Piece>> unpack_properties(std::string_view bytes, const Options& options) {
  std::vector<Piece> pieces(1);
  Piece& piece = pieces.front();
  piece.bytes = find_invalid_utf8(bytes) ? utf8_of_latin1(bytes) : std::string(bytes);
  piece.style = &kPropertiesStyle;
  const bool ascii =
      std::all_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  MessageRules rules;
  rules.java = true;
  rules.escapes = ascii ? kAsciiAlone : 0;
  rules.target_language = options.target_language;
  piece.found = PropertiesReader(piece.bytes, piece.bytes.starts_with("\xef\xbb\xbf") ? 3 : 0, rules).read();
  return pieces;
}

Result<std::string> pack_properties(std::string_view bytes, const std::vector<std::string>& pieces) {
  return find_invalid_utf8(bytes) ? latin1_of_utf8(pieces.front()) : pieces.front();
}

}  // namespace lapilli::documents
