// The encoder stack, shared by the encode and the forward graph.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

struct EncoderRun {
  uint32_t batch = 0, length = 0;  // sentences, and the most ids of one
  // Not 0: an encode pass, whose sentences are packed into at most this many rows (see StateKind::spans). Otherwise
  // sentence b has the rows from b * length on.
  uint32_t rows = 0;
  uint32_t features = 0;  // not a pass: the most rows of features of one source, if sources are features
  bool keep_hidden_states = false, keep_attentions = false;  // not of windows with global positions
  uint32_t memory_rows = 0;                                  // not a pass: the most rows of memory of a source
  // Not a pass: keys are hidden by StateKind::key_masks; and a second stream, whose rows are then the result.
  bool masked = false, two_streams = false;
};
// The states of an encode pass: where its sentences are, and the arguments of grids that follow its rows and tiles.
graph::TensorId spans_state(Builder& b);
void encode_grids(Builder& b);
// Returns the memory [rows, or batch * length; encoder.d_model].
graph::TensorId build_encoder(Builder& b, const EncoderRun& run);
// Input of the decoder's cross attention: the memory, or its projection to the decoder's width.
graph::TensorId project_memory(Builder& b, graph::TensorId memory);

}  // namespace lapilli::model
