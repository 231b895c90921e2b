#include "documents/subtitle_times.hpp"

#include <algorithm>
#include <array>

#include "documents/characters.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kFields = 4;                     // hours, minutes, seconds, milliseconds
constexpr size_t kFewestDigits = 6;               // of a line that resembles times
constexpr double kLargestField = 1e9;             // larger numbers make no difference
constexpr std::string_view kFieldSigns = ":.,;";  // between fields

struct Time {
  double seconds = 0;
  size_t fields = 0;
};

struct Field {
  double number = 0, scale = 1;  // scale: 10^-digits, for a fraction
  bool below_zero = false;
};

bool is_digit(char32_t c) {
  constexpr std::array<char32_t, 6> kZeros = {'0', 0x660, 0x6f0, 0x966, 0x9e6, 0xff10};
  return std::any_of(kZeros.begin(), kZeros.end(), [&](char32_t zero) { return c >= zero && c < zero + 10; });
}

size_t behind_blanks(std::string_view line, size_t at) {
  while (at < line.size() && is_blank(static_cast<unsigned char>(line[at]))) ++at;
  return at;
}

bool digit_at(std::string_view line, size_t at) {
  return at < line.size() && is_ascii_digit(static_cast<unsigned char>(line[at]));
}

// Reads a field at `at` and moves `at` behind it.
std::optional<Field> read_field(std::string_view line, size_t& at) {
  size_t digits = at;
  Field field;
  field.below_zero = line.substr(at, 1) == "-";
  if (field.below_zero) ++digits;
  if (!digit_at(line, digits)) return std::nullopt;
  for (at = digits; digit_at(line, at); ++at) {
    field.number = std::min(field.number * 10 + (line[at] - '0'), kLargestField);
    field.scale /= 10;
  }
  return field;
}

// Reads the field behind a separator, with blanks between where a translator put them ("00: 00: 01, 500").
std::optional<Field> read_next_field(std::string_view line, size_t& at) {
  size_t behind = at;
  if (behind >= line.size() || kFieldSigns.find(line[behind]) == std::string_view::npos) return std::nullopt;
  behind = behind_blanks(line, behind + 1);
  const auto field = read_field(line, behind);
  if (field) at = behind;
  return field;
}

std::optional<Time> read_time(std::string_view line, size_t& at) {
  Time time;
  bool colon = false, below_zero = false, fraction = false;
  for (auto field = read_field(line, at); field;) {
    ++time.fields;
    below_zero |= field->below_zero;
    time.seconds = fraction ? time.seconds + field->number * field->scale : time.seconds * 60 + field->number;
    if (fraction || time.fields == kFields || at >= line.size()) break;
    const char sign = line[at];
    colon |= sign == ':';
    fraction = time.fields == kFields - 1 || (sign != ':' && colon);
    field = read_next_field(line, at);
  }
  if (time.fields < 2 || (!colon && time.fields < 3)) return std::nullopt;
  if (below_zero) time.seconds = -time.seconds;
  return time;
}

bool is_arrow(char32_t c) { return c == '>' || c == 0x2192 || c == 0x21d2 || c == 0x27a1 || c == 0x27f6; }

// The position behind "->", "=>", "→", "--&gt;" and the like; `at` if there is none.
size_t behind_arrow(std::string_view line, size_t at) {
  size_t end = at;
  for (size_t next = end; next < line.size(); end = next) {
    const char32_t c = next_character(line, next);
    if (is_arrow(c)) return next;
    if (!is_dash(c) && c != '=') break;
  }
  return line.substr(end, 4) == "&gt;" ? end + 4 : at;
}

}  // namespace

std::optional<Timing> read_timing(std::string_view line, bool vtt) {
  size_t at = behind_blanks(line, 0);
  const auto begin = read_time(line, at);
  const size_t arrow = behind_blanks(line, at);
  const bool usual = line.substr(arrow, 3) == "-->";
  if (!begin || (vtt && !usual)) return std::nullopt;
  const size_t behind = usual ? arrow + 3 : behind_arrow(line, arrow);
  at = behind_blanks(line, behind);
  const auto end = read_time(line, at);
  // A text may contain "10:30 → 11:30".
  if (!end || behind == arrow || (!usual && std::min(begin->fields, end->fields) < 3)) return std::nullopt;
  return Timing{begin->seconds, end->seconds};
}

bool resembles_timing(std::string_view line) {
  size_t digits = 0, letters = 0;
  for (size_t at = 0; at < line.size();) {
    const char32_t c = next_character(line, at);
    if (is_digit(c))
      ++digits;
    else if (!is_sign(c))
      ++letters;
  }
  return digits >= kFewestDigits && letters * 2 < digits;
}

bool is_cue_number(std::string_view line) {
  size_t digits = 0, others = 0;
  for (size_t at = 0; at < line.size();) {
    const char32_t c = next_character(line, at);
    if (is_digit(c))
      ++digits;
    else if (!is_blank(c))
      others += is_sign(c) ? 1 : 2;
  }
  return digits > 0 && others < 2;
}

}  // namespace lapilli::documents
