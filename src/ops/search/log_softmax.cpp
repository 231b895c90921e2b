// "log_softmax": see search.hpp. Two dispatches, the parts of each slice and then their application, with a scratch
// output between them.
#include "ops/search/log_softmax.hpp"

#include <algorithm>
#include <cmath>

#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/search/search_util.hpp"

namespace lapilli {
namespace log_softmax_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, columns, ld4, slice4, slices, x_begin4, out_begin, out_ld, first_row;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_input(g, node, 0, {"x"}));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"x", x.rows, x.cols}));
  if (g.root(node.outputs[0]) != g.root(node.inputs[0])) return node_error(node, "works in place only");
  if (x.ld % 4 != 0) return node_error(node, "rows are not whole vectors");
  const uint64_t slices = div_up<uint64_t>(x.cols, search::slice_columns(x.cols));
  LAPILLI_CHECK(expect_output(g, node, 1, {"parts", x.rows, 2 * slices}));
  return expect_words(g, node, operand(node.inputs, 1), "step", state::STEP_QUEUE);
}

// The parts of these rows' slices, or their application.
Result<Dispatch> lower_rows(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                            const RowSlice& r, bool apply) {
  const auto x = node.outputs[0], parts = node.outputs[1];
  const auto &t = context.graph.tensor(x), &u = context.graph.tensor(parts);
  const uint64_t slice = search::slice_columns(t.cols), slices = div_up(t.cols, slice);
  Dispatch d;
  d.shader = apply ? ShaderId::log_softmax_apply : ShaderId::log_softmax_parts;
  d.constants = {numbers.local};
  d.groups = (r.end - r.begin) * slices;
  if (r.end - r.begin == t.rows) follow_live_rows(d, static_cast<uint32_t>(slices), 1);
  const auto of_x = apply ? graph::Access::read_write : graph::Access::read;
  const auto of_parts = apply ? graph::Access::read : graph::Access::write;
  uint32_t dx = 0, du = 0;
  d.operands.push_back(bind_range(context, 0, {x, r.begin * t.ld * 4, r.end * t.ld * 4, of_x}, dx));
  d.operands.push_back(bind_range(context, 1, {parts, r.begin * u.ld * 4, r.end * u.ld * 4, of_parts}, du));
  LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[1], graph::Access::read));
  d.operands.push_back(step);
  d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(t.cols), static_cast<uint32_t>(t.ld / 4),
                  static_cast<uint32_t>(slice / 4), static_cast<uint32_t>(slices), dx / 4, du / 2,
                  static_cast<uint32_t>(u.ld / 2), static_cast<uint32_t>(r.begin)});
  d.cost = 6.0 * static_cast<double>((r.end - r.begin) * t.ld);
  return d;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto &t = context.graph.tensor(node.outputs[0]), &u = context.graph.tensor(node.outputs[1]);
  const uint64_t slices = div_up<uint64_t>(t.cols, search::slice_columns(t.cols));
  LAPILLI_TRY(const auto ranges, row_slices(context, node, t.rows, {std::max(t.ld, u.ld) * 4, slices}));
  for (const auto& r : ranges)
    for (const bool apply : {false, true}) {
      LAPILLI_TRY(out.emplace_back(), lower_rows(context, node, v.numbers, r, apply));
    }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto &t = g.tensor(node.inputs[0]), &u = g.tensor(node.outputs[1]);
  auto &x = values.at(node.inputs[0]).f, &parts = values.at(node.outputs[1]).f;
  const uint64_t slice = search::slice_columns(t.cols), slices = div_up(t.cols, slice);
  const uint64_t rows = std::min<uint64_t>(t.rows, search::StepView(values.at(node.inputs[1])).live());
  std::fill_n(parts.begin(), rows * u.ld, 0.0);
  for (uint64_t r = 0; r < rows; ++r) {
    double* row = x.data() + r * t.ld;
    double maximum = static_cast<double>(state::MASKED), sum = 0;
    for (uint64_t s = 0; s < slices; ++s) {
      double part_max = static_cast<double>(state::MASKED), part_sum = 0;
      const uint64_t begin = s * slice, end = std::min(begin + slice, t.cols);
      for (uint64_t c = begin; c < end; ++c) part_max = std::max(part_max, row[c]);
      for (uint64_t c = begin; c < end; ++c)
        part_sum += std::exp(std::max(row[c], static_cast<double>(state::MASKED)) - part_max);
      parts[r * u.ld + 2 * s] = part_max;
      parts[r * u.ld + 2 * s + 1] = part_sum;
      const double m = std::max(maximum, part_max);
      sum = sum * std::exp(maximum - m) + part_sum * std::exp(part_max - m);
      maximum = m;
    }
    for (uint64_t c = 0; c < t.ld; ++c)
      row[c] = c >= t.cols                 ? 0.0
               : search::forbidden(row[c]) ? static_cast<double>(state::MASKED)
                                           : row[c] - maximum - std::log(sum);
  }
}

OpCase make_case(const std::string& name, uint64_t rows, uint64_t columns, uint32_t live = 0) {
  OpCase c;
  c.name = name;
  CaseRandom random(rows * 131 + columns);
  const auto x = c.graph.activation("logits", rows, columns);
  const auto step = add_step(c.graph);
  ops::log_softmax(c.graph, name, x, step);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 12));
  c.inputs.emplace_back(step, step_values({3}, live ? live : static_cast<uint32_t>(rows)));
  if (live) c.live_rows = live;
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t columns : {1, 2, 17, 127, 1031, 4096, 4097, 9001}) {
    const std::string text = format("3x%u", columns);
    all.push_back(make_case(text, 3, columns));
  }
  all.push_back(make_case("live 2 of 5", 5, 4099, 2));
  {
    auto c = make_case("forbidden columns, and a row of nothing else", 3, 8193);
    auto& v = c.inputs[0].second.f;
    const uint64_t ld = c.graph.tensor(0).ld;
    for (uint64_t i = 0; i < 8193; ++i) v[ld + i] = static_cast<double>(state::MASKED);
    for (uint64_t i = 5; i < 8193; i += 7) v[i] = static_cast<double>(state::MASKED);
    for (uint64_t i = 0; i < 5000; ++i) v[2 * ld + i] = static_cast<double>(state::MASKED);
    all.push_back(std::move(c));
  }
  all.push_back(make_case("live, slices", 4, 9001, 3));
  all.push_back(make_case("large vocabulary", 2, 65001));
  return all;
}

constexpr OpDef op{
    "log_softmax",      infer, only_variant<Tuned::log_softmax, "workgroup a slice">, lower, reference, cases,
    {output_tuning_key}};

}  // namespace
}  // namespace log_softmax_impl

constinit const OpDef log_softmax_op = log_softmax_impl::op;

Result<Dispatch> lower_log_softmax_parts(const LowerContext& context, const graph::Node& node, const Numbers& numbers) {
  return log_softmax_impl::lower_rows(context, node, numbers, {0, context.graph.tensor(node.outputs[0]).rows}, false);
}

graph::TensorId ops::log_softmax(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId step) {
  const uint64_t columns = g.tensor(x).cols;
  const auto parts = g.rows_like(label + ".parts", x, 2 * div_up<uint64_t>(columns, search::slice_columns(columns)));
  const auto y = g.updated(label, x);
  g.add_node({&log_softmax_op, label, {x, step}, {y, parts}, {}});
  return y;
}

}  // namespace lapilli
