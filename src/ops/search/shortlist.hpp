// Lexical shortlists: the ids that a source allows, for the product of the logits (ops/products/listed_product.hpp).
#pragma once

#include "graph/graph.hpp"
#include "ops/search/search.hpp"

namespace lapilli {

// "row_masks": a row's mask has a bit for each id that its sentence may write, 32 ids a word, the first in the lowest
// bit. It lies in `lists` from word P_SHORTLIST - 1 of the sentence's options on; 0: every bit is set.
// inputs: lists, search, step. outputs: masks [rows, ids / 32 rounded up] (u32).
struct RowMasksAttributes {
  uint32_t beams = 1;
};

namespace ops {
graph::TensorId row_masks(graph::Graph& g, const std::string& label, const SearchTensors& state, uint64_t rows,
                          uint64_t ids, uint32_t beams);
}  // namespace ops

}  // namespace lapilli
