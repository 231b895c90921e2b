// Buckets of relative positions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"

namespace lapilli::model {

// The bucket of each distance (key position - query position) from `low` on; distances beyond either end have the
// bucket of that end.
struct RelativeTable {
  int32_t low = 0;
  std::vector<float> buckets;  // integers
};

// As in T5 (Raffel et al. 2020): one bucket per distance near zero, then wider ones on a logarithmic scale up to
// max_distance. Bidirectional: half of the buckets are for keys before the query, half for those after it; otherwise
// keys after it share bucket 0. Refuses fewer than 4 buckets, a max_distance within the near ones, and more distances
// than kBiasWords.
Result<RelativeTable> relative_table(uint32_t buckets, uint32_t max_distance, bool bidirectional);

}  // namespace lapilli::model
