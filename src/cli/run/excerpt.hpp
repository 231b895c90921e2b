// Parts of a recording.
#pragma once

#include <cstdint>
#include <optional>

namespace lapilli::cli {

struct Excerpt {
  double offset = 0;               // seconds of the recording to skip
  std::optional<double> duration;  // in seconds; none: to the end
};

// Samples of a recording, numbered from its beginning.
struct Stretch {
  uint64_t first = 0, count = 0;
};

}  // namespace lapilli::cli
