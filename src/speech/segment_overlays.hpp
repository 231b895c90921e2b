// The attention overlays of a segment's words as a sheet: the spectrogram once per word, low sounds below.
#pragma once

#include "drawing/overlay_sheet.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::speech {

// True if the segment has overlays: words, and sound that they could attend to.
bool has_overlays(const Segment& segment);
// Refuses a segment without overlays.
Result<drawing::OverlaySheet> overlay_sheet_of(const Segment& segment);

}  // namespace lapilli::speech
