// Results of a search.
#pragma once

#include <cstdint>
#include <vector>

namespace lapilli {

// Why an output ends where it does.
enum class Finish : uint8_t {
  stop = 1,    // the model wrote an end token
  length = 2,  // max_length was reached first; an end token forced there does not count as one
  kept = 3,    // texts only (generate/translate.hpp): returned unchanged, without a search
};

struct Hypothesis {
  std::vector<int32_t> ids;  // decoder start (or prompt ids) and end token included, no padding
  float score = 0;           // sum of log-probabilities / generated tokens ^ length_penalty
  Finish finish = Finish::length;
  // Per generated token, the log-probability that the search saw after all processors; 0 for forced ids. Greedy search
  // normalizes after the processors, beam search before them. Their sum is score * generated tokens ^ length_penalty,
  // up to rounding.
  std::vector<float> token_scores;
  std::vector<int32_t> beam_indices;  // per generated token: the beam (counted over the batch) that it continued
};

}  // namespace lapilli
