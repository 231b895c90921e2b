// Batches whose rows go on from what they wrote, as the reference runs them.
#pragma once

#include <memory>

#include "generate/generate.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::conformance {

// In each round the prompts of the windows are padded with `filling` on the left, to the longest row of the
// batch. Nothing looks at the filling, but it counts in the positions of what follows. The product has no such thing:
// each window that would be padded is transcribed alone, by the same model with a table of positions that begins so
// much later.
Result<speech::TranscribeOutput> transcribe_filled(const std::shared_ptr<Model>& model,
                                                   const speech::TranscribeRequest& request, int32_t filling);

}  // namespace lapilli::conformance
