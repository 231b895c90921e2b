// The words of a weight that nothing stored goes to. Kernels read them as zeros, so loading has to write them.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/weights/weights.hpp"

namespace lapilli {

struct WordRange {
  uint64_t begin = 0, end = 0;
  friend bool operator==(const WordRange&, const WordRange&) = default;
};

// Ranges that hold every word of the source which no piece writes, in order and apart. Of a packed matrix a panel that
// lacks a column is one range, as its padding is strewn over it; nothing else that a piece writes is in them.
std::vector<WordRange> padding_of(const WeightSource& source);

}  // namespace lapilli
