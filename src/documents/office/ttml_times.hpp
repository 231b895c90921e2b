// The times of TTML: "00:00:01.5", "00:00:01:12" with frames, "1.5s", "15000000t".
#pragma once

#include <optional>
#include <string_view>

#include "documents/subtitle_times.hpp"

namespace lapilli::documents {

// Frames and ticks of a second, as the root element says.
struct TtmlRates {
  double frames = 30, ticks = 1;
};

// A positive number, or `otherwise`.
double ttml_rate(std::string_view value, double otherwise);
// Seconds; none for what is no time.
std::optional<double> ttml_seconds(std::string_view time, const TtmlRates& rates);
// The times of an element; "" for attributes that it lacks. What is not told is unknown.
Timing ttml_timing(std::string_view begin, std::string_view end, std::string_view duration, const TtmlRates& rates);

}  // namespace lapilli::documents
