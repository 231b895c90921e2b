// Scaled dot-product attention over KV tensors (see KvShape): "attention" for whole sequences (no n x n buffer unless
// the weights are asked for), "attention_step" for one query per row while decoding.
#pragma once

#include "graph/graph.hpp"
#include "ops/matmul.hpp"

namespace lapilli {

// "attention": q [batch * queries, heads * head_dim]; row b * queries + i is query i of sentence b and sees the keys
// [begin, end) of the sentence's lengths entry, of these only positions <= i if causal. A query without any key gives
// zeros (and zero weights).
// inputs: q, kv (arena or state; slot = sentence), lengths (uniform). outputs: context [batch * queries, heads * head_dim],
// and if wanted weights [batch * heads * queries, keys].
struct AttentionAttributes {
  uint32_t batch = 0, queries = 0, keys = 0;  // keys: the most that any sentence has (columns of the weights)
  KvShape kv;
  uint32_t causal = 0;
  float scale = 1;
};

// "attention_step": row r is slot row_slot[r]. Self attention sees positions 0..step, each in the cache of the slot that
// lineage (parity step & 1) names for it, except position `step` itself, which is in the row's own slot. Cross attention
// sees the keys [begin, end) of sentence slot / beams. Rows at or beyond `live` write nothing.
// inputs: q, kv, lineage or kNone (cross), step, params, lengths or kNone (self). outputs: context.
struct AttentionStepAttributes {
  KvShape kv;               // slots: of the session (self) or sentences (cross)
  uint32_t self = 1;        // 0: cross
  uint32_t lineage_slots = 0, lineage_positions = 0;  // strides of lineage
  float scale = 1;
  // Slots of a sentence, where the plan knows them: self attention can then be cut by sentences if a head of the cache
  // exceeds a binding. 0: unknown.
  uint32_t beams = 0;
};

namespace ops {
struct AttentionResult {
  graph::TensorId context, weights;
};
AttentionResult attention(graph::Graph& g, const std::string& label, graph::TensorId q, graph::TensorId kv,
                          graph::TensorId lengths, const AttentionAttributes& attributes, bool want_weights);
// The state tensors that steps read.
struct StepTensors {
  graph::TensorId step = graph::kNone, params = graph::kNone, lineage = graph::kNone, lengths = graph::kNone;
};
graph::TensorId attention_step(graph::Graph& g, const std::string& label, graph::TensorId q, graph::TensorId kv,
                               const StepTensors& state, const AttentionStepAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
