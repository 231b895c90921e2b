// Times as they are typed: seconds, or with minutes and hours in front.
#pragma once

#include <optional>
#include <string_view>

namespace lapilli::cli {

// "90", "90.5", "1:30", "01:02:03.5"; nothing for others, and for what is beyond a year.
std::optional<double> seconds_in(std::string_view text);

}  // namespace lapilli::cli
