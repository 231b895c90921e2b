// "matmul": see matmul.hpp.

#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"
#include "ops/core/state.hpp"
#include "ops/core/tuning.hpp"
#include "ops/products/matmul_cases.hpp"
#include "ops/products/matmul_variants.hpp"
#include "ops/products/row_parts.hpp"
#include "ops/rows/activation_math.hpp"

namespace lapilli {
namespace matmul_impl {
namespace {

Status infer_split(const graph::Graph& g, const graph::Node& node, const MatmulAttributes& a) {
  const auto& kv = a.kv;
  if (a.activation != Activation::none || operand(node.inputs, 2) != graph::kNone)
    return node_error(node, "the split form has no activation and no residual");
  if (kv.heads == 0 || kv.head_dim == 0 || kv.slots == 0 || kv.positions == 0 || kv.rows_per_slot == 0 ||
      a.q_columns > a.n || uint64_t{kv.heads} * 2 * kv.head_dim != a.n - a.q_columns)
    return node_error(node, "%u columns behind %u are not %u heads of 2 x %u", a.n, a.q_columns, kv.heads, kv.head_dim);
  const auto& x = g.tensor(node.inputs[0]);
  if (a.q_columns > 0) {
    LAPILLI_CHECK(expect_output(g, node, 0, {"q", x.rows, a.q_columns}));
    if (g.tensor(node.outputs[0]).ld != round_up<uint64_t>(a.q_columns, 4))
      return node_error(node, "q is not padded to vec4");
  }
  LAPILLI_CHECK(expect_kv(g, node, operand(node.outputs, 1), kv, kv.layout != RowLayout::batch));
  if (kv_format_of(g.tensor(node.outputs[1]).dtype) == KvFormat::fp16 && a.q_columns % 2 != 0)
    return node_error(node, "%u columns in front of keys and values whose neighbours share a word", a.q_columns);
  if (kv.layout == RowLayout::step) {
    LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 3), "step", state::STEP_QUEUE));
    if (x.rows > state::MAX_ROWS) return node_error(node, "a step has at most %u rows", state::MAX_ROWS);
    return {};
  }
  if (kv.layout == RowLayout::spans) {
    if (a.q_columns > 0) return node_error(node, "the rows of a pass give keys and values alone");
    return expect_words(g, node, operand(node.inputs, 3), "spans", state::SPAN_WORDS);
  }
  if (uint64_t{kv.rows_per_slot} + kv.first_position > kv.positions ||
      div_up<uint64_t>(x.rows, kv.rows_per_slot) > kv.slots)
    return node_error(node, "%u rows, %u a slot, do not fit %u slots of %u positions", x.rows, kv.rows_per_slot,
                      kv.slots, kv.positions);
  return {};
}

// Other workgroups may still be reading x when one writes.
Status expect_apart(const graph::Graph& g, const graph::Node& node, graph::TensorId x, graph::TensorId multiplied) {
  for (const auto id : node.outputs) {
    if (id == graph::kNone) continue;
    const bool over = g.root(id) == g.root(x) || (id != multiplied && g.root(id) == g.root(multiplied));
    if (over) return node_error(node, "x, or what is multiplied of it, is written over");
  }
  return {};
}

Status infer_norm(const graph::Graph& g, const graph::Node& node) {
  const auto norm = norm_of(node);
  const auto& x = g.tensor(norm.x);
  LAPILLI_CHECK(expect_words(g, node, norm.weight, "weight of the normalization", norm_words(norm.how, x.cols)));
  LAPILLI_CHECK(expect_output(g, node, kMultipliedOutput, {"normalized rows", x.rows, x.cols}));
  if (g.tensor(norm.y).ld != x.ld) return node_error(node, "the normalized rows are not as far apart as those of x");
  return expect_apart(g, node, norm.x, norm.y);
}

Status infer_gate(const graph::Graph& g, const graph::Node& node, const MatmulAttributes& a) {
  if (a.split || a.norm != NormFirst::none) return node_error(node, "a gate in front of what has none");
  if (a.gate > kLastActivation) return node_error(node, "gates of products have the activations of products");
  if (node.outputs.size() <= kMultipliedOutput) return node_error(node, "the gated rows are missing");
  const auto gate = gate_of(node);
  LAPILLI_CHECK(infer_row_gate(g, node, gate));
  LAPILLI_CHECK(expect_output(g, node, kMultipliedOutput, {"gated rows", 0, a.k}));
  if (!g.tensor(gate.y).scratch) return node_error(node, "nobody writes the gated rows");
  return expect_apart(g, node, gate.x, gate.y);
}

