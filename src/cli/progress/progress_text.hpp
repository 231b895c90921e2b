// The progress of a run as one line that fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lapilli::cli {

struct ProgressState {
  std::optional<double> share;               // of the bytes, 0 to 1; nothing if the total is unknown
  uint64_t lines = 0;                        // finished ones
  uint64_t sentences = 0, sentences_of = 0;  // of the current lines; of 0 if that adds nothing
  uint64_t file = 0, files = 0;              // which of how many
  double seconds = 0;                        // since the beginning, when
  double share_before = 0;                   // this was done already,
  uint64_t lines_before = 0;                 // and these
};

// At most `columns` - 1 characters (all of them ASCII), so that no terminal wraps. Less important parts are dropped if
// there is no room.
std::string progress_text(const ProgressState& state, int columns);

}  // namespace lapilli::cli
