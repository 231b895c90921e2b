// Input of the encoder's first layer. Only this file knows what a source consists of: ids, which are embedded, or
// features (frames of sound, samples, patches of pictures), which go through layers of their own.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

struct SourceRows {
  uint32_t batch = 0, length = 0;  // sources, and the most rows of one
  // Not 0: an encode pass, whose sources are packed into at most this many rows as in `spans`. Otherwise source b has
  // the rows from b * length on.
  uint32_t packed_rows = 0;
  graph::TensorId spans = graph::kNone;
  uint32_t features = 0;  // not packed: the most rows of features of one source
};
// Output of the layers of features; for models with stages, the first stage's rows of whole pictures.
graph::TensorId feature_layers(Builder& b, const SourceRows& source);
// The encoder's rows from the output of its stages; in a pass, packed from here on.
graph::TensorId rows_of_stages(Builder& b, const SourceRows& source, graph::TensorId x);
// Rows with which a second stream begins (StackWeights::second_stream): as many as the sources have.
graph::TensorId second_stream_rows(Builder& b, const SourceRows& source);
// For encoders with segments: rows to add to the queries, which tell the type of each row.
graph::TensorId segment_rows(Builder& b, const SourceRows& source);
// [rows, encoder.d_model]
graph::TensorId encoder_input(Builder& b, const SourceRows& source);

}  // namespace lapilli::model
