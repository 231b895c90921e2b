// Attention of ProphetNet's predicting streams (Qi et al. 2020), whole sequences and one step.
//
// The decoder runs the tokens through a main stream, and alongside it predicting streams that share its weights: stream
// s at position i predicts the token at i + 1 + s. A predicting stream reads the main stream's keys and, at its own
// position, its own key. (The main stream's attention is ordinary, with its bias in q's rows: attention.hpp.)
#pragma once

#include "graph/graph.hpp"
#include "ops/attention/attention.hpp"

namespace lapilli {

// "stream_attention". inputs: q [rows, ...], kv (of the main stream), lineage and step (in a step) or kNone, lengths
// (whole sequences) or kNone, distances. outputs: context [rows, heads * head_dim].
//   q: heads * head_dim columns of the query; the bias as BiasForm::rows; from own_column on, per head, head_dim of the
//   row's own key and as many of its value.
// Whole sequences: row b * queries + i is position i of sentence b, which has the keys [0, end) of its lengths entry.
// Step: row r's word gives its beam slot and position; rows at or beyond `live` write nothing.
// Stream s at position i sees the keys 0..i - s, and key 0 in any case; the bias of key j is that of the distance
// j - i - 1, and of the own key that of distance 0.
struct StreamAttentionAttributes {
  KvShape kv;
  RelativeBias bias;  // BiasForm::rows
  uint32_t own_column = 0;
  uint32_t stream = 0;
  float scale = 1;
  uint32_t step = 0;                                                  // 1: a step
  uint32_t batch = 0, queries = 0;                                    // for whole sequences
  uint32_t beams = 1, lineage_beam_slots = 0, lineage_positions = 0;  // for a step
};

namespace ops {
struct StreamTensors {
  graph::TensorId q = graph::kNone, kv = graph::kNone, distances = graph::kNone;
  graph::TensorId lineage = graph::kNone, step = graph::kNone;  // for a step
  graph::TensorId lengths = graph::kNone;                       // for whole sequences
};
graph::TensorId stream_attention(graph::Graph& g, const std::string& label, const StreamTensors& tensors,
                                 const StreamAttentionAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
