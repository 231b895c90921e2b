// Products with some columns of a weight alone.
#pragma once

#include "graph/graph.hpp"

namespace lapilli {

// "listed_product": y = x * W + bias in the columns whose bits are set, and MASKED in all others, whose weights are not
// read but for those among four neighbours. A row's mask has 32 columns a word, the first in the lowest bit.
// inputs: x [rows, k], W (n columns, k deep, with its bias), masks [rows, n / 32 rounded up] (u32).
// outputs: y [rows, n].
namespace ops {
struct ListedOperands {
  graph::TensorId x = graph::kNone, weight = graph::kNone, masks = graph::kNone;
};
graph::TensorId listed_product(graph::Graph& g, const std::string& label, const ListedOperands& operands, uint64_t n);
}  // namespace ops

}  // namespace lapilli
