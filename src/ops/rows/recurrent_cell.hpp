// The cells of recurrent decoders.
#pragma once

#include "graph/graph.hpp"
#include "ops/core/kv_layout.hpp"

namespace lapilli {

// "recurrent_cell": the simpler simple recurrent unit (Kim et al. 2019), which stands for self attention. Behind each
// row is a cell c' = f * c + (1 - f) * v by column, where f is the sigmoid of the row's gates and v its values; the row
// becomes x + max(c', 0). Before its first position a sentence has zeros.
//   batch: row b * run + i is position i of sentence b
//   step:  rows have row words; those of one beam slot that follow one another are neighbours in position. The cell
//          behind a position lies in the beam slot that had it, by the parity of the position: a row reads that of the
//          slot which the lineage names for the position before, and writes its own, so nothing is copied when beams
//          change. Rows at or beyond `live` write nothing.
// inputs: x [rows, d], gates [rows, cell_columns(d)]: the gates, then from column cell_values(d) on the values; step:
// cells [2 * beam slots, d], lineage, step. outputs: x, and the cells of a step.
struct RecurrentCellAttributes {
  RowLayout layout = RowLayout::batch;     // or step
  uint32_t run = 1;                        // batch: rows of a sentence
  uint32_t beam_slots = 0, positions = 0;  // step: of the lineage
};
// Columns of the product that makes gates and values.
constexpr uint32_t cell_values(uint32_t d) { return round_up(d, 4u); }
constexpr uint32_t cell_columns(uint32_t d) { return cell_values(d) + d; }

namespace ops {
struct RecurrentCellOperands {
  graph::TensorId x = graph::kNone, gates = graph::kNone;
  graph::TensorId cells = graph::kNone, lineage = graph::kNone, step = graph::kNone;
};
// x, updated in place.
graph::TensorId recurrent_cell(graph::Graph& g, const std::string& label, const RecurrentCellOperands& operands,
                               const RecurrentCellAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