Status infer_rows(const graph::Graph& g, const graph::Node& node, const MatmulAttributes& a) {
  if (a.gated) return infer_gate(g, node, a);
  LAPILLI_CHECK(expect_input(g, node, 0, {"x", 0, a.k}));
  const auto& x = g.tensor(node.inputs[0]);
  if (x.ld != packed::depth(a.k)) return node_error(node, "x (%s) is not padded to vec4", x.name);
  return {};
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<MatmulAttributes>();
  if (a.n == 0 || a.k == 0) return node_error(node, "%u x %u weight", a.k, a.n);
  LAPILLI_CHECK(infer_rows(g, node, a));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_weight(g, node, operand(node.inputs, 1), {"weight", a.n, a.k}));
  if (a.norm > NormFirst::rms) return node_error(node, "no such normalization");
  if (a.norm != NormFirst::none) {
    if (node.inputs.size() <= kNormWeightInput || node.outputs.size() <= kMultipliedOutput)
      return node_error(node, "operands of the normalization are missing");
    LAPILLI_CHECK(infer_norm(g, node));
  }
  if (a.split) return infer_split(g, node, a);
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", x.rows, a.n}));
  if (g.tensor(node.outputs[0]).ld != round_up<uint64_t>(a.n, 4)) return node_error(node, "y is not padded to vec4");
  const auto residual = operand(node.inputs, 2);
  if (residual != graph::kNone) {
    if (a.activation != Activation::none) return node_error(node, "a residual goes without an activation");
    if (g.root(residual) != g.root(node.outputs[0])) return node_error(node, "the residual is not updated in place");
  }
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant variant, std::vector<Dispatch>& out) {
  const MatmulKernel* kernel = matmul_kernel(variant.id);
  if (!kernel) return node_error(node, "no variant %u", variant.id);
  return lower_matmul(context, node, *kernel, variant.numbers, out);
}

// Row r of x W + b, before activation, into y[n]; w in fp32's layout.
void product_row(const MatmulAttributes& a, const double* x, const std::vector<double>& w, std::vector<double>& y) {
  const WeightLayout layout(a.n, a.k);
  y.assign(packed::panels(a.n) * packed::kPanel, 0.0);
  for (uint64_t panel = 0; panel < packed::panels(a.n); ++panel) {
    double* out = y.data() + panel * packed::kPanel;
    for (uint64_t k = 0; k < a.k; ++k) {
      const double* row = w.data() + layout.word(panel * packed::kPanel, k);
      for (uint64_t c = 0; c < packed::kPanel; ++c) out[c] += x[k] * row[c];
    }
  }
  for (uint64_t n = 0; n < a.n; ++n) y[n] += w[layout.bias_word(n)];
}

// Destinations of the rows of the split form: slot and position of row r; false: it writes nothing.
class HostCells {
 public:
  HostCells(const graph::Node& node, const KvShape& kv, HostTensors& values) : kv_(kv) {
    if (kv.layout != RowLayout::batch) words_ = &values.at(node.inputs[3]).u;
    if (kv.layout != RowLayout::spans) return;
    for (const Span& s : spans_of(*words_))
      for (uint32_t i = 0; i < s.ids; ++i) rows_.emplace_back(s.slot, i);
  }
  bool find(uint64_t r, uint64_t& slot, uint64_t& position) const {
    switch (kv_.layout) {
      case RowLayout::step:
        if (r >= (*words_)[state::STEP_LIVE]) return false;
        slot = state::beam_slot_of((*words_)[state::STEP_ROWS + r]);
        position = state::position_of((*words_)[state::STEP_ROWS + r]) % kv_.positions;
        return true;
      case RowLayout::spans:
        if (r >= rows_.size()) return false;
        slot = rows_[r].first;
        position = rows_[r].second;
        return true;
      case RowLayout::batch: break;
    }
    slot = r / kv_.rows_per_slot;
    position = r % kv_.rows_per_slot + kv_.first_position;
    return true;
  }

 private:
  KvShape kv_;
  const std::vector<uint32_t>* words_ = nullptr;
  std::vector<std::pair<uint32_t, uint32_t>> rows_;  // of a pass: slot and position
};

// The multiplied rows: x, or its normalization or gated form, computed first.
graph::TensorId reference_rows(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<MatmulAttributes>();
  if (a.gated) {
    row_gate_reference(g, gate_of(node), values);
    return gate_of(node).y;
  }
  if (a.norm == NormFirst::none) return node.inputs[0];
  const RowNorm norm = norm_of(node);
  row_norm_reference(g, norm, values);
  return norm.y;
}

