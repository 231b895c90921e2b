#include "runtime/check/interpreter.hpp"

namespace lapilli {

namespace {
// Grows the value to the graph's view of the tensor; a state may be larger than one graph's view of it.
void fit(HostTensor& value, const graph::Tensor& t) {
  const uint64_t n = t.elements();
  if (t.dtype == graph::DType::f32) {
    if (value.f.size() < n) value.f.resize(n, 0.0);
  } else if (value.u.size() < n) {
    value.u.resize(n, 0);
  }
}
}  // namespace

void Interpreter::begin(const graph::Graph& graph) {
  tensors_.graph = &graph;
  tensors_.values.assign(graph.tensors().size(), {});
  for (graph::TensorId id = 0; id < graph.tensors().size(); ++id) {
    const auto& t = graph.tensor(id);
    if (graph.root(id) != id) continue;
    HostTensor& value = tensors_.values[id];
    // Moved instead of copied: end() moves them back.
    if (t.space == graph::Space::weight) value = std::move(weights[t.id]);
    if (t.space == graph::Space::state) value = std::move(states[t.id]);
    fit(value, t);
  }
}

void Interpreter::run_node(graph::NodeId id) {
  const auto& node = tensors_.graph->node(id);
  node.op->reference(*tensors_.graph, node, tensors_);
}

void Interpreter::end() {
  const auto& graph = *tensors_.graph;
  for (graph::TensorId id = 0; id < graph.tensors().size(); ++id) {
    const auto& t = graph.tensor(id);
    if (graph.root(id) != id) continue;
    if (t.space == graph::Space::weight) weights[t.id] = std::move(tensors_.values[id]);
    if (t.space == graph::Space::state) states[t.id] = std::move(tensors_.values[id]);
  }
  tensors_ = {};
}

void Interpreter::run(const graph::Graph& graph) {
  begin(graph);
  for (graph::NodeId id = 0; id < graph.nodes().size(); ++id) run_node(id);
  end();
}

}  // namespace lapilli
