#include "documents/office/nested_texts.hpp"

#include <algorithm>
#include <charconv>

#include "documents/office/xml_tokens.hpp"

namespace lapilli::documents {

namespace {

constexpr char kMark = '\x02';

class Nesting {
 public:
  Nesting(std::string_view xml, size_t begin, const NestingRules& rules)
      : xml_(xml), tokens_(xml, begin), rules_(rules) {
    texts_.push_back({std::string(xml.substr(0, begin)), NestedSort::markup});
    open_.push_back({0, 0, 0});
  }

  Result<std::vector<NestedText>> run() {
    for (;;) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      if (token_.type == XmlToken::end_tag) end_tag();
      if (token_.type == XmlToken::start_tag)
        start_tag();
      else
        here() += token_.range.of(xml_);
    }
    return std::move(texts_);
  }

 private:
  // A text that is being taken out, and the depth within its element and its paragraph (0: not in one).
  struct Open {
    size_t text, depth, paragraph;
  };

  std::string& here() { return texts_[open_.back().text].bytes; }

  void end_tag() {
    if (open_.back().paragraph > tokens_.depth()) open_.back().paragraph = 0;
    if (open_.size() > 1 && tokens_.depth() < open_.back().depth) open_.pop_back();
  }

  void start_tag() {
    write_tag();
    if (token_.closed) return;
    if (open_.back().paragraph == 0) {
      if (is_one_of(rules_.paragraphs, token_.name)) open_.back().paragraph = tokens_.depth();
    } else if (is_one_of(rules_.inside, token_.name)) {
      const bool words = is_one_of(rules_.plain, token_.name);
      here() += nesting_mark(texts_.size());
      open_.push_back({texts_.size(), tokens_.depth(), 0});
      texts_.push_back({{}, words ? NestedSort::words : NestedSort::markup});
    }
  }

  void write_tag() {
    size_t at = token_.range.begin;
    for (const XmlAttribute& a : token_.attributes) {
      if (a.value.empty() || !is_described() || !is_one_of(rules_.attributes, a.name)) continue;
      here() += Range{at, a.value.begin}.of(xml_);
      here() += nesting_mark(texts_.size());
      texts_.push_back({std::string(a.value.of(xml_)), NestedSort::attribute});
      at = a.value.end;
    }
    here() += Range{at, token_.range.end}.of(xml_);
  }

  [[nodiscard]] bool is_described() const {
    const std::string_view name = local_name(token_.name);
    return !name.empty() && (name == rules_.described || name == rules_.described_too);
  }

  std::string_view xml_;
  XmlTokens tokens_;
  XmlToken token_;
  const NestingRules& rules_;
  std::vector<NestedText> texts_;
  std::vector<Open> open_;
};

class Joining {
 public:
  explicit Joining(std::span<const std::string> texts) : texts_(texts) {}

  Result<std::string> run() {
    std::string out;
    LAPILLI_CHECK(write(0, out));
    if (written_ != texts_.size()) return fail(ErrorCode::internal, "a text within a text is lost");
    return out;
  }

 private:
  // Recursion ends: a mark is in a text with a smaller number, and each text is written once.
  Status write(size_t text, std::string& out) {
    const std::string_view bytes = texts_[text];
    ++written_;
    size_t at = 0;
    for (size_t mark = bytes.find(kMark); mark != std::string_view::npos; mark = bytes.find(kMark, at)) {
      out += Range{at, mark}.of(bytes);
      const size_t end = std::min(bytes.find(kMark, mark + 1), bytes.size());
      size_t inner = 0;
      const bool read = std::from_chars(bytes.data() + mark + 1, bytes.data() + end, inner).ec == std::errc();
      if (!read || inner <= text || inner >= texts_.size() || written_ >= texts_.size())
        return fail(ErrorCode::internal, "a text within a text is there twice");
      LAPILLI_CHECK(write(inner, out));
      at = std::min(end + 1, bytes.size());
    }
    out += bytes.substr(at);
    return {};
  }

  std::span<const std::string> texts_;
  size_t written_ = 0;
};

}  // namespace

std::string nesting_mark(size_t text) { return kMark + std::to_string(text) + kMark; }

Status check_xml_bytes(std::string_view bytes) {
  const auto control = [](char c) {
    return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
  };
  if (const auto at = find_invalid_utf8(bytes))
    return fail(ErrorCode::invalid_data, "byte %u is not UTF-8: save the file again", *at + 1);
  const auto at = std::find_if(bytes.begin(), bytes.end(), control);
  if (at != bytes.end())
    return fail(ErrorCode::invalid_data, "byte %u is a control character, which XML has not: save the file again",
                at - bytes.begin() + 1);
  return {};
}

Result<std::vector<NestedText>> take_apart(std::string_view xml, size_t begin, const NestingRules& rules) {
  return Nesting(xml, begin, rules).run();
}

Result<std::string> put_together(std::span<const std::string> texts) { return Joining(texts).run(); }

}  // namespace lapilli::documents
