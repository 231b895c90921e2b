// Embedding lookup: rows of ids from the packed table, with positions.
#pragma once

#include "graph/graph.hpp"
#include "ops/core/kv_layout.hpp"

namespace lapilli {

// "embed": x[r] = scale * table[id] + position_table[position + position_offset]. The table is packed like a matrix
// with vocabulary columns (so that it also serves as output projection). Ids outside the vocabulary, which
// begins at first_id, give zeros. inputs:
// ids (source_ids/target_ids [batch, rows_per_slot], or lineage), table, position table [positions, d] or kNone,
//   step, spans or kNone (by `layout`). outputs: x [rows, d].
// RowLayout::batch: id = ids[r], position = r % rows_per_slot. RowLayout::step: beam slot and position of row r's word,
//   id = token plane of lineage (parity position & 1) at that position. RowLayout::spans: id = ids[r], position = r -
//   first row of the sentence; rows after the last sentence are not written.
// uncounted_id: always takes the row before position_offset. Except in a step, the position of any other id
//   counts only the earlier ids of its sentence that are not this one.
struct EmbedAttributes {
  uint32_t vocabulary = 0, d = 0;
  float scale = 1;
  RowLayout layout = RowLayout::batch;
  uint32_t rows_per_slot = 1;  // RowLayout::spans: maximum ids of a sentence
  uint32_t position_offset = 0;
  uint32_t uncounted_id = ~0u;  // none
  uint32_t lineage_beam_slots = 0, lineage_positions = 0;
  uint32_t first_id = 0;  // of the table's first column
  uint32_t beyond = 0;    // columns of the table after the vocabulary's
};

namespace ops {
struct EmbedOperands {
  graph::TensorId ids = graph::kNone, table = graph::kNone, positions = graph::kNone, step_or_spans = graph::kNone;
  uint64_t rows = 0;  // rows of x
};
graph::TensorId embed(graph::Graph& g, const std::string& label, const EmbedOperands& operands,
                      const EmbedAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
