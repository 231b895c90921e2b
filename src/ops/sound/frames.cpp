// "frames": see sound.hpp. Uses the copy kernel, whose rows of x may overlap.
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/sound/sound.hpp"

namespace lapilli {
namespace frames_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, per_line, line, first, cols, x_ld, y_ld, x_begin, y_begin;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_output(g, node, 0, {"y"}));
  const auto& y = g.tensor(node.outputs[0]);
  const uint64_t hop = node.attributes.as<FramesAttributes>().hop;
  if (hop == 0 || hop > y.cols) return node_error(node, "frames of that hop do not overlap");
  LAPILLI_CHECK(expect_input(g, node, 0, {"x", 1}));
  return expect_words(g, node, node.inputs[0], "x", (y.rows - 1) * hop + y.cols);
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {4, 1024, 4}, true));
  const auto [local, each] = v.numbers;
  const auto& y = context.graph.tensor(node.outputs[0]);
  const uint64_t hop = node.attributes.as<FramesAttributes>().hop;
  const uint64_t per_row = div_up<uint64_t>(y.ld, uint64_t{local} * each);
  LAPILLI_TRY(const auto slices, row_slices(context, node, y.rows, {y.ld * 4, per_row}));
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = ShaderId::copy;
    d.constants = {local, each};
    d.groups = (s.end - s.begin) * per_row;
    uint32_t dx = 0, dy = 0;
    d.operands.push_back(bind_range(
        context, 0, {node.inputs[0], s.begin * hop * 4, ((s.end - 1) * hop + y.cols) * 4, graph::Access::read}, dx));
    d.operands.push_back(
        bind_range(context, 1, {node.outputs[0], s.begin * y.ld * 4, s.end * y.ld * 4, graph::Access::write}, dy));
    d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(per_row), static_cast<uint32_t>(y.ld), 0,
                    static_cast<uint32_t>(y.cols), static_cast<uint32_t>(hop), static_cast<uint32_t>(y.ld), dx, dy});
    d.cost = static_cast<double>((s.end - s.begin) * y.ld);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto& t = g.tensor(node.outputs[0]);
  const uint64_t hop = node.attributes.as<FramesAttributes>().hop;
  const auto& x = values.at(node.inputs[0]).f;
  auto& y = values.at(node.outputs[0]).f;
  for (uint64_t r = 0; r < t.rows; ++r)
    for (uint64_t c = 0; c < t.ld; ++c) y[r * t.ld + c] = c < t.cols ? x[r * hop + c] : 0.0;
}

OpCase make_case(uint64_t rows, uint64_t cols, uint32_t hop) {
  OpCase c;
  c.name = format("%ux%u every %u", rows, cols, hop);
  c.tolerance = 1e-300;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", 1, (rows - 1) * hop + cols);
  ops::frames(c.graph, c.name, x, {rows, cols, hop});
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case(1, 1, 1));
  all.push_back(make_case(7, 1, 1));
  all.push_back(make_case(5, 67, 3));
  all.push_back(make_case(13, 30, 30));
  all.push_back(make_case(21, 400, 160));
  all.push_back(make_case(2, 1031, 1030));
  auto large = make_case(501, 400, 160);
  large.slow = true;
  all.push_back(std::move(large));
  return all;
}

constexpr OpDef op{"frames", infer, only_variant<Tuned::copy, "words">, lower, reference, cases};

}  // namespace
}  // namespace frames_impl

constinit const OpDef frames_op = frames_impl::op;

graph::TensorId ops::frames(graph::Graph& g, const std::string& label, graph::TensorId x, const FrameRows& to) {
  const auto y = g.activation(label, to.rows, to.cols);
  g.add_node({&frames_op, label, {x}, {y}, graph::Attributes(FramesAttributes{to.hop})});
  return y;
}

}  // namespace lapilli
