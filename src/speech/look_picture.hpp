// What a segment's words looked at, as a sheet: the spectrogram once for each word, low sounds below.
#pragma once

#include <string>

#include "image/look_sheet.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::speech {

// Whether a segment has any: words, and sound that they could look at.
bool has_looks(const Segment& segment);
// Refuses a segment that has none.
Result<image::LookSheet> look_sheet_of(const Segment& segment);

}  // namespace lapilli::speech
