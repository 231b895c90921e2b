// Buckets of relative positions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"

namespace lapilli::model {

// The bucket of each distance (position of the key - position of the query) from `low` on; distances beyond either end
// have the bucket of that end.
struct RelativeTable {
  int32_t low = 0;
  std::vector<float> buckets;  // whole numbers
};

// As T5 (Raffel et al. 2020): one bucket per distance near zero, then wider ones on a logarithmic scale up to
// max_distance. Bidirectional: half of the buckets for keys before the query, half for those behind it; otherwise keys
// behind it share bucket 0. Refused: fewer than 4 buckets, a max_distance within the near ones, more distances than
// kBiasWords.
Result<RelativeTable> relative_table(uint32_t buckets, uint32_t max_distance, bool bidirectional);

}  // namespace lapilli::model
