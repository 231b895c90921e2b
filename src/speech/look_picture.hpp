// The looks of a segment's words as a sheet: the spectrogram once per word, low sounds below.
#pragma once

#include <string>

#include "drawing/look_sheet.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::speech {

// True if the segment has looks: words, and sound that they could look at.
bool has_looks(const Segment& segment);
// Refuses a segment without looks.
Result<drawing::LookSheet> look_sheet_of(const Segment& segment);

}  // namespace lapilli::speech
