// Parts of an encoder beside its layers: the vectors of distances that its attention reads, the rows' segments, and a
// convolution over the embeddings.
#pragma once

#include "model/blocks/block.hpp"

namespace lapilli::model {

// The rows of the table of distance vectors that sentences of a length need, before a layer's projection.
struct DistanceRows {
  graph::TensorId rows = graph::kNone;  // kNone: the encoder has none
  uint32_t first = 0;                   // number of the first one in the table
};
// For sentences of at most `length` rows.
DistanceRows distance_rows(Builder& b, uint32_t length);

// The first layer's output x, to which the convolution of the embeddings is added. Layers update the embeddings in
// place, so the convolution is computed before them; kNone: the encoder has none.
graph::TensorId convolve_embeddings(Builder& b, graph::TensorId embeddings, graph::TensorId spans);
graph::TensorId add_convolution(Builder& b, graph::TensorId x, graph::TensorId convolved);

}  // namespace lapilli::model
