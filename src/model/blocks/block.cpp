#include "model/blocks/block.hpp"

namespace lapilli::model {

graph::TensorId Builder::weight(WeightIndex index) {
  for (const auto& [i, t] : weights_)
    if (i == index) return t;
  const WeightSpec& spec = network_.weights[index];
  graph::Tensor t;
  t.name = spec.name;
  t.space = graph::Space::weight;
  t.id = index;
  t.dtype = dtype_of(spec.format);
  // Computed matrices (random networks) are a single row of their packed words.
  if (spec.kind == WeightSpec::Kind::table || spec.kind == WeightSpec::Kind::values) {
    t.rows = spec.n;
    t.cols = spec.k;
    t.ld = round_up<uint64_t>(spec.k, 4);
  } else {
    t.rows = 1;
    t.cols = t.ld = spec.words;
  }
  weights_.emplace_back(index, graph_.add_tensor(std::move(t)));
  return weights_.back().second;
}

graph::TensorId Builder::state(uint32_t id, std::string name, uint64_t rows, uint64_t cols, graph::DType dtype) {
  for (const auto& [i, t] : states_)
    if (i == id) return t;
  graph::Tensor t;
  t.name = std::move(name);
  t.dtype = dtype;
  t.space = graph::Space::state;
  t.id = id;
  t.rows = rows;
  t.cols = t.ld = cols;
  states_.emplace_back(id, graph_.add_tensor(std::move(t)));
  return states_.back().second;
}

void Builder::keep(std::string name, graph::TensorId tensor) {
  graph_.tensor(tensor).keep = true;
  outputs_.push_back({std::move(name), tensor});
}

void Builder::keep_copy(const std::string& name, graph::TensorId tensor) {
  keep(name, ops::copy(graph_, name, tensor));
}

}  // namespace lapilli::model
