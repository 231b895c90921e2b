#include "documents/tables/po_text.hpp"

#include <algorithm>
#include <utility>

#include "base/placeholders.hpp"
#include "documents/message_tags.hpp"
#include "documents/office/markup_text.hpp"

namespace lapilli::documents {

namespace {

constexpr std::string_view kPoSigns = "<$%{#";  // first bytes of all that stays

// True for "%s" and "%-5.2f", which take the next argument.
bool takes_next(std::string_view placeholder) {
  return placeholder.size() > 1 && placeholder[0] == '%' &&
         placeholder.find_first_of("$*({<") == std::string_view::npos &&
         !(placeholder.size() > 2 && placeholder.ends_with('%')) &&
         !is_ascii_digit(static_cast<unsigned char>(placeholder.back()));
}

class PoTextReader {
 public:
  PoTextReader(PartBuilder& builder, const WrittenText& text, Range range, const PoMarkup& markup)
      : builder_(builder),
        written_(text),
        text_(std::string_view(text.text()).substr(0, range.end)),
        markup_(markup),
        words_(range.begin) {}

  void read() {
    next_placeholder(words_);
    for (size_t at = text_.find_first_of(kPoSigns, words_); at < text_.size(); at = text_.find_first_of(kPoSigns, at)) {
      if (!read_sign(at)) ++at;
      at = std::max(at, words_);
    }
    words_to(text_.size());
  }

 private:
  bool read_sign(size_t at) {
    if (text_[at] == '<') return read_tag(at);
    if (text_[at] == '%' && markup_.percent && text_.substr(at, 2) == "%%") return keep({at, at + 2});
    if (placeholder_.begin < at) next_placeholder(at);
    if (placeholder_.begin == at) return keep({at, placeholder_.end}, numbered({at, placeholder_.end}));
    const size_t nested = nested_message_end(text_, at);
    return nested > 0 && keep({at, nested});
  }

  bool read_tag(size_t at) {
    const MessageTag tag = message_tag_at(text_, at);
    if (!is_known_tag(tag, markup_.closed)) return false;
    words_to(at);
    words_ = tag.range.end;
    const Range source = written_.source(tag.range);
    if (tag.single || is_void_tag(tag.name))
      builder_.point(source);
    else if (tag.closes)
      builder_.close(source, key_of_name(tag.name));
    else
      builder_.open(source, key_of_name(tag.name));
    return true;
  }

  bool keep(Range range, std::string as = {}) {
    words_to(range.begin);
    words_ = range.end;
    builder_.kept(written_.source(range), range.of(text_), std::move(as));
    return true;
  }

  [[nodiscard]] std::string numbered(Range range) const {
    const std::string_view text = range.of(text_);
    if (!markup_.number || !takes_next(text)) return "";
    return "%" + std::to_string(++*markup_.number) + "$" + std::string(text.substr(1));
  }

  void next_placeholder(size_t from) {
    placeholder_ = find_placeholder(text_, from);
    if (placeholder_.end <= placeholder_.begin) placeholder_ = {text_.size(), text_.size()};
  }

  void words_to(size_t end) {
    if (words_ < end) builder_.words(written_, {words_, end});
  }

  PartBuilder& builder_;
  const WrittenText& written_;
  std::string_view text_;
  const PoMarkup& markup_;
  size_t words_;  // the first byte that is not yet added
  Placeholder placeholder_;
};

}  // namespace

void add_po_text(PartBuilder& builder, const WrittenText& text, Range range, const PoMarkup& markup) {
  if (!range.empty()) PoTextReader(builder, text, range, markup).read();
}

size_t count_next_arguments(std::string_view text) {
  size_t count = 0;
  for (Placeholder p = find_placeholder(text, 0); p.end > p.begin; p = find_placeholder(text, p.end))
    if (takes_next(text.substr(p.begin, p.end - p.begin))) ++count;
  return count;
}

}  // namespace lapilli::documents
