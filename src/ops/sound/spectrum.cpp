// "spectrum": see sound.hpp.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/sound/sound.hpp"

namespace lapilli {
namespace spectrum_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, hop, bins, a, b, ld, x_begin, y_begin;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<SpectrumAttributes>();
  if (a.length < 2 || a.length > kMostSpectrum || a.factor == 0 || a.length % a.factor != 0 || a.hop == 0)
    return node_error(node, "transforms of %u samples in stages of %u", a.length, a.factor);
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", 0, a.length / 2 + 1}));
  LAPILLI_CHECK(expect_input(g, node, 0, {"x", 1}));
  LAPILLI_CHECK(expect_input(g, node, 1, {"tables"}));
  const uint64_t rows = g.tensor(node.outputs[0]).rows;
  LAPILLI_CHECK(expect_words(g, node, node.inputs[0], "x", (rows - 1) * a.hop + a.length));
  return expect_words(g, node, node.inputs[1], "tables", uint64_t{3} * a.length);
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {1, 128}));
  const auto a = node.attributes.as<SpectrumAttributes>();
  const auto& t = context.graph.tensor(node.outputs[0]);
  const uint32_t other = a.length / a.factor;
  LAPILLI_TRY(const auto tables, bind_first(context, 1, node.inputs[1], uint64_t{12} * a.length, graph::Access::read));
  const uint64_t wider = std::max<uint64_t>(t.ld, a.length) * 4;
  LAPILLI_TRY(const auto slices, row_slices(context, node, t.rows, {std::max<uint64_t>(wider, a.hop * 4), 1}));
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = ShaderId::spectrum;
    d.constants = {v.numbers.local};
    d.groups = s.end - s.begin;
    const uint64_t last = (s.end - 1) * a.hop + a.length;
    uint32_t dx = 0, dy = 0;
    d.operands = {
        bind_range(context, 0, {node.inputs[0], s.begin * a.hop * 4, last * 4, graph::Access::read}, dx), tables,
        bind_range(context, 2, {node.outputs[0], s.begin * t.ld * 4, s.end * t.ld * 4, graph::Access::write}, dy)};
    d.set_push(Push{static_cast<uint32_t>(d.groups), a.hop, a.length / 2 + 1, a.factor, other,
                    static_cast<uint32_t>(t.ld), dx, dy});
    d.cost = 4.0 * static_cast<double>(d.groups) * a.length * (a.factor / 2.0 + other);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<SpectrumAttributes>();
  const auto& t = g.tensor(node.outputs[0]);
  const auto &x = values.at(node.inputs[0]).f, &tables = values.at(node.inputs[1]).f;
  auto& y = values.at(node.outputs[0]).f;
  for (uint64_t r = 0; r < t.rows; ++r)
    for (uint64_t k = 0; k < t.ld; ++k) {
      double re = 0, im = 0;
      for (uint64_t i = 0; i < a.length && k < t.cols; ++i) {
        const uint64_t j = i * k % a.length;
        const double sample = x[r * a.hop + i] * tables[i];
        re += sample * tables[a.length + j];
        im -= sample * tables[2 * uint64_t{a.length} + j];
      }
      y[r * t.ld + k] = re * re + im * im;
    }
}

OpCase make_case(uint64_t rows, const SpectrumAttributes& a) {
  OpCase c;
  c.name = format("%u of %u every %u, %u", rows, a.length, a.hop, a.factor);
  c.tolerance = 3e-6;
  CaseRandom random(rows * 1000 + a.length);
  const auto x = c.graph.activation("x", 1, (rows - 1) * a.hop + a.length);
  const auto tables = add_weight(c.graph, "tables", uint64_t{3} * a.length);
  ops::spectrum(c.graph, c.name, {x, tables}, rows, a);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 0.1));
  HostTensor words;
  words.f.resize(c.graph.tensor(tables).elements());
  for (uint32_t i = 0; i < a.length; ++i) {
    const double angle = 2 * std::numbers::pi * i / a.length;
    words.f[i] = static_cast<double>(static_cast<float>(0.5 - 0.5 * std::cos(angle)));
    words.f[a.length + i] = static_cast<double>(static_cast<float>(std::cos(angle)));
    words.f[2 * uint64_t{a.length} + i] = static_cast<double>(static_cast<float>(std::sin(angle)));
  }
  c.inputs.emplace_back(tables, std::move(words));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case(1, {2, 1, 1}));
  all.push_back(make_case(3, {6, 2, 3}));
  all.push_back(make_case(5, {67, 10, 1}));
  all.push_back(make_case(5, {67, 70, 67}));
  all.push_back(make_case(17, {400, 160, 25}));
  all.push_back(make_case(2, {400, 400, 20}));
  all.push_back(make_case(3, {1024, 33, 32}));
  auto large = make_case(301, {400, 160, 25});
  large.slow = true;
  all.push_back(std::move(large));
  return all;
}

constexpr OpDef op{"spectrum", infer, only_variant<Tuned::row_sums, "workgroup a frame">, lower, reference, cases};

}  // namespace
}  // namespace spectrum_impl

constinit const OpDef spectrum_op = spectrum_impl::op;

// Terms summed per sample, doubled: the second half of the first stage's bins mirrors the first half.
uint32_t spectrum_factor(uint32_t length) {
  uint32_t best = 1;
  const auto terms = [&](uint32_t factor) { return factor + 2 * (length / factor); };
  for (uint32_t factor = 2; factor <= length; ++factor)
    if (length % factor == 0 && terms(factor) < terms(best)) best = factor;
  return best;
}

graph::TensorId ops::spectrum(graph::Graph& g, const std::string& label, const SpectrumOperands& of, uint64_t rows,
                              const SpectrumAttributes& attributes) {
  const auto y = g.activation(label, rows, attributes.length / 2 + 1);
  g.add_node({&spectrum_op, label, {of.x, of.tables}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
