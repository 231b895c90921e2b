#include "model/blocks/memory.hpp"

#include "ops/core/state.hpp"

namespace lapilli::model {

graph::TensorId memory_of_layer(Builder& b, const std::string& label, const NormLayer& norm, const MemoryRows& memory) {
  const uint64_t rows = uint64_t{memory.batch} * memory.rows, layers = b.config().last_stack().layers;
  if (rows == 0) return graph::kNone;
  const uint32_t d = b.config().last_stack().d_model;
  const auto all = b.state(state_id(StateKind::memory), "memory", layers * rows, d, graph::DType::f32);
  const auto x = ops::copy_rows(b.g(), label + ".memory.rows", all, memory.layer * rows, rows);
  return before_sublayer(b, label + ".memory.norm", norm, x);
}

}  // namespace lapilli::model
