// The result of a window: its segments between timestamps, and the distance to the next window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "speech/transcribe.hpp"

namespace lapilli::speech {

constexpr double kSecondsPerFrame = 0.01;

// Ids [first, last) of a window, with begin and end in units of two frames from its beginning.
struct WindowPart {
  size_t first = 0, last = 0;
  uint32_t begin = 0, end = 0;
};
struct SplitWindow {
  std::vector<WindowPart> parts;
  uint32_t advance = 0;  // frames
  WindowEnding ending = WindowEnding::no_pair;
};

// `ids` exclude the end token; ids from `timestamp_begin` on are timestamps. `frames`: the window's frames of sound.
SplitWindow split_window(std::span<const int32_t> ids, int32_t timestamp_begin, uint32_t frames);

}  // namespace lapilli::speech
