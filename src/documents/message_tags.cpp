#include "documents/message_tags.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lapilli::documents {

namespace {

constexpr size_t kLongestMessageTag = 1000;  // bytes behind its name
constexpr size_t kLongestNested = 200;       // of $t(...)

}  // namespace

bool is_tag_name_byte(char c) {
  return is_ascii_letter(static_cast<unsigned char>(c)) || is_ascii_digit(static_cast<unsigned char>(c)) || c == '_' ||
         c == '-' || c == ':' || c == '.';
}

MessageTag message_tag_at(std::string_view text, size_t at) {
  MessageTag tag;
  tag.closes = text.substr(at + 1, 1) == "/";
  const size_t begin = at + (tag.closes ? 2 : 1);
  size_t end = begin;
  while (end < text.size() && is_tag_name_byte(text[end])) ++end;
  const size_t close = text.substr(end, kLongestMessageTag).find_first_of("<>");
  if (end == begin || close == std::string_view::npos || text[end + close] == '<') return {};
  const std::string_view inside = text.substr(end, close);
  if (!inside.empty() && inside[0] != '/' && !is_blank(static_cast<unsigned char>(inside[0]))) return {};
  tag.name = ascii_lower(text.substr(begin, end - begin));
  tag.single = !tag.closes && inside.ends_with('/');
  tag.range = {at, end + close + 1};
  return tag;
}

bool is_void_tag(std::string_view name) {
  constexpr std::array<std::string_view, 5> kVoidTags = {"br", "hr", "img", "input", "wbr"};
  return std::find(kVoidTags.begin(), kVoidTags.end(), name) != kVoidTags.end();
}

std::set<std::string> closed_names(std::string_view text) {
  std::set<std::string> names;
  for (size_t at = text.find("</"); at != std::string_view::npos; at = text.find("</", at + 2)) {
    MessageTag tag = message_tag_at(text, at);
    if (!tag.range.empty()) names.insert(std::move(tag.name));
  }
  return names;
}

bool is_known_tag(const MessageTag& tag, const std::set<std::string>& closed) {
  return !tag.range.empty() && (tag.single || tag.closes || is_void_tag(tag.name) || closed.contains(tag.name));
}

size_t nested_message_end(std::string_view text, size_t at) {
  if (text.substr(at, 3) != "$t(") return 0;
  size_t depth = 0;
  for (size_t i = at + 2; i < std::min(text.size(), at + kLongestNested); ++i) {
    depth += text[i] == '(' ? 1 : 0;
    depth -= text[i] == ')' ? 1 : 0;
    if (depth == 0) return i + 1;
  }
  return 0;
}

}  // namespace lapilli::documents
