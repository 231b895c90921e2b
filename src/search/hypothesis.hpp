// What a search finds.
#pragma once

#include <cstdint>
#include <vector>

namespace lapilli {

// Why an output ends where it does.
enum class Finish : uint8_t {
  end = 1,     // the model wrote an end token
  length = 2,  // it had not when max_length was reached; an end token that is forced there is none of its own
  kept = 3,    // of texts (generate/translate.hpp): given back as it came in, without a search
};

struct Hypothesis {
  std::vector<int32_t> ids;  // decoder start (or given ids) and end token included, no padding
  float score = 0;           // sum of log-probabilities / generated tokens ^ length_penalty
  Finish finish = Finish::length;
  // Per generated token the logarithm of its probability as the search saw it, after all processors: forced ids have 0.
  // Greedy search normalizes what the processors left over, beam search what they were given. They sum up to
  // score * generated tokens ^ length_penalty, but for rounding.
  std::vector<float> token_scores;
  std::vector<int32_t> beam_indices;  // per generated token: the beam (counted over the batch) that it continued
};

}  // namespace lapilli
