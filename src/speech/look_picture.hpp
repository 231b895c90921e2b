// What a segment's words looked at, as a sheet: the spectrogram once for each word, low sounds below.
#pragma once

#include <string>

#include "image/look_sheet.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::speech {

// Refuses a segment that was given without looks, and one without words or without sound.
Result<image::LookSheet> look_sheet_of(const Segment& segment);
// The sheet as a file.
enum class LookFormat : uint8_t { svg, png };
Result<std::string> draw_looks(const Segment& segment, LookFormat format);

}  // namespace lapilli::speech
