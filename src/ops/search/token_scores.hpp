// "token_scores": the logarithms of the probabilities of given ids, of which the host reads one number a row instead of
// a row of the vocabulary.
#pragma once

#include "graph/graph.hpp"

namespace lapilli {

// Row r of the logits scores the id at `first` + r + 1: rows predict the ids behind their own. Where there is none, or
// one outside the vocabulary, the score is 0. inputs: logits [rows, vocabulary], ids (u32, one after the other).
// outputs: scores [rows, 1].
struct TokenScoresAttributes {
  uint32_t first = 0;
};

namespace ops {
graph::TensorId token_scores(graph::Graph& g, const std::string& label, graph::TensorId logits, graph::TensorId ids,
                             uint32_t first);
}  // namespace ops

}  // namespace lapilli
