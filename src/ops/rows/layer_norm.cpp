// "layer_norm": see basic.hpp.
#include "ops/rows/layer_norm.hpp"

#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {
namespace layer_norm_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, cols, ld4, x_begin, y_begin; float epsilon;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_input(g, node, 0, {"x"}));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", x.rows, x.cols}));
  const uint64_t words = norm_words(node.attributes.as<LayerNormAttributes>(), x.cols);
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 1), "weight", words));
  if (x.ld % 4 != 0 || g.tensor(node.outputs[0]).ld != x.ld) return node_error(node, "rows are not whole vectors");
  return {};
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph&, const graph::Node&) {
  Numbers numbers = default_numbers(caps, Tuned::row_sums);
  if (device_traits(caps).wide) numbers.local = 128;  // a row then waits for memory less often
  return {{0, "workgroup a row", true, numbers}};
}

RowNorm parts_of(const graph::Node& node) {
  return {node.inputs[0], node.inputs[1], node.outputs[0], node.attributes.as<LayerNormAttributes>()};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  return lower_row_norm(context, node, parts_of(node), v.numbers.local, out);
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  row_norm_reference(g, parts_of(node), values);
}

OpCase make_case(uint64_t rows, uint64_t cols, uint64_t live = 0, bool rms = false) {
  OpCase c;
  c.name = format("%ux%u%s%s", rows, cols, live ? " live" : "", rms ? " rms" : "");
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, cols);
  const auto w = add_weight(c.graph, "weight", (rms ? 1 : 2) * round_up<uint64_t>(cols, 4));
  c.graph.tensor(x).live_rows = live != 0;
  ops::layer_norm(c.graph, c.name, x, w, {1e-5f, rms});
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 3));
  // Two nearly equal columns would measure the cancellation in x - mean instead of the kernel.
  if (cols == 2)
    for (uint64_t r = 0; r < rows; ++r) c.inputs[0].second.f[r * c.graph.tensor(x).ld + 1] += 8;
  HostTensor weight;
  weight.f.assign(c.graph.tensor(w).elements(), 0.0);
  for (uint64_t i = 0; i < cols; ++i) {
    weight.f[i] = 1 + 0.5 * random.unit();
    if (!rms) weight.f[round_up<uint64_t>(cols, 4) + i] = random.unit();
  }
  c.inputs.emplace_back(w, std::move(weight));
  if (live) c.live_rows = live;
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t cols : {1, 2, 7, 50, 64, 257, 512, 1031})
    for (const uint64_t rows : {1, 5, 17}) all.push_back(make_case(rows, cols));
  all.push_back(make_case(67, 512));
  all.push_back(make_case(8, 96, 3));
  all.push_back(make_case(5, 50, 5));
  for (const uint64_t cols : {1, 7, 64, 257, 1031}) all.push_back(make_case(5, cols, 0, true));
  all.push_back(make_case(67, 512, 0, true));
  all.push_back(make_case(8, 96, 3, true));
  {  // a constant row has no variance
    auto c = make_case(3, 24);
    c.name = "constant row";
    for (uint64_t i = 0; i < 24; ++i) c.inputs[0].second.f[24 + i] = 0.75;
    all.push_back(std::move(c));
  }
  return all;
}

constexpr OpDef op{"layer_norm", infer, variants, lower, reference, cases, {input_tuning_key}};

}  // namespace
}  // namespace layer_norm_impl

constinit const OpDef layer_norm_op = layer_norm_impl::op;

uint64_t norm_words(const LayerNormAttributes& how, uint64_t cols) {
  return (how.rms ? 1 : 2) * round_up<uint64_t>(cols, 4);
}

Status lower_row_norm(const LowerContext& context, const graph::Node& node, const RowNorm& norm, uint32_t local,
                      std::vector<Dispatch>& out) {
  const auto& t = context.graph.tensor(norm.x);
  const uint64_t row_bytes = t.ld * 4;
  LAPILLI_TRY(const auto slices, row_slices(context, node, t.rows, {row_bytes, 1}));
  for (const auto& slice : slices) {
    Dispatch d;
    d.shader = norm.how.rms ? ShaderId::rms_norm : ShaderId::layer_norm;
    d.constants = {local};
    d.groups = slice.end - slice.begin;
    if (t.live_rows && slices.size() == 1) follow_live_rows(d, 1, 1);
    uint32_t dx = 0, dy = 0;
    d.operands.push_back(
        bind_range(context, 0, {norm.x, slice.begin * row_bytes, slice.end * row_bytes, graph::Access::read}, dx));
    LAPILLI_TRY(const auto weight, bind_whole(context, 1, norm.weight, graph::Access::read));
    d.operands.push_back(weight);
    d.operands.push_back(
        bind_range(context, 2, {norm.y, slice.begin * row_bytes, slice.end * row_bytes, graph::Access::write}, dy));
    d.set_push(layer_norm_impl::Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(t.cols),
                                     static_cast<uint32_t>(t.ld / 4), dx / 4, dy / 4, norm.how.epsilon});
    d.cost = 8.0 * static_cast<double>(d.groups * t.ld);
    out.push_back(std::move(d));
  }
  return {};
}

void row_norm_reference(const graph::Graph& g, const RowNorm& norm, HostTensors& values) {
  const auto& t = g.tensor(norm.x);
  const auto& x = values.at(norm.x).f;
  const auto& w = values.at(norm.weight).f;
  auto& y = values.at(norm.y).f;
  const uint64_t n = t.cols, padded = round_up<uint64_t>(n, 4);
  for (uint64_t r = 0; r < t.rows; ++r) {
    const double* in = x.data() + r * t.ld;
    double mean = 0, variance = 0;
    if (!norm.how.rms)
      for (uint64_t c = 0; c < n; ++c) mean += in[c] / static_cast<double>(n);
    for (uint64_t c = 0; c < n; ++c) variance += (in[c] - mean) * (in[c] - mean);
    variance /= static_cast<double>(n);
    const double scale = 1 / std::sqrt(variance + static_cast<double>(norm.how.epsilon));
    for (uint64_t c = 0; c < t.ld; ++c) {
      const double bias = norm.how.rms || c >= n ? 0.0 : w[padded + c];
      y[r * t.ld + c] = c < n ? (in[c] - mean) * scale * w[c] + bias : 0.0;
    }
  }
}

graph::TensorId ops::layer_norm(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                                const LayerNormAttributes& attributes) {
  const auto y = g.rows_like(label, x, g.tensor(x).cols);
  g.add_node({&layer_norm_op, label, {x, weight}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