void reference_split(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<MatmulAttributes>();
  const auto from = reference_rows(g, node, values);
  const auto& x = g.tensor(from);
  HostKv kv(g, node.outputs[1], values);
  const HostCells cells(node, a.kv, values);
  const HostWeight w(g, node.inputs[1], a.n, a.k, values);
  std::vector<double> y;
  for (uint64_t r = 0; r < x.rows; ++r) {
    product_row(a, values.at(from).f.data() + r * x.ld, w.values(), y);
    if (a.q_columns > 0) {
      const auto& q = g.tensor(node.outputs[0]);
      auto& out = values.at(node.outputs[0]).f;
      for (uint64_t c = 0; c < q.ld; ++c) out[r * q.ld + c] = c < a.q_columns ? y[c] : 0.0;
    }
    uint64_t slot = 0, position = 0;
    if (!cells.find(r, slot, position)) continue;
    for (uint64_t h = 0; h < a.kv.heads; ++h)
      for (uint64_t i = 0; i < 2 * a.kv.head_dim; ++i)
        kv.set(a.kv.number(h, slot, position) + i, y[a.q_columns + h * 2 * a.kv.head_dim + i]);
  }
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<MatmulAttributes>();
  if (a.split) return reference_split(g, node, values);
  const auto from = reference_rows(g, node, values);
  const auto &x = g.tensor(from), &out = g.tensor(node.outputs[0]);
  const bool residual = operand(node.inputs, 2) != graph::kNone;
  const HostWeight w(g, node.inputs[1], a.n, a.k, values);
  std::vector<double> y;
  for (uint64_t r = 0; r < x.rows; ++r) {
    product_row(a, values.at(from).f.data() + r * x.ld, w.values(), y);
    double* to = values.at(node.outputs[0]).f.data() + r * out.ld;
    for (uint64_t c = 0; c < out.ld; ++c) {
      const double v = c < a.n ? activate(a.activation, y[c]) : 0.0;
      to[c] = residual ? to[c] + v : v;
    }
  }
}

// The epilogue of a sum costs almost nothing, so keys do not distinguish it.
std::string tuning_key(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<MatmulAttributes>();
  constexpr const char* kLayouts[] = {", kv of a batch", ", kv of a step", ", kv of a pass"};
  return format("%u x %u %s, rows %u%s%s%s%s", a.k, a.n, graph::name(g.tensor(node.inputs[1]).dtype),
                tuning_class(g.tensor(node.inputs[0]).rows), a.split && a.q_columns > 0 ? ", q" : "",
                a.split ? kLayouts[static_cast<size_t>(a.kv.layout)] : "",
                a.norm == NormFirst::none ? "" : ", normalized", a.gated ? ", gated" : "");
}

constexpr OpDef op{"matmul", infer, matmul_variants, lower, reference, matmul_cases, {tuning_key, true}};

}  // namespace
}  // namespace matmul_impl

constinit const OpDef matmul_op = matmul_impl::op;

graph::TensorId ops::linear(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                            LinearColumns to) {
  MatmulAttributes a;
  a.n = to.n;
  a.k = static_cast<uint32_t>(g.tensor(x).cols);
  a.activation = to.activation;
  const auto y = g.rows_like(label, x, to.n);
  g.add_node({&matmul_op, label, {x, weight, graph::kNone, graph::kNone}, {y}, graph::Attributes(a)});
  return y;
}

graph::TensorId ops::linear_add(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                                graph::TensorId residual) {
  MatmulAttributes a;
  a.n = static_cast<uint32_t>(g.tensor(residual).cols);
  a.k = static_cast<uint32_t>(g.tensor(x).cols);
  const auto y = g.updated(label, residual);
  g.add_node({&matmul_op, label, {x, weight, residual, graph::kNone}, {y}, graph::Attributes(a)});
  return y;
}

graph::TensorId ops::linear_kv(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                               const KvTarget& to) {
  MatmulAttributes a;
  a.n = to.q_columns + to.shape.heads * 2 * to.shape.head_dim;
  a.k = static_cast<uint32_t>(g.tensor(x).cols);
  a.split = 1;
  a.q_columns = to.q_columns;
  a.kv = to.shape;
  const auto q = to.q_columns > 0 ? g.rows_like(label, x, to.q_columns) : graph::kNone;
  g.add_node({&matmul_op, label, {x, weight, graph::kNone, to.step_or_spans}, {q, to.kv}, graph::Attributes(a)});
  return q;
}

}  // namespace lapilli
