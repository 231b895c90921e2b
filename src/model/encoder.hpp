// The encoder stack, shared by the encode and the forward graph.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

struct EncoderRun {
  uint32_t batch = 0, length = 0;  // sentences, and the most ids of one
  // Not 0: an encode pass, whose sentences follow one another in so many rows at most (StateKind::spans says where).
  // Otherwise sentence b has the rows from b * length on.
  uint32_t rows = 0;
  uint32_t features = 0;  // not a pass: the most rows of features of one source, where sources are features
  bool keep_hidden_states = false, keep_attentions = false;  // of attentions with a window none are kept
};
// Returns the memory [rows, or batch * length; encoder.d_model].
graph::TensorId build_encoder(Builder& b, const EncoderRun& run);
// What the decoder's cross attention reads of it: the memory, or its projection to the decoder's width.
graph::TensorId project_memory(Builder& b, graph::TensorId memory);

}  // namespace lapilli::model
