#include "ops/case_util.hpp"

#include <limits>

namespace lapilli {

uint32_t CaseRandom::word() {
  state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<uint32_t>(state_ >> 32) ^ static_cast<uint32_t>(state_ >> 11);
}

HostTensor random_values(const graph::Tensor& tensor, CaseRandom& random, double scale) {
  HostTensor v;
  v.f.assign(tensor.elements(), 0.0);
  for (uint64_t r = 0; r < tensor.rows; ++r)
    for (uint64_t c = 0; c < tensor.cols; ++c)
      v.f[r * tensor.ld + c] = static_cast<double>(static_cast<float>(random.unit() * scale));
  return v;
}

HostTensor words_of(std::vector<uint32_t> words) {
  HostTensor v;
  v.u = std::move(words);
  return v;
}

namespace {
graph::TensorId add_line(graph::Graph& g, const std::string& name, uint64_t words, graph::DType dtype,
                         graph::Space space) {
  graph::Tensor t;
  t.name = name;
  t.dtype = dtype;
  t.cols = t.ld = words;
  t.space = space;
  return g.add_tensor(std::move(t));
}
}  // namespace

graph::TensorId add_state(graph::Graph& g, const std::string& name, StateKind kind, uint64_t words,
                          graph::DType dtype) {
  const auto id = add_line(g, name, words, dtype, graph::Space::state);
  g.tensor(id).id = state_id(kind);
  return id;
}

graph::TensorId add_weight(graph::Graph& g, const std::string& name, uint64_t words, graph::DType dtype) {
  return add_line(g, name, words, dtype, graph::Space::weight);
}

HostTensor step_values(uint32_t step, uint32_t live, const std::vector<uint32_t>& slots) {
  std::vector<uint32_t> words(StepWords::words, 0);
  words[StepWords::step] = step;
  words[StepWords::live] = live;
  words[StepWords::done] = live == 0 ? 1 : 0;
  for (uint32_t r = 0; r < kMaxRows; ++r) words[StepWords::row_slot + r] = r < slots.size() ? slots[r] : r;
  return words_of(std::move(words));
}

graph::TensorId add_step(graph::Graph& g) {
  return add_state(g, "step", StateKind::step, StepWords::words, graph::DType::u32);
}
graph::TensorId add_params(graph::Graph& g) {
  return add_state(g, "params", StateKind::params, ParamWords::words, graph::DType::u32);
}
graph::TensorId add_lengths(graph::Graph& g) {
  return add_state(g, "lengths", StateKind::lengths, 2 * kMaxRows, graph::DType::u32);
}

HostTensor length_values(const std::vector<std::pair<uint32_t, uint32_t>>& ranges) {
  std::vector<uint32_t> words(2 * kMaxRows, 0);
  for (size_t i = 0; i < ranges.size(); ++i) {
    words[2 * i] = ranges[i].first;
    words[2 * i + 1] = ranges[i].second;
  }
  return words_of(std::move(words));
}

bool is_read(const graph::Graph& g, const graph::Node& node, graph::TensorId root) {
  for (const auto id : node.inputs)
    if (id != graph::kNone && g.root(id) == root) return true;
  return false;
}

bool is_written(const graph::Graph& g, const graph::Node& node, graph::TensorId root) {
  for (const auto id : node.outputs)
    if (id != graph::kNone && g.root(id) == root) return true;
  return false;
}

HostTensors host_tensors(const OpCase& c) {
  const auto& g = c.graph;
  const auto& node = g.node(0);
  HostTensors all;
  all.graph = &g;
  all.values.resize(g.tensors().size());
  for (graph::TensorId id = 0; id < g.tensors().size(); ++id) {
    if (g.root(id) != id) continue;
    const auto& t = g.tensor(id);
    const bool unset = is_written(g, node, id) && !is_read(g, node, id);
    if (t.dtype == graph::DType::f32)
      all.values[id].f.assign(t.elements(), unset ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    else
      all.values[id].u.assign(t.elements(), unset ? 0xdeadbeefu : 0u);
  }
  for (const auto& [id, value] : c.inputs) all.at(id) = value;
  return all;
}

}  // namespace lapilli
