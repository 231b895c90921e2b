// The cases of "matmul" and what other ops' cases need of packed weights.
#pragma once

#include <vector>

#include "ops/case_util.hpp"
#include "ops/matmul.hpp"

namespace lapilli {

// A packed weight [k, n] with bias, values in +-scale.
HostTensor packed_values(uint64_t n, uint64_t k, CaseRandom& random, double scale, bool bias = true);
std::vector<OpCase> matmul_cases();

}  // namespace lapilli
