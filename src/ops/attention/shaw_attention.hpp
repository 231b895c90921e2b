// Self attention with vectors of relative positions for keys and values (Shaw et al. 2018), as OpenNMT-py has it.
#pragma once

#include "graph/graph.hpp"
#include "ops/attention/attention.hpp"

namespace lapilli {

// "shaw_attention": each distance (position of the key - position of the query), clipped to `reach` on either side, has
// a vector, which is the same for all heads. It is added to the key before the product with the query, and to the value
// before the sum. inputs: q [rows, heads * head_dim], kv, vectors (kBiasWords words: [2 * reach + 1][head_dim], that of
// -reach first), and by the form of the rows
//   sequences: lengths; row b * queries + i is query i of sentence b, which sees the keys [begin, end) of its entry
//   pass:      spans; kv has one slot, and a row sees those of its own sentence. Rows past the last one are not written
//   step:      step and lineage; a row sees the positions up to its own, as in "attention_step"
// With `causal` a query sees no key behind it. outputs: context [rows, heads * head_dim]; a query without any key gives
// zeros.
enum class ShawRows : uint32_t { sequences, pass, step };
struct ShawAttentionAttributes {
  KvShape kv;
  uint32_t reach = 0;
  float scale = 1;
  ShawRows rows = ShawRows::sequences;
  uint32_t causal = 0;
  uint32_t batch = 0, queries = 0;  // not in a step
  uint32_t beams = 1, lineage_beam_slots = 0, lineage_positions = 0;
};

namespace ops {
struct ShawTensors {
  graph::TensorId q = graph::kNone, kv = graph::kNone, vectors = graph::kNone;
  graph::TensorId bounds = graph::kNone;  // lengths, spans or step
  graph::TensorId lineage = graph::kNone;
};
graph::TensorId shaw_attention(graph::Graph& g, const std::string& label, const ShawTensors& tensors,
                               const ShawAttentionAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
