// Reconstruction of hypotheses from a sentence's log and finished list. A hypothesis is a pointer (position, beam) into
// the log.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "search/hypothesis.hpp"
#include "search/sentence.hpp"

namespace lapilli {

// The best `count` hypotheses of a sentence whose search has ended; `number` is its index in the caller's batch, an
// offset for beam indices.
Result<std::vector<Hypothesis>> trace_back(const Sentence& sentence, uint32_t number, uint32_t count);

// The ids of beam `beam` after `steps` steps of the log.
Result<std::vector<int32_t>> beam_history(const Sentence& sentence, uint32_t steps, uint32_t beam);

}  // namespace lapilli
