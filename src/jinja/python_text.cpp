#include "jinja/python_text.hpp"

#include <algorithm>
#include <array>

#include "text/unicode/case_mapping.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::jinja {

namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// As Python's str.isspace(): four separators of files more than Unicode's property.
bool is_blank(char32_t c) { return is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

std::string hex(uint32_t code, int digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += kDigits[code >> shift & 15];
  return text;
}

// The escape of a control character with a name, else 0.
char named_escape(char c) {
  switch (c) {
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

}  // namespace

size_t character_count(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::vector<size_t> character_starts(std::string_view text) {
  std::vector<size_t> starts;
  starts.reserve(character_count(text) + 1);
  for (size_t at = 0; at < text.size(); ++at)
    if (begins_character(text[at])) starts.push_back(at);
  starts.push_back(text.size());
  return starts;
}

size_t character_start(std::string_view text, uint64_t index) {
  for (size_t at = 0; at < text.size(); ++at)
    if (begins_character(text[at]) && index-- == 0) return at;
  return text.size();
}

namespace {

// As Python's str.isprintable(); without Unicode's tables only for the controls of Latin 1 and for blanks.
bool is_printable(char32_t c) {
  if (c < 0x7F) return c >= 0x20;
  if (c <= 0xA0 || is_white_space(c)) return false;
  return !unicode_available() || !is_other(c);
}

}  // namespace

std::string quote(std::string_view text) {
  const bool single = text.find('\'') != text.npos && text.find('"') == text.npos;
  const char mark = single ? '"' : '\'';
  std::string out(1, mark);
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_character(text, at);
    if (c == static_cast<char32_t>(mark) || c == '\\')
      out.append(1, '\\').append(1, static_cast<char>(c));
    else if (c < 0x80 && named_escape(static_cast<char>(c)))
      out.append(1, '\\').append(1, named_escape(static_cast<char>(c)));
    else if (!is_printable(c))
      out += c < 0x100 ? "\\x" + hex(c, 2) : c < 0x10000 ? "\\u" + hex(c, 4) : "\\U" + hex(c, 8);
    else
      out.append(text.substr(begin, at - begin));
  }
  return out + mark;
}

namespace {

std::string json_escape(uint32_t c) {
  if (c < 0x10000) return "\\u" + hex(c, 4);
  return "\\u" + hex(0xD800 + ((c - 0x10000) >> 10), 4) + "\\u" + hex(0xDC00 + ((c - 0x10000) & 0x3FF), 4);
}

char json_name(char32_t c) {
  if (c == '"' || c == '\\') return static_cast<char>(c);
  if (c == '\b') return 'b';
  if (c == '\f') return 'f';
  return c < 0x80 ? named_escape(static_cast<char>(c)) : 0;
}

}  // namespace

std::string json_text(std::string_view text, bool ascii) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_character(text, at);
    if (const char name = json_name(c))
      out.append(1, '\\').append(1, name);
    else if (c < 0x20 || (ascii && c >= 0x7F))
      out += c == 0x7F ? "\x7F" : json_escape(c);
    else
      out.append(text.substr(begin, at - begin));
  }
  return out + '"';
}

// ---- cutting ------------------------------------------------------------------------------------------------------

namespace {

// True if this character goes.
class Stripped {
 public:
  explicit Stripped(const std::optional<std::string>& which) : blanks_(!which) {
    if (which) which_ = to_utf32(*which);
  }
  bool operator()(char32_t c) const { return blanks_ ? is_blank(c) : which_.find(c) != which_.npos; }

 private:
  bool blanks_;
  std::u32string which_;
};

size_t last_start(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && !begins_character(text[at])) --at;
  return at;
}

}  // namespace

