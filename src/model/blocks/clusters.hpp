// Embeddings and scores of tokens by clusters of ids (Config::clusters).
#pragma once

#include "model/blocks/embedding.hpp"

namespace lapilli::model {

// As embed_rows().
graph::TensorId embed_clusters(Builder& b, const IdRows& rows, const EmbedAttributes& attributes);
// Logarithms of probabilities [rows, vocabulary].
graph::TensorId cluster_logits(Builder& b, graph::TensorId x);

}  // namespace lapilli::model
