// An alternative for long recordings: cuts them at quiet points and hears several chunks at once. No window waits for
// the one before, so that a device has more to do at once. Unlike in the reference's sequential algorithm, the text may
// differ where a chunk begins.
#pragma once

#include <span>

#include "speech/silence.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::speech {

// Transcribes one recording, in the language of its first window if none is given. A chunk longer than its first window
// is processed like a recording of its own. Segments come in order, once all chunks that are heard together are done.
// Refuses conditioning on earlier text.
Result<TranscribeOutput> transcribe_chunks(const std::shared_ptr<Model>& model, const TranscribeRequest& request,
                                           std::span<const Chunk> chunks, uint32_t at_a_time);

}  // namespace lapilli::speech
