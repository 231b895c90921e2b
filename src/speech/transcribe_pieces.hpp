// The other way through a long recording: it is cut where it is quiet, and several pieces are heard at a time. No
// window waits for the one before, so that a device has more to do at once; what the reference does one after the other
// it does not do here, and where a piece begins a window may say something else.
#pragma once

#include <span>

#include "speech/silence.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::speech {

// Of one recording, whose language is that of its first window if none is said. A piece that its window does not use up
// is gone through as a recording of its own. Segments come in order, when all pieces that are heard together are done.
// Refuses to go on from what was written before.
Result<TranscribeOutput> transcribe_pieces(const std::shared_ptr<Model>& model, const TranscribeRequest& request,
                                           std::span<const Piece> pieces, uint32_t at_a_time);

}  // namespace lapilli::speech
