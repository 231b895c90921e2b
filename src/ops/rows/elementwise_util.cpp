#include "ops/rows/elementwise_util.hpp"

#include <algorithm>

namespace lapilli::elementwise {

Result<std::vector<Slice>> slices(const LowerContext& context, const graph::Node& node, const graph::Tensor& tensor,
                                  uint64_t block) {
  const auto& caps = context.caps;
  const uint64_t elements = tensor.elements(), per_row = div_up(tensor.ld, block);
  std::vector<Slice> all;
  if (tensor.live_rows && tensor.bytes() <= caps.max_storage_range && tensor.rows * per_row <= max_groups(caps)) {
    all.push_back({0, elements, tensor.ld, per_row, tensor.rows * per_row, true});
    return all;
  }
  // The other side may begin in a row's padding, up to a vector earlier than this one.
  LAPILLI_TRY(const auto blocks, row_slices(context, node, div_up(elements, block), {block * 4 + 16, 1}));
  for (const auto& b : blocks) {
    const uint64_t begin = b.begin * block, end = std::min(elements, b.end * block);
    all.push_back({begin, end, end - begin, b.end - b.begin, b.end - b.begin, false});
  }
  return all;
}

Push bind_vectors(const LowerContext& context, const Slice& slice, const Side& x, const Side& y, Dispatch& d) {
  d.groups = slice.groups;
  slice.follow(d);
  uint32_t dx = 0, dy = 0;
  d.operands = {bind_range(context, 0, {x.tensor, slice.begin * 4, slice.end * 4, x.access}, dx),
                bind_range(context, 1, {y.tensor, slice.begin * 4, slice.end * 4, y.access}, dy)};
  return {static_cast<uint32_t>(slice.groups), static_cast<uint32_t>(slice.per_line),
          static_cast<uint32_t>(slice.line / 4), dx / 4, dy / 4};
}

const char* name(Activation activation) {
  static constexpr const char* names[] = {"none",       "relu",       "gelu_erf", "gelu_tanh", "silu",
                                          "tanh",       "gelu_quick", "gelu_10",  "relu6",     "relu_squared",
                                          "leaky_relu", "mish",       "sigmoid"};
  static_assert(std::size(names) == static_cast<size_t>(kLastGate) + 1);
  return names[static_cast<size_t>(activation)];
}

Status expect_activation(const graph::Node& node, Activation last) {
  const auto a = node.attributes.as<ElementwiseAttributes>();
  if (a.activation <= last) return {};
  return node_error(node, "unknown activation %u", static_cast<unsigned>(a.activation));
}

Status expect_halves(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_output(g, node, 0, {"y"}));
  const auto& y = g.tensor(node.outputs[0]);
  LAPILLI_CHECK(expect_input(g, node, 0, {"x", y.rows, gate_value_column(y.cols) + y.cols}));
  const auto& x = g.tensor(node.inputs[0]);
  if (x.ld != 2 * y.ld || y.ld != gate_value_column(y.cols)) return node_error(node, "rows are not whole vectors");
  return {};
}

namespace {
struct HalvesPush {
  LAPILLI_PUSH_BEHIND(Push, vectors, uint32_t x_line;)
};
}  // namespace

Status lower_halves(const LowerContext& context, const graph::Node& node, const HalvesKernel& kernel,
                    std::vector<Dispatch>& out) {
  const auto &x = context.graph.tensor(node.inputs[0]), &y = context.graph.tensor(node.outputs[0]);
  const uint64_t per_row = div_up<uint64_t>(y.ld, uint64_t{4} * kernel.constants[0] * kernel.constants[1]);
  LAPILLI_TRY(const auto slices, row_slices(context, node, y.rows, {x.ld * 4, per_row}));
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = kernel.shader;
    d.constants = kernel.constants;
    d.groups = (s.end - s.begin) * per_row;
    if (y.live_rows && slices.size() == 1) follow_live_rows(d, static_cast<uint32_t>(per_row), 1);
    uint32_t dx = 0, dy = 0;
    d.operands.push_back(
        bind_range(context, 0, {node.inputs[0], s.begin * x.ld * 4, s.end * x.ld * 4, graph::Access::read}, dx));
    d.operands.push_back(
        bind_range(context, 1, {node.outputs[0], s.begin * y.ld * 4, s.end * y.ld * 4, graph::Access::write}, dy));
    d.set_push(HalvesPush{{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(per_row),
                           static_cast<uint32_t>(y.ld / 4), dx / 4, dy / 4},
                          static_cast<uint32_t>(x.ld / 4)});
    d.cost = kernel.cost * static_cast<double>((s.end - s.begin) * y.ld);
    out.push_back(std::move(d));
  }
  return {};
}

HostTensor random_halves(const graph::Tensor& x, uint64_t cols, CaseRandom& random, double scale) {
  auto values = random_values(x, random, scale);
  for (uint64_t r = 0; r < x.rows; ++r)
    for (uint64_t i = cols; i < gate_value_column(cols); ++i) values.f[r * x.ld + i] = 0;
  return values;
}

Status expect_source(const graph::Graph& g, const graph::Node& node) {
  const auto x = operand(node.inputs, 0);
  if (x == graph::kNone || x >= g.tensors().size()) return node_error(node, "operand x is missing");
  const auto& t = g.tensor(x);
  LAPILLI_CHECK(expect_input(g, node, 0, {"x", 0, 0, t.dtype}));
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", 0, 0, t.dtype}));
  if (g.root(node.outputs[0]) == g.root(x)) return node_error(node, "x and y share their bytes");
  return {};
}

}  // namespace lapilli::elementwise
