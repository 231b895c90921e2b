// How far a run is, in one line that fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace lapilli::cli {

struct ProgressState {
  std::optional<double> share;               // of the bytes, 0 to 1; nothing where nobody knows how many come
  uint64_t lines = 0;                        // that are done
  uint64_t sentences = 0, sentences_of = 0;  // of the lines that are worked on; of 0 where that says nothing
  uint64_t file = 0, files = 0;              // which of how many
  double seconds = 0;                        // since the beginning, when
  double share_before = 0;                   // this was done already,
  uint64_t lines_before = 0;                 // and these
};

// At most `columns` - 1 characters (all of them ASCII), so that no terminal goes to another line. What matters less is
// left out where there is no room.
std::string progress_text(const ProgressState& state, int columns);

// 1,234,567
std::string grouped(uint64_t number);

}  // namespace lapilli::cli
