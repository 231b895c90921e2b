// From the log of a sentence and its finished list to hypotheses. A hypothesis is a pointer (position, beam) into the
// log.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "search/hypothesis.hpp"
#include "search/sentence.hpp"

namespace lapilli {

// The best `count` hypotheses of a sentence whose search has ended; `number` is its place in the caller's batch, by
// which beams are counted.
Result<std::vector<Hypothesis>> trace_back(const Sentence& sentence, uint32_t number, uint32_t count);

// The ids that beam `beam` holds after `steps` steps of the log.
Result<std::vector<int32_t>> beam_history(const Sentence& sentence, uint32_t steps, uint32_t beam);

}  // namespace lapilli
