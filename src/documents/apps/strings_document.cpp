// Apple's .strings: "key" = "value"; with comments of C, in UTF-8 or, with a byte order mark, UTF-16.
#include <algorithm>
#include <optional>

#include "documents/apps/app_kinds.hpp"
#include "documents/apps/encodings.hpp"
#include "documents/apps/entry_comments.hpp"
#include "documents/apps/json_tree.hpp"
#include "documents/apps/messages.hpp"

namespace lapilli::documents {

namespace {

class StringsReader {
 public:
  StringsReader(std::string_view bytes, size_t begin, const MessageRules& rules)
      : bytes_(bytes), at_(begin), rules_(rules), messages_(bytes, found_) {}

  Found read() {
    for (skip(); at_ < bytes_.size() && !broken_; skip()) entry();
    found_.notes = messages_.notes.sentences();
    return std::move(found_);
  }

 private:
  void skip() {
    while (at_ < bytes_.size()) {
      if (is_blank(static_cast<unsigned char>(bytes_[at_])))
        ++at_;
      else if (!comment())
        return;
    }
  }

  bool comment() {
    const std::string_view two = bytes_.substr(at_, 2);
    if (two != "//" && two != "/*") return false;
    const size_t begin = at_, end = bytes_.find(two == "//" ? "\n" : "*/", at_ + 2);
    at_ = end == std::string_view::npos ? bytes_.size() : end + (two == "//" ? 1 : 2);
    if (end == std::string_view::npos && two == "/*") stop(begin, "a comment is never closed");
    comments_.comment(bytes_.substr(begin, at_ - begin));
    return true;
  }

  void entry() {
    const size_t begin = at_;
    const bool stays = comments_.take();
    const auto key = word();
    if (!key) return;
    keys_.add(key->of(bytes_), begin, messages_.notes);
    skip();
    std::optional<Range> value;
    if (pass('=')) {
      skip();
      value = word();
      skip();
    }
    if (broken_) return;
    if (!pass(';')) return stop(begin, "a = or ; is missing");
    if (value && value->begin > 0 && bytes_[value->begin - 1] == '"' && !stays) messages_.add(text_of(*value), rules_);
  }

  bool pass(char c) {
    if (at_ >= bytes_.size() || bytes_[at_] != c) return false;
    ++at_;
    return true;
  }

  // A string in quotes, or letters without them.
  std::optional<Range> word() {
    const size_t begin = at_;
    if (!pass('"')) {
      while (at_ < bytes_.size() && is_bare(bytes_[at_])) ++at_;
      if (at_ == begin) return stop(begin, "a string is missing"), std::nullopt;
      return Range{begin, at_};
    }
    while (at_ < bytes_.size() && bytes_[at_] != '"') at_ += bytes_[at_] == '\\' ? 2 : 1;
    if (at_ >= bytes_.size()) return stop(begin, "a string is never closed"), std::nullopt;
    return Range{begin + 1, at_++};
  }
  static bool is_bare(char c) {
    return is_ascii_letter(static_cast<unsigned char>(c)) || is_ascii_digit(static_cast<unsigned char>(c)) ||
           c == '_' || c == '.' || c == '-' || c == '$' || c == ':' || (c == '/');
  }

  void stop(size_t at, const char* what) {
    messages_.notes.add(at, std::string(what) + "; all from here on stays as it is");
    broken_ = true;
    at_ = bytes_.size();
  }

  WrittenText text_of(Range range) const {
    WrittenText text;
    const std::string_view all = bytes_.substr(0, range.end);
    for (size_t at = range.begin; at < range.end;) {
      const size_t escape = std::min(all.find('\\', at), range.end);
      text.literal(bytes_, {at, escape});
      if (escape >= range.end) break;
      std::string means;
      const size_t length = decode(all, escape, means);
      text.escaped({escape, escape + length}, means);
      at = escape + length;
    }
    return text;
  }

  // \n, \", \U00e9.
  static size_t decode(std::string_view all, size_t at, std::string& means) {
    std::string hex(all.substr(at, 12));
    for (size_t i = 1; i < hex.size(); i += 6) hex[i] = hex[i] == 'U' ? 'u' : hex[i];
    if (const size_t length = decode_u_escape(hex, 0, means)) return length;
    constexpr std::string_view kNames = "ntr", kMeanings = "\n\t\r";
    size_t length = std::min<size_t>(2, all.size() - at);
    const size_t name = length == 2 ? kNames.find(all[at + 1]) : std::string_view::npos;
    while (at + length < all.size() && (all[at + length] & 0xc0) == 0x80) ++length;
    means =
        name == std::string_view::npos ? std::string(all.substr(at + 1, length - 1)) : std::string(1, kMeanings[name]);
    return length;
  }

  std::string_view bytes_;
  size_t at_;
  const MessageRules& rules_;
  Found found_;
  Messages messages_;
  EntryComments comments_;
  SeenKeys keys_;
  bool broken_ = false;
};

void encode_strings(std::string& out, std::string_view text, Range range, bool, const Passage& passage) {
  append_json_escapes(out, message_words(text, range, passage.escapes));
}

}  // namespace

const Style kStringsStyle = {encode_strings};

Result<std::vector<Piece>> unpack_strings(std::string_view bytes, const Options& options) {
  std::vector<Piece> pieces(1);
  Piece& piece = pieces.front();
  const Utf16 order = utf16_order(bytes);
  if (order == Utf16::none) {
    if (const auto at = find_invalid_utf8(bytes))
      return fail(ErrorCode::invalid_data, "byte %u is neither UTF-8 nor, behind a byte order mark, UTF-16: convert it",
                  *at + 1);
    piece.bytes = bytes;
  } else if (!utf8_of_utf16(bytes, order, piece.bytes)) {
    return fail(ErrorCode::invalid_data, "half a character of UTF-16 stands in it: save it anew");
  }
  piece.style = &kStringsStyle;
  MessageRules rules;
  rules.target_language = options.target_language;
  piece.found = StringsReader(piece.bytes, piece.bytes.starts_with("\xef\xbb\xbf") ? 3 : 0, rules).read();
  return pieces;
}

Result<std::string> pack_strings(std::string_view bytes, const std::vector<std::string>& pieces) {
  const Utf16 order = utf16_order(bytes);
  return order == Utf16::none ? pieces.front() : utf16_of_utf8(pieces.front(), order);
}

}  // namespace lapilli::documents