std::string_view trimmed(std::string_view text, Side side, const std::optional<std::string>& which) {
  const Stripped goes(which);
  while (side != Side::right && !text.empty()) {
    size_t at = 0;
    if (!goes(next_character(text, at))) break;
    text.remove_prefix(at);
  }
  while (side != Side::left && !text.empty()) {
    const size_t begin = last_start(text);
    size_t at = begin;
    if (!goes(next_character(text, at))) break;
    text = text.substr(0, begin);
  }
  return text;
}

std::string stripped(std::string_view text, Side side, const std::optional<std::string>& which) {
  return std::string(trimmed(text, side, which));
}

namespace {

std::vector<std::string> split_at_blanks(std::string_view text, int64_t most) {
  std::vector<std::string> parts;
  std::string_view rest = trimmed(text, Side::left);
  while (!rest.empty()) {
    size_t at = 0, end = 0;
    while (at < rest.size() && !is_blank(next_character(rest, at))) end = at;
    if (most >= 0 && static_cast<int64_t>(parts.size()) == most) end = rest.size();
    parts.emplace_back(rest.substr(0, end));
    rest = trimmed(rest.substr(end), Side::left);
  }
  return parts;
}

}  // namespace

size_t word_count(std::string_view text) {
  size_t count = 0;
  bool behind_blank = true;
  for (size_t at = 0; at < text.size();) {
    const bool blank = is_blank(next_character(text, at));
    count += behind_blank && !blank;
    behind_blank = blank;
  }
  return count;
}

