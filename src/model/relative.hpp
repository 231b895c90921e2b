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

// Rows of a table of vectors by distance (He et al. 2021, DeBERTa), of which there are 2 * span: that of a query x
// after its key is span + x, within the table. With buckets, span is their number, and x beyond half of them gets wider
// ones on a logarithmic scale up to `distance`; without, span is `distance`.
Result<RelativeTable> vector_table(uint32_t buckets, uint32_t distance);
// One row for each distance: the greatest first.
RelativeTable plain_table();
// The first and the last row that distances below `length` take.
struct VectorRows {
  uint32_t first = 0, last = 0;
};
VectorRows vector_rows(const RelativeTable& table, uint32_t length);

}  // namespace lapilli::model
