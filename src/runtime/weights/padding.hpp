// Words of a weight that no stored value goes to. Kernels read them as zeros, so loading has to write them.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/weights/weights.hpp"

namespace lapilli {

struct WordRange {
  uint64_t begin = 0, end = 0;
  friend bool operator==(const WordRange&, const WordRange&) = default;
};

// Ordered, disjoint ranges that cover every word of the source which no piece writes. In a packed matrix, a panel that
// lacks a column is one range, since its padding is scattered over it; no other words that a piece writes are in them.
std::vector<WordRange> padding_of(const WeightSource& source);

}  // namespace lapilli
