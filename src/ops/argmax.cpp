// "argmax": see search.hpp.
#include <algorithm>
#include <cmath>

#include "ops/registry.hpp"
#include "ops/search_util.hpp"

namespace lapilli {
namespace {

struct Push {
  uint32_t groups, columns, ld4, slice4, slices, x_begin4, out_begin4, out_ld4, first_row;
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<SelectAttributes>();
  LAPILLI_CHECK(expect_input(g, node, 0, {"logits"}));
  const auto& x = g.tensor(node.inputs[0]);
  if (x.ld % 4 != 0) return node_error(node, "rows are not whole vectors");
  if (a.slice == 0 || a.slice % 4 != 0) return node_error(node, "slices of %u columns", a.slice);
  LAPILLI_CHECK(
      expect_output(g, node, 0, {"partials", x.rows, 4 * div_up<uint64_t>(x.cols, a.slice), graph::DType::u32}));
  if (a.live_rows) LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 1), "step", StepWords::words));
  return {};
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node&) {
  return {{0, "workgroup a slice"}};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant, std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<SelectAttributes>();
  const auto &t = context.graph.tensor(node.inputs[0]), &u = context.graph.tensor(node.outputs[0]);
  const uint64_t slices = div_up<uint64_t>(t.cols, a.slice);
  LAPILLI_TRY(const auto ranges, row_slices(context, node, t.rows, {std::max(t.ld, u.ld) * 4, slices}));
  for (const auto& r : ranges) {
    Dispatch d;
    d.shader = a.live_rows ? ShaderId::argmax_live : ShaderId::argmax;
    d.constants = {context.caps.type == DeviceType::cpu ? 8u : 128u};
    d.groups = (r.end - r.begin) * slices;
    if (a.live_rows && ranges.size() == 1) follow_live_rows(d, static_cast<uint32_t>(slices), 1);
    uint32_t dx = 0, du = 0;
    d.operands.push_back(
        bind_range(context, 0, node.inputs[0], r.begin * t.ld * 4, r.end * t.ld * 4, graph::Access::read, dx));
    d.operands.push_back(
        bind_range(context, 1, node.outputs[0], r.begin * u.ld * 4, r.end * u.ld * 4, graph::Access::write, du));
    if (a.live_rows) {
      LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[1], graph::Access::read));
      d.operands.push_back(step);
    }
    d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(t.cols), static_cast<uint32_t>(t.ld / 4),
                    a.slice / 4, static_cast<uint32_t>(slices), dx / 4, du / 4, static_cast<uint32_t>(u.ld / 4),
                    static_cast<uint32_t>(r.begin)});
    d.cost = 6.0 * static_cast<double>((r.end - r.begin) * t.ld);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<SelectAttributes>();
  const auto &t = g.tensor(node.inputs[0]), &u = g.tensor(node.outputs[0]);
  const auto& x = values.at(node.inputs[0]).f;
  auto& out = values.at(node.outputs[0]).u;
  uint64_t rows = t.rows;
  if (a.live_rows) rows = std::min<uint64_t>(rows, search::StepView(values.at(node.inputs[1])).live());
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t s = 0; s * a.slice < t.cols; ++s) {
      const double* row = x.data() + r * t.ld;
      const uint64_t begin = s * a.slice, end = std::min<uint64_t>(begin + a.slice, t.cols);
      const auto best = search::best_columns(row, begin, end, 1)[0];
      double sum = 0;
      for (uint64_t c = begin; c < end; ++c)
        sum += std::exp(search::unless_forbidden(row[c]) - static_cast<double>(best.score));
      uint32_t* words = out.data() + r * u.ld + 4 * s;
      words[0] = words[2] = search::as_word(best.score);
      words[1] = best.id;
      words[3] = search::as_word(static_cast<float>(sum));
    }
}

OpCase make_case(const std::string& name, uint64_t rows, uint64_t columns, uint32_t live = 0) {
  OpCase c;
  c.name = name;
  CaseRandom random(rows * 77 + columns);
  const auto x = c.graph.activation("logits", rows, columns);
  const auto step = live ? add_step(c.graph) : graph::kNone;
  const auto partials = ops::argmax(c.graph, name, x, step);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 9));
  if (live) {
    c.inputs.emplace_back(step, step_values(3, live));
    c.live_rows = live;
  }
  c.float_word = [partials](graph::TensorId id, uint64_t word) { return id == partials && word % 4 == 3; };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t columns : {1, 2, 3, 17, 509, 4096, 4097, 9001})
    all.push_back(make_case(format("3x%llu", static_cast<unsigned long long>(columns)), 3, columns));
  all.push_back(make_case("live 3 of 7", 7, 4201, 3));
  {
    auto c = make_case("ties", 4, 5003);
    auto& v = c.inputs[0].second.f;
    const uint64_t ld = c.graph.tensor(0).ld;
    for (const uint64_t i : {4999ull, 60ull, 61ull, 188ull, 2600ull}) v[i] = 20;
    for (uint64_t i = 0; i < 5003; ++i) v[ld + i] = 3.5;
    for (uint64_t i = 2; i < 5003; ++i) v[2 * ld + i] = static_cast<double>(kMasked);
    for (uint64_t i = 0; i < 5003; ++i) v[3 * ld + i] = i % 2 ? -2e30 : static_cast<double>(kMasked);
    all.push_back(std::move(c));
  }
  all.push_back(make_case("large vocabulary", 2, 65001));
  return all;
}

}  // namespace

constinit const OpDef argmax_op{"argmax", infer, variants, lower, reference, cases};

graph::TensorId ops::argmax(graph::Graph& g, const std::string& label, graph::TensorId logits, graph::TensorId step) {
  const uint64_t rows = g.tensor(logits).rows, columns = g.tensor(logits).cols;
  const SelectAttributes a{1, search::slice_columns(columns), step != graph::kNone};
  const auto y = g.activation(label, rows, 4 * div_up<uint64_t>(columns, a.slice), graph::DType::u32);
  g.add_node({&argmax_op, label, {logits, step}, {y}, graph::Attributes(a)});
  return y;
}

}  // namespace lapilli
