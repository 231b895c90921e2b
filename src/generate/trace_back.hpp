// From the log and the finished lists to hypotheses. A hypothesis is a pointer (step, slot) into the log, which is
// never overwritten within a job.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "generate/generate.hpp"
#include "model/transformer.hpp"

namespace lapilli {

struct SearchRecord {
  model::SessionShape shape;
  uint32_t prefix = 1;               // given ids per sentence
  uint32_t steps = 0;                // rows of the log that count
  std::span<const uint32_t> log;     // LogLayout, from step 0
  std::span<const uint32_t> search;  // SearchLayout per sentence
  float length_penalty = 1;          // for the score of the last token
};

// The best `count` hypotheses of a sentence whose search has ended.
Result<std::vector<Hypothesis>> trace_back(const SearchRecord& record, uint32_t sentence,
                                           std::span<const int32_t> prefix, uint32_t count);

// The ids that the running hypothesis in `slot` holds after the record's steps; `prefixes` has the given ids by
// sentence.
Result<std::vector<int32_t>> slot_history(const SearchRecord& record, uint32_t slot,
                                          std::span<const std::vector<int32_t>> prefixes);

}  // namespace lapilli
