#include "ops/elementwise_util.hpp"

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
  static constexpr const char* names[] = {"none",       "relu",    "gelu_erf", "gelu_tanh",    "silu",       "tanh",
                                          "gelu_quick", "gelu_10", "relu6",    "relu_squared", "leaky_relu", "mish"};
  static_assert(std::size(names) == static_cast<size_t>(kLastActivation) + 1);
  return names[static_cast<size_t>(activation)];
}

Status expect_activation(const graph::Node& node) {
  const auto a = node.attributes.as<ElementwiseAttributes>();
  if (a.activation <= kLastActivation) return {};
  return node_error(node, "unknown activation %u", static_cast<unsigned>(a.activation));
}

Status expect_moved(const graph::Graph& g, const graph::Node& node, bool transposed) {
  const auto x = operand(node.inputs, 0);
  if (x == graph::kNone || x >= g.tensors().size()) return node_error(node, "operand x is missing");
  const auto& t = g.tensor(x);
  LAPILLI_CHECK(expect_input(g, node, 0, {"x", 0, 0, t.dtype}));
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", transposed ? t.cols : t.rows, transposed ? t.rows : t.cols, t.dtype}));
  if (g.root(node.outputs[0]) == g.root(x)) return node_error(node, "x and y share their bytes");
  return {};
}

}  // namespace lapilli::elementwise
