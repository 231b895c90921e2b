// The probabilities that sampling draws with, computed as the reference implementation does it: by sorting, in the
// order and with the comparisons of its warpers, in double precision. Shares nothing with the op.
#pragma once

#include <vector>

#include "search/search_options.hpp"

namespace lapilli::testing_support {

// The probabilities of one row of scores; forbidden ids have the probability 0.
std::vector<double> sampling_probabilities(std::vector<double> scores, const SearchOptions& options);

}  // namespace lapilli::testing_support
