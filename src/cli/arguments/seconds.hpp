// Times on the command line: seconds, optionally preceded by minutes and hours.
#pragma once

#include <optional>
#include <string_view>

namespace lapilli::cli {

// Parses "90", "90.5", "1:30", "01:02:03.5"; nothing for anything else, and beyond a year.
std::optional<double> seconds_in(std::string_view text);

}  // namespace lapilli::cli
