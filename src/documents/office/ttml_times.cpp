#include "documents/office/ttml_times.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "documents/characters.hpp"

namespace lapilli::documents {

namespace {

constexpr size_t kLongestTime = 40;

// Reads digits with a fraction at `at` and moves `at` behind them.
std::optional<double> read_decimal(std::string_view text, size_t& at) {
  const size_t begin = at;
  double number = 0, scale = 0;
  for (; at < text.size() && (is_ascii_digit(static_cast<unsigned char>(text[at])) || (text[at] == '.' && scale == 0));
       ++at) {
    if (text[at] == '.') {
      scale = 1;
    } else {
      number = number * 10 + (text[at] - '0');
      scale *= 10;
    }
  }
  if (at == begin || !is_ascii_digit(static_cast<unsigned char>(text[begin]))) return std::nullopt;
  return scale > 0 ? number / scale : number;
}

std::optional<double> unit_of(std::string_view metric, const TtmlRates& rates) {
  const std::array<std::pair<std::string_view, double>, 6> units = {
      {{"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 0.001}, {"f", 1 / rates.frames}, {"t", 1 / rates.ticks}}};
  const auto found = std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == metric; });
  return found == units.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

double ttml_rate(std::string_view value, double otherwise) {
  size_t at = 0;
  const auto number = read_decimal(value.substr(0, kLongestTime), at);
  return number && *number > 0 ? *number : otherwise;
}

std::optional<double> ttml_seconds(std::string_view time, const TtmlRates& rates) {
  if (time.size() > kLongestTime) return std::nullopt;
  size_t at = 0;
  auto seconds = read_decimal(time, at);
  if (!seconds || at == time.size()) return std::nullopt;
  if (time[at] != ':') {
    const auto unit = unit_of(time.substr(at), rates);
    return unit ? std::optional(*seconds * *unit) : std::nullopt;
  }
  for (size_t fields = 2; at < time.size(); ++fields) {
    const bool colon = time[at] == ':';
    const auto field = read_decimal(time, ++at);
    if (!colon || !field || fields > 4) return std::nullopt;
    seconds = fields == 4 ? *seconds + *field / rates.frames : *seconds * 60 + *field;
  }
  return seconds;
}

Timing ttml_timing(std::string_view begin, std::string_view end, std::string_view duration, const TtmlRates& rates) {
  Timing timing;
  const auto first = ttml_seconds(begin, rates), last = ttml_seconds(end, rates),
             length = ttml_seconds(duration, rates);
  if (first) timing.begin = *first;
  if (last)
    timing.end = *last;
  else if (first && length)
    timing.end = *first + *length;
  return timing;
}

}  // namespace lapilli::documents
