// Scores of given hypotheses by a network: teacher forcing, without a search.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "generate/generate.hpp"

namespace lapilli::evaluation {

struct Score {
  std::vector<double> log_probabilities;  // per id, given the ids before it
  double total = 0;                       // their sum / number of ids ^ length penalty: the score of beam search
};

// One Score per hypothesis of a source. Hypotheses have their end token and lack the start token. What processors do to
// scores is not part of it: they forbid, or force at the largest length, and neither concerns a hypothesis that was
// found.
Result<std::vector<Score>> score(const std::shared_ptr<Model>& model, const std::vector<int32_t>& source,
                                 std::span<const std::vector<int32_t>> hypotheses);

}  // namespace lapilli::evaluation
