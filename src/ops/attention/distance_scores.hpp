// Scores by distance for steps of a recurrent decoder (Dai et al. 2019, Transformer-XL).
#pragma once

#include "graph/graph.hpp"
#include "ops/core/kv_layout.hpp"

namespace lapilli {

// "distance_scores": rows for "attention_step" with BiasForm::rows and sinks. A row of q has `inner` = heads * head_dim
// columns for the products with keys and, from column round_up(inner, 4) on, as many for those with the lines of
// distances. A row of y has the former, and from the same column on the scaled products of each head with line
// min(b, lines - 1) for each bucket b: [buckets][heads]. Bucket b is the distance b of an earlier key, the last one
// also of all beyond it. Behind the buckets each head has its sink: the logarithm of the sum of exponentials of the
// scores of those positions before the text, at distances p + 1 and more from position p, that the row sees. Their keys
// and values are zeros.
// Without `same` a row sees the distances up to `memory`, one of the prompt those up to p + memory; buckets beyond that
// score state::MASKED. With `same` it sees distances below `memory`.
// inputs: q, lines [distances, inner], step, and unless `same` or `prompt` the search state. outputs: y.
struct DistanceScoresAttributes {
  uint32_t heads = 0, head_dim = 0;
  uint32_t buckets = 0, memory = 0;
  uint32_t same = 0;
  uint32_t prompt = 0;  // 1: all rows are of prompts
  uint32_t beams = 1;
  float scale = 1;
  [[nodiscard]] uint32_t inner() const { return heads * head_dim; }
  [[nodiscard]] uint32_t column() const { return round_up(inner(), 4u); }  // of the first bucket
  [[nodiscard]] uint32_t sink_column() const { return column() + buckets * heads; }
};

namespace ops {
struct DistanceScoresOperands {
  graph::TensorId q = graph::kNone, lines = graph::kNone, step = graph::kNone, search = graph::kNone;
};
graph::TensorId distance_scores(graph::Graph& g, const std::string& label, const DistanceScoresOperands& operands,
                                const DistanceScoresAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
