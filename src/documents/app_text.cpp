#include "documents/app_text.hpp"

#include <algorithm>
#include <array>

#include "base/placeholders.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kLongestAppTag = 1000;  // bytes of a tag

bool names_tag(char c) {
  const auto u = static_cast<unsigned char>(c);
  return is_ascii_letter(u) || is_ascii_digit(u) || c == '-' || c == '_' || c == '.' || c == ':';
}

uint32_t key_of_name(std::string_view name) {
  uint32_t key = 0x811c9dc5u;
  for (const char c : name) key = (key ^ static_cast<unsigned char>(ascii_lower(c))) * 0x01000193u;
  return key;
}

bool stands_alone(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kAlone = {"br", "hr", "img", "wbr", "input"};
  return std::ranges::find(kAlone, ascii_lower(name)) != kAlone.end();
}

// Something in a text that is no word.
struct AppMark {
  enum Kind { none, open, close, point, kept } kind = none;
  size_t end = 0;
  uint32_t key = 0;
  std::string as = {};
};

// <b>, </b>, <a href="x">, <0/>
AppMark tag_at(std::string_view text, size_t at) {
  const bool closes = text.substr(at + 1, 1) == "/";
  const size_t begin = at + (closes ? 2 : 1);
  size_t end = begin;
  while (end < text.size() && names_tag(text[end])) ++end;
  const std::string_view name = text.substr(begin, end - begin);
  const size_t length = text.substr(end, kLongestAppTag).find_first_of("<>");
  if (name.empty() || length == std::string_view::npos || text[end + length] != '>') return {};
  const std::string_view rest = text.substr(end, length);
  const bool alone = rest.ends_with('/') || stands_alone(name);
  if (!rest.empty() && rest[0] != ' ' && rest[0] != '/' && rest[0] != '\n') return {};
  return {closes ? AppMark::close : alone ? AppMark::point : AppMark::open, end + length + 1, key_of_name(name)};
}

// $t(key, {"x": 1}) of i18next
AppMark nesting_at(std::string_view text, size_t at) {
  if (text.substr(at, 3) != "$t(") return {};
  size_t depth = 0;
  for (size_t i = at + 2; i < std::min(text.size(), at + kLongestAppTag); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return {AppMark::kept, i + 1};
  }
  return {};
}

AppMark dollars_at(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() &&
         (text[end] == '_' || text[end] == '@' || is_ascii_letter(static_cast<unsigned char>(text[end])) ||
          is_ascii_digit(static_cast<unsigned char>(text[end]))))
    ++end;
  return end > at + 1 && text.substr(end, 1) == "$" ? AppMark{AppMark::kept, end + 1} : AppMark{};
}

// True for "%s" and "%-5.2f", which take the next argument.
bool takes_next(std::string_view placeholder) {
  return placeholder.size() > 1 && placeholder[0] == '%' &&
         placeholder.find_first_of("$*({<") == std::string_view::npos &&
         !(placeholder.size() > 2 && placeholder.ends_with('%')) &&
         !is_ascii_digit(static_cast<unsigned char>(placeholder.back()));
}

class AppReader {
 public:
  AppReader(PartBuilder& builder, const MappedText& text, Range range, const AppMarkup& markup)
      : builder_(builder),
        mapped_(text),
        text_(std::string_view(text.text()).substr(0, range.end)),
        markup_(markup),
        at_(range.begin) {
    next_placeholder(range.begin);
  }

  void read() {
    size_t words = at_;
    for (size_t at = text_.find_first_of("<$%{#", at_); at < text_.size(); at = text_.find_first_of("<$%{#", at)) {
      const AppMark mark = mark_at(at);
      if (mark.kind == AppMark::none) {
        ++at;
        continue;
      }
      mapped_.add_words(builder_, {words, at});
      add(mark, {at, mark.end});
      words = at = mark.end;
    }
    mapped_.add_words(builder_, {words, text_.size()});
  }

 private:
  void next_placeholder(size_t from) {
    placeholder_ = find_placeholder(text_, from);
    if (placeholder_.end <= placeholder_.begin) placeholder_ = {text_.size(), text_.size()};
  }

  AppMark mark_at(size_t at) {
    if (text_[at] == '<') return tag_at(text_, at);
    if (text_[at] == '%' && markup_.percent && text_.substr(at, 2) == "%%") return {AppMark::kept, at + 2};
    if (placeholder_.begin < at) next_placeholder(at);
    if (placeholder_.begin == at) return numbered({AppMark::kept, placeholder_.end}, at);
    if (text_[at] != '$') return {};
    const AppMark nesting = nesting_at(text_, at);
    return nesting.kind == AppMark::none && markup_.dollars ? dollars_at(text_, at) : nesting;
  }

  AppMark numbered(AppMark mark, size_t at) const {
    const std::string_view text = text_.substr(at, mark.end - at);
    if (markup_.number && takes_next(text))
      mark.as = "%" + std::to_string(++*markup_.number) + "$" + std::string(text.substr(1));
    return mark;
  }

  void add(const AppMark& mark, Range range) {
    const Range source = mapped_.source_of(range);
    switch (mark.kind) {
      case AppMark::open: return builder_.open(source, mark.key);
      case AppMark::close: return builder_.close(source, mark.key);
      case AppMark::point: return builder_.point(source);
      default: return builder_.kept(source, range.of(text_), mark.as);
    }
  }

  PartBuilder& builder_;
  const MappedText& mapped_;
  std::string_view text_;
  const AppMarkup& markup_;
  size_t at_;
  Placeholder placeholder_;
};

}  // namespace

void MappedText::add(Range source, std::string_view decoded) {
  text_ += decoded;
  const bool same = source.size() == decoded.size();
  for (size_t i = 0; i < decoded.size(); ++i) {
    from_.push_back(static_cast<uint32_t>(same ? source.begin + i : source.begin));
    to_.push_back(static_cast<uint32_t>(same ? source.begin + i + 1 : source.end));
  }
}

void MappedText::add_words(PartBuilder& builder, Range range) const {
  for (size_t begin = range.begin, end = 0; begin < range.end; begin = end) {
    const bool escaped = to_[begin] != from_[begin] + 1;
    end = begin + 1;
    while (end < range.end &&
           (escaped ? from_[end] == from_[begin] : to_[end] == from_[end] + 1 && from_[end] == to_[end - 1]))
      ++end;
    builder.words({from_[begin], to_[end - 1]}, std::string_view(text_).substr(begin, end - begin));
  }
}

void add_app_text(PartBuilder& builder, const MappedText& text, Range range, const AppMarkup& markup) {
  if (!range.empty()) AppReader(builder, text, range, markup).read();
}

size_t count_next_arguments(std::string_view text) {
  size_t count = 0;
  for (Placeholder p = find_placeholder(text, 0); p.end > p.begin; p = find_placeholder(text, p.end))
    if (takes_next(text.substr(p.begin, p.end - p.begin))) ++count;
  return count;
}

}  // namespace lapilli::documents
