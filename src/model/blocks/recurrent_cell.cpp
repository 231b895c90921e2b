#include "model/blocks/recurrent_cell.hpp"

#include "ops/rows/recurrent_cell.hpp"

namespace lapilli::model {

namespace {

graph::TensorId gates_and_values(Builder& b, const std::string& label, const AttentionWeights& w, graph::TensorId h) {
  return ops::linear(b.g(), label + ".gates", h, b.weight(w.qkv), cell_columns(b.config().decoder.d_model));
}

}  // namespace

graph::TensorId recurrent_cell(Builder& b, const std::string& label, const AttentionWeights& w, const Sublayer& in,
                               uint32_t run) {
  const auto gates = gates_and_values(b, label, w, in.h);
  return ops::recurrent_cell(b.g(), label, {in.x, gates}, {RowLayout::batch, run});
}

graph::TensorId recurrent_cell_step(Builder& b, const std::string& label, const AttentionWeights& w, const Sublayer& in,
                                    const StepAttention& how) {
  const auto gates = gates_and_values(b, label, w, in.h);
  return ops::recurrent_cell(b.g(), label, {in.x, gates, in.kv, how.state.lineage, how.state.step},
                             {RowLayout::step, 1, how.lineage_beam_slots, how.lineage_positions});
}

}  // namespace lapilli::model
