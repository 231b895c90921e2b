// Shared by "argmax" and "top_k": choices from slices of the columns of scores. Inputs: scores, step (its live rows),
// and search or kNone.
#pragma once

#include <functional>

#include "ops/search/search_util.hpp"

namespace lapilli::search {

struct SelectPush {
  LAPILLI_PUSH(uint32_t groups, columns, ld4, slice4, slices, x_begin4, out_begin, out_ld, first_row;)
};

// Checks that the output has `words` words per slice.
Status expect_selection(const graph::Graph& g, const graph::Node& node, const char* output, uint64_t words);
// Row slices, one per dispatch.
Result<std::vector<RowSlice>> selection_rows(const LowerContext& context, const graph::Node& node);
// Sets groups and operands for these rows. The kernel's output consists of elements of `element_words` words, and it
// counts in these.
Result<SelectPush> bind_selection(const LowerContext& context, const graph::Node& node, const RowSlice& rows,
                                  uint32_t element_words, Dispatch& d);
// The number of rows that count.
uint64_t selected_rows(const graph::Graph& g, const graph::Node& node, HostTensors& values);
// Adds the node with an output of `words_a_slice` words for each slice, and with `attributes`; their slices are derived
// from the scores.
graph::TensorId add_selection(graph::Graph& g, graph::Node node, SelectAttributes attributes, uint64_t words_a_slice);

// ---- cases --------------------------------------------------------------------------------------------------------

struct SelectCase {
  std::string name;
  uint64_t rows = 0, columns = 0, seed = 0;
  uint32_t live = 0;  // live rows; 0: all
};
// `add` adds the node.
OpCase select_case(const SelectCase& of,
                   const std::function<void(graph::Graph&, graph::TensorId scores, graph::TensorId step)>& add);

}  // namespace lapilli::search
