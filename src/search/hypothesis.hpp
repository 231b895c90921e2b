// What a search finds.
#pragma once

#include <cstdint>
#include <vector>

namespace lapilli {

struct Hypothesis {
  std::vector<int32_t> ids;  // decoder start (or given ids) and end token included, no padding
  float score = 0;           // sum of log-probabilities / generated tokens ^ length_penalty
  // Per generated token the logarithm of its probability as the search saw it, after all processors: forced ids have 0.
  // Greedy search normalizes what the processors left over, beam search what they were given. They sum up to
  // score * generated tokens ^ length_penalty, but for rounding.
  std::vector<float> token_scores;
  std::vector<int32_t> beam_indices;  // per generated token: the beam (counted over the batch) that it continued
};

}  // namespace lapilli