size_t part_count(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

std::vector<std::string> split(std::string_view text, const std::optional<std::string>& separator, int64_t most) {
  if (!separator) return split_at_blanks(text, most);
  std::vector<std::string> parts;
  size_t begin = 0;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t at = text.find(*separator, begin);
    if (at == text.npos) break;
    parts.emplace_back(text.substr(begin, at - begin));
    begin = at + separator->size();
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::vector<std::string> split_right(std::string_view text, const std::optional<std::string>& separator, int64_t most) {
  std::vector<std::string> parts;
  size_t end = text.size();
  while (separator && (most < 0 || static_cast<int64_t>(parts.size()) < most) && end >= separator->size()) {
    const size_t at = text.rfind(*separator, end - separator->size());
    if (at == text.npos) break;
    parts.emplace_back(text.substr(at + separator->size(), end - at - separator->size()));
    end = at;
  }
  parts.emplace_back(text.substr(0, end));
  std::reverse(parts.begin(), parts.end());
  return parts;
}

namespace {

bool ends_line(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

}  // namespace

// A line feed behind a carriage return counts as a line of its own.
size_t line_count(std::string_view text) {
  size_t count = 1;
  for (size_t at = 0; at < text.size();) count += ends_line(next_character(text, at));
  return count;
}

std::vector<std::string> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = at;
    const char32_t c = next_character(text, at);
    if (!ends_line(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    lines.emplace_back(text.substr(begin, (keep_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  return lines;
}

std::string replaced(std::string_view text, std::string_view old, std::string_view fresh, int64_t most) {
  std::string out;
  size_t begin = 0, from = 0;
  for (int64_t count = 0; (most < 0 || count < most) && from <= text.size(); ++count) {
    const size_t at = text.find(old, from);
    if (at == text.npos) break;
    out.append(text.substr(begin, at - begin)).append(fresh);
    begin = at + old.size();
    from = begin;
    // An empty text stands between all characters.
    if (old.empty()) do
        ++from;
      while (from < text.size() && !begins_character(text[from]));
  }
  return out.append(begin < text.size() ? text.substr(begin) : std::string_view());
}

// ---- case ---------------------------------------------------------------------------------------------------------

std::string lower(std::string_view text) {
  std::vector<char32_t> codes;
  for (size_t at = 0; at < text.size();) codes.push_back(next_character(text, at));
  std::string out;
  for (const CasedCharacter& c : lower_case(codes)) append_utf8(out, c.character);
  return out;
}

std::string upper(std::string_view text) { return upper_case(text); }

std::string capitalized(std::string_view text) {
  if (text.empty()) return {};
  size_t first = 0;
  next_character(text, first);
  return upper(text.substr(0, first)) + lower(text.substr(first));
}

namespace {

template <class Begins>
std::string capitalized_words(std::string_view text, const Begins& parts_words) {
  std::string out;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t start = at;
    if (!parts_words(next_character(text, at))) continue;
    out.append(capitalized(text.substr(begin, start - begin))).append(text.substr(start, at - start));
    begin = at;
  }
  return out.append(capitalized(text.substr(begin)));
}

bool is_ascii_letter(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::string title(std::string_view text) {
  return capitalized_words(text, [](char32_t c) {
    if (c < 0x80) return !is_ascii_letter(c);
    return !unicode_available() || !is_word(c) || is_number(c) || is_mark(c);
  });
}

std::string title_by_words(std::string_view text) {
  return capitalized_words(
      text, [](char32_t c) { return is_blank(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<'; });
}

// ---- time ---------------------------------------------------------------------------------------------------------

namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};

std::string padded(int number, size_t width, char filler = '0') {
  std::string text = std::to_string(std::max(0, number));
  return text.size() < width ? std::string(width - text.size(), filler) + text : text;
}

int twelve(int hour) { return hour % 12 == 0 ? 12 : hour % 12; }

Result<std::string> directive(const std::tm& t, char letter) {
  const auto day = kDays[static_cast<size_t>(t.tm_wday) % 7], month = kMonths[static_cast<size_t>(t.tm_mon) % 12];
  switch (letter) {
    case 'a': return std::string(day.substr(0, 3));
    case 'A': return std::string(day);
    case 'b':
    case 'h': return std::string(month.substr(0, 3));
    case 'B': return std::string(month);
    case 'd': return padded(t.tm_mday, 2);
    case 'e': return padded(t.tm_mday, 2, ' ');
    case 'm': return padded(t.tm_mon + 1, 2);
    case 'y': return padded(t.tm_year % 100, 2);
    case 'Y': return padded(t.tm_year + 1900, 4);
    case 'H': return padded(t.tm_hour, 2);
    case 'I': return padded(twelve(t.tm_hour), 2);
    case 'M': return padded(t.tm_min, 2);
    case 'S': return padded(t.tm_sec, 2);
    case 'p': return std::string(t.tm_hour < 12 ? "AM" : "PM");
    case 'j': return padded(t.tm_yday + 1, 3);
    case 'u': return padded(t.tm_wday == 0 ? 7 : t.tm_wday, 1);
    case 'w': return padded(t.tm_wday, 1);
    case 'f': return std::string("000000");
    case 'z':
    case 'Z': return std::string();
    case 'n': return std::string("\n");
    case 't': return std::string("\t");
    case '%': return std::string("%");
    case 'D': return time_text(t, "%m/%d/%y");
    case 'x': return time_text(t, "%m/%d/%y");
    case 'F': return time_text(t, "%Y-%m-%d");
    case 'T':
    case 'X': return time_text(t, "%H:%M:%S");
    case 'R': return time_text(t, "%H:%M");
    case 'c': return time_text(t, "%a %b %e %H:%M:%S %Y");
    default: return fail(ErrorCode::unsupported, "strftime_now does not know %%%c", letter);
  }
}

// "%-d": without a zero in front.
std::string without_zero(std::string text) {
  const size_t at = text.find_first_not_of("0 ");
  return at == text.npos ? std::string("0") : text.substr(at);
}

}  // namespace

Result<std::string> time_text(const std::tm& time, std::string_view format) {
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    const bool bare = format[i + 1] == '-' && i + 2 < format.size();
    i += bare ? 2 : 1;
    LAPILLI_TRY(std::string text, directive(time, format[i]));
    out += bare ? without_zero(std::move(text)) : text;
  }
  return out;
}

}  // namespace lapilli::jinja
