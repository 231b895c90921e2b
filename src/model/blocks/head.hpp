// Heads of a model that writes nothing: scores of ids or classes, vectors, numbers for each source or each of its
// rows.
#pragma once

#include <optional>

#include "model/blocks/block.hpp"

namespace lapilli::model {

// The sources of a pass, and the results that are wanted.
struct HeadRun {
  uint32_t sources = 0;          // at most
  std::optional<HeadKind> only;  // nothing: all heads run
  uint32_t prompt_rows = 0;      // of each source
  uint32_t chosen = 0;           // heads of each row read this many (StateKind::head_spans); 0: all rows
};

// Keeps "pooler_output", "logits" and "sentence_embedding" if the model has them.
void keep_heads(Builder& b, const ops::SpannedRows& rows, const HeadRun& run);

}  // namespace lapilli::model
