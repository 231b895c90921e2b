#include "ops/core/case_util.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.hpp"
#include "ops/core/spans.hpp"

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

graph::TensorId add_kv(graph::Graph& g, StateKind kind, const KvLayout& layout) {
  return add_state(g, "kv", kind, layout.words(), dtype_of(layout.format));
}

HostTensor kv_values(const KvLayout& layout, CaseRandom& random, double scale) {
  HostTensor v;
  v.f.resize(layout.shape.numbers());
  for (double& number : v.f) number = static_cast<double>(static_cast<float>(random.unit() * scale));
  if (layout.format == KvFormat::fp32) return v;
  put_on_grid(v);
  v.u.assign(layout.words(), 0);
  for (size_t i = 0; i < v.f.size(); ++i) v.u[i / 2] |= kv_half(static_cast<float>(v.f[i])) << (i % 2 * 16);
  v.f.clear();
  return v;
}

std::string suffix(KvFormat format) { return format == KvFormat::fp32 ? "" : lapilli::format(" kv %s", name(format)); }

double on_grid(double number) { return std::nearbyint(number * 64) / 64; }
void put_on_grid(HostTensor& value) {
  for (double& number : value.f) number = on_grid(number);
}

HostTensor step_values(const std::vector<uint32_t>& positions, uint32_t live, const std::vector<uint32_t>& beam_slots) {
  std::vector<uint32_t> words(state::STEP_WORDS, 0);
  words[state::STEP_TICK] = positions.back() + 1021;
  words[state::STEP_LIVE] = live;
  words[state::STEP_MARK] = 0xa1b2c3d4u;
  for (uint32_t r = 0; r < state::MAX_ROWS; ++r)
    words[state::STEP_ROWS + r] = state::row_word_of(r < beam_slots.size() ? beam_slots[r] : r,
                                                     r < positions.size() ? positions[r] : positions.back());
  return words_of(std::move(words));
}

std::vector<uint32_t> mixed_positions(uint32_t largest, uint32_t rows) {
  std::vector<uint32_t> positions{largest};
  for (uint32_t r = 1; r < rows; ++r) positions.push_back(largest - r / 2 % 3 % (largest + 1));
  return positions;
}

graph::TensorId add_step(graph::Graph& g) {
  return add_state(g, "step", StateKind::step, state::STEP_WORDS, graph::DType::u32);
}
graph::TensorId add_lengths(graph::Graph& g) {
  return add_state(g, "lengths", StateKind::lengths, 2 * state::MAX_ROWS, graph::DType::u32);
}

HostTensor length_values(const std::vector<std::pair<uint32_t, uint32_t>>& ranges) {
  std::vector<uint32_t> words(2 * state::MAX_ROWS, 0);
  for (size_t i = 0; i < ranges.size(); ++i) {
    words[2 * i] = ranges[i].first;
    words[2 * i + 1] = ranges[i].second;
  }
  return words_of(std::move(words));
}

graph::TensorId add_spans(OpCase& c, const std::vector<uint32_t>& lengths) {
  const auto id = add_state(c.graph, "spans", StateKind::spans, state::SPAN_WORDS, graph::DType::u32);
  std::vector<Span> sentences;
  const auto n = static_cast<uint32_t>(lengths.size());
  for (uint32_t i = 0; i < n; ++i) sentences.push_back({0, 0, lengths[i], span_slot(i, n)});
  const auto packed = packed_spans(sentences);
  c.live_rows = span_totals(packed).rows;
  c.live_tiles = span_totals(packed).tiles;
  c.inputs.emplace_back(id, words_of(span_words(packed)));
  return id;
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

uint64_t case_words(const OpCase& c) {
  uint64_t words = 0;
  for (graph::TensorId id = 0; id < c.graph.tensors().size(); ++id)
    if (c.graph.root(id) == id) words += c.graph.tensor(id).elements();
  return words;
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

namespace {

double float_of(uint32_t word) {
  float f;
  std::memcpy(&f, &word, 4);
  return static_cast<double>(f);
}

// Compares a tensor's numbers, one by one.
class NumberComparison {
 public:
  NumberComparison(const graph::Tensor& t, double tolerance, CaseComparison& c) : t_(t), tolerance_(tolerance), c_(c) {}

  void values(uint64_t i, double got, double want) {
    // A device may flush subnormals.
    if (got == 0 && std::abs(want) < static_cast<double>(std::numeric_limits<float>::min())) return;
    const double ratio = std::abs(got - want) / (tolerance_ * std::max(1.0, std::abs(want)));
    if (ratio <= 1) {
      c_.worst = std::max(c_.worst, ratio);
      return;
    }
    c_.worst = std::isfinite(ratio) ? std::max(c_.worst, ratio) : INFINITY;
    if (c_.problem.empty())
      c_.problem = format("%s[%u, %u] is %.9g, expected %.9g", t_.name, i / t_.ld, i % t_.ld, got, want);
  }

  // One half of each of two words.
  void halves(uint64_t i, uint32_t got, uint32_t want) {
    const auto a = static_cast<double>(half_to_float(static_cast<uint16_t>(got))),
               b = static_cast<double>(half_to_float(static_cast<uint16_t>(want)));
    values(i, std::abs(a - b) <= half_step(b) ? b : a, b);
  }

 private:
  const graph::Tensor& t_;
  double tolerance_;
  CaseComparison& c_;
};

}  // namespace

void to_words(const graph::Tensor& t, const HostTensor& value, std::span<uint32_t> words) {
  for (uint64_t i = 0; i < t.elements(); ++i) {
    if (t.dtype == graph::DType::f32) {
      const float f = static_cast<float>(value.f[i]);
      std::memcpy(&words[i], &f, 4);
    } else {
      words[i] = value.u[i];
    }
  }
}

void from_words(std::span<const uint32_t> words, const graph::Tensor& t, HostTensor& value) {
  for (uint64_t i = 0; i < t.elements(); ++i) {
    if (t.dtype == graph::DType::f32)
      value.f[i] = float_of(words[i]);
    else
      value.u[i] = words[i];
  }
}

CaseComparison compare_case(const OpCase& c, HostTensors& got, HostTensors& want) {
  CaseComparison result;
  for (const auto id : c.graph.node(0).outputs) {
    if (id == graph::kNone || c.graph.tensor(id).scratch) continue;
    const auto& t = c.graph.tensor(id);
    const auto &a = got.at(id), &b = want.at(id);
    // Only activations are limited to live rows; states are compared whole.
    const uint64_t rows = t.space == graph::Space::arena ? std::min(t.rows, c.live_rows) : t.rows;
    NumberComparison compare(t, c.tolerance, result);
    for (uint64_t i = 0; i < rows * t.ld; ++i) {
      if (t.dtype == graph::DType::f32) {
        compare.values(i, a.f[i], b.f[i]);
      } else if (c.float_word && c.float_word(id, i) && t.dtype == graph::DType::f16) {
        for (const uint32_t shift : {0u, 16u}) compare.halves(i, a.u[i] >> shift, b.u[i] >> shift);
      } else if (c.float_word && c.float_word(id, i)) {
        compare.values(i, float_of(a.u[i]), float_of(b.u[i]));
      } else if (a.u[i] != b.u[i]) {
        result.worst = INFINITY;
        if (result.problem.empty()) result.problem = format("%s word %u is %u, expected %u", t.name, i, a.u[i], b.u[i]);
      }
    }
  }
  return result;
}

}  // namespace lapilli
