#include "base/placeholders.hpp"

#include <algorithm>
#include <array>

namespace lapilli {

namespace {

constexpr size_t kLongest = 200;  // bytes

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

size_t skip(std::string_view text, size_t at, const auto& belongs) {
  while (at < text.size() && belongs(text[at])) ++at;
  return at;
}
size_t skip_blanks(std::string_view text, size_t at) {
  return skip(text, at, [](char c) { return c == ' '; });
}

// ICU's format types, which follow a name and a comma: "{when, date, short}". A plural holds words of its own.
bool is_type(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTypes = {"number", "date", "time", "spellout", "ordinal", "duration"};
  const size_t begin = skip_blanks(text, 0), end = skip(text, begin, is_letter);
  return std::find(kTypes.begin(), kTypes.end(), text.substr(begin, end - begin)) != kTypes.end();
}

// A name (user.name, items[0], first-name, 0), with Angular's filters or Python's formats after it ("price | currency",
// "total:.2f", "x!r"). Blanks are allowed only around it and around |.
bool is_name(std::string_view text) {
  size_t at = skip_blanks(text, 0);
  const size_t begin = at;
  at = skip(text, at, [](char c) { return is_word(c) || one_of(c, ".-[]@$/#^&"); });
  if (at == begin || std::none_of(text.begin() + static_cast<ptrdiff_t>(begin), text.end(), is_word)) return false;
  const size_t behind = skip_blanks(text, at);
  if (behind == text.size()) return true;
  if (text[behind] == '|') return text.find_first_of("{}<>\"", behind) == std::string_view::npos;
  if (text[behind] == ',' && is_type(text.substr(behind + 1))) return true;
  return behind == at && one_of(text[at], ":!,(") && text.find(' ', at) == std::string_view::npos;
}

// End of "{name}", "{{name}}"; `at` if there is none. Double braces may hold expressions and calls of templates, too.
size_t braces_end(std::string_view text, size_t at) {
  const bool two = text.substr(at, 2) == "{{", three = text.substr(at, 3) == "{{{";
  const size_t braces = three ? 3 : two ? 2 : 1, begin = at + braces;
  const std::string_view rest = text.substr(std::min(begin, text.size()), kLongest);
  const size_t length = rest.find_first_of("{}\r\n");
  const std::string_view close = std::string_view("}}}").substr(0, braces);
  if (length == std::string_view::npos || !rest.substr(length).starts_with(close)) return at;
  const size_t end = begin + length + braces;
  const std::string_view inner = rest.substr(0, length);
  const bool holds = braces > 1 ? std::any_of(inner.begin(), inner.end(), is_word) : length == 0 || is_name(inner);
  return holds && text.substr(end, 1) != "}" ? end : at;
}

// End of "%(name)s", "%{name}", "%<name>s"; the name begins at `at` + 1. `at` if there is none.
size_t named_end(std::string_view text, size_t at, char close) {
  const size_t end = skip(text, at + 1, is_word);
  if (end == at + 1 || end >= text.size() || text[end] != close) return at;
  if (close == '}') return end + 1;
  const size_t type = skip(text, end + 1, [](char c) { return is_digit(c) || one_of(c, "-+#.0"); });
  return type < text.size() && is_letter(text[type]) ? type + 1 : at;
}

// End of printf's "%d", "%1$s", "%-5.2f", "%lld", "%@"; `at` if there is none.
size_t printf_end(std::string_view text, size_t at) {
  size_t end = skip(text, at + 1, is_digit);
  const bool numbered = end > at + 1 && text.substr(end, 1) == "$";
  end = skip(text, numbered ? end + 1 : at + 1, [](char c) { return one_of(c, "-+#0'"); });
  end = skip(text, end, [](char c) { return is_digit(c) || c == '.' || c == '*'; });
  end = skip(text, end, [](char c) { return one_of(c, "hlLqjzt"); });
  if (end - at > kLongest || end >= text.size() || !one_of(text[end], "diouxXeEfFgGaAcCsSp@")) return at;
  // A unit of up to two letters may follow %d and %@ ("%dkm"); words may not.
  const size_t letters = skip(text, end + 1, is_word) - end - 1;
  return numbered || letters == 0 || (one_of(text[end], "d@") && letters <= 2) ? end + 1 : at;
}

// End of "%name%", Qt's "%1"; `at` if there is none.
size_t marked_end(std::string_view text, size_t at) {
  const size_t end = skip(text, at + 1, is_word);
  if (end == at + 2 && text[at + 1] > '0' && is_digit(text[at + 1]) && text.substr(end, 1) != "$") return end;
  const bool closed = end > at + 2 && is_letter(text[at + 1]) && text.substr(end, 1) == "%";
  return closed ? end + 1 : at;
}

// After a digit "%" means percent: "50 % sure" and "50%discount" hold no placeholder.
size_t percent_end(std::string_view text, size_t at) {
  const char next = at + 1 < text.size() ? text[at + 1] : ' ';
  const char close = next == '(' ? ')' : next == '<' ? '>' : next == '{' ? '}' : ' ';
  if (close != ' ') {
    const size_t end = named_end(text, at + 1, close);
    return end == at + 1 ? at : end;
  }
  const size_t marked = marked_end(text, at), end = marked == at ? printf_end(text, at) : marked;
  const bool behind_number = at > 0 && is_digit(text[at - 1]);
  return behind_number && text.substr(at, end - at).find('$') == std::string_view::npos ? at : end;
}

size_t placeholder_end(std::string_view text, size_t at) {
  if (text[at] == '%') return percent_end(text, at);
  if (text[at] == '{') return braces_end(text, at);
  if (text.substr(at + 1, 1) != "{") return at;
  const size_t end = braces_end(text, at + 1);  // ${x}, #{x}
  return end == at + 1 ? at : end;
}

}  // namespace

Placeholder find_placeholder(std::string_view text, size_t from) {
  for (size_t at = text.find_first_of("%{$#", from); at != std::string_view::npos;
       at = text.find_first_of("%{$#", at + 1)) {
    const size_t end = placeholder_end(text, at);
    if (end > at) return {at, end};
  }
  return {};
}

}  // namespace lapilli
