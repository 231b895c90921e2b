#include "ops/core/lower_util.hpp"

#include <algorithm>

namespace lapilli {

Failure node_message(const graph::Node& node, const std::string& message) {
  return fail(ErrorCode::unsupported, "%s \"%s\": %s", node.op ? node.op->name : "node", node.label, message);
}

namespace {
Status expect_tensor(const graph::Graph& g, const graph::Node& node, graph::TensorId id, const Expect& e) {
  if (id == graph::kNone || id >= g.tensors().size()) return node_error(node, "operand %s is missing", e.role);
  const auto& t = g.tensor(id);
  if (t.dtype != e.dtype) return node_error(node, "%s (%s) has the wrong element type", e.role, t.name);
  if ((e.rows != 0 && t.rows != e.rows) || (e.cols != 0 && t.cols != e.cols))
    return node_error(node, "%s (%s) is %u x %u, wanted %u x %u (0: any)", e.role, t.name, t.rows, t.cols, e.rows,
                      e.cols);
  if (t.rows == 0 || t.cols == 0 || t.ld < t.cols) return node_error(node, "%s (%s) is empty", e.role, t.name);
  return {};
}
}  // namespace

Status expect_input(const graph::Graph& g, const graph::Node& node, size_t index, const Expect& e) {
  return expect_tensor(g, node, operand(node.inputs, index), e);
}
Status expect_output(const graph::Graph& g, const graph::Node& node, size_t index, const Expect& e) {
  return expect_tensor(g, node, operand(node.outputs, index), e);
}

Status expect_words(const graph::Graph& g, const graph::Node& node, graph::TensorId id, const char* role,
                    uint64_t words) {
  if (id == graph::kNone || id >= g.tensors().size()) return node_error(node, "operand %s is missing", role);
  const auto& t = g.tensor(id);
  if (t.elements() < words)
    return node_error(node, "%s (%s) has %u elements, at least %u are needed", role, t.name, t.elements(), words);
  return {};
}

Status expect_weight(const graph::Graph& g, const graph::Node& node, graph::TensorId id, const ExpectWeight& expect) {
  const auto& [role, n, k] = expect;
  if (id == graph::kNone || id >= g.tensors().size()) return node_error(node, "operand %s is missing", role);
  const auto& t = g.tensor(id);
  if (t.dtype == graph::DType::u32) return node_error(node, "%s (%s) is no packed matrix", role, t.name);
  return expect_words(g, node, id, role, WeightLayout(n, k, t).words());
}

HostWeight::HostWeight(const graph::Graph& g, graph::TensorId id, uint64_t n, uint64_t k, HostTensors& tensors)
    : values_(&tensors.at(id).f) {
  const WeightLayout layout(n, k, g.tensor(id));
  if (layout.format == WeightFormat::fp32) return;
  unpacked_ = unpack_words(layout, tensors.at(id).u);
  values_ = &unpacked_;
}

Result<std::vector<RowSlice>> row_slices(const LowerContext& context, const graph::Node& node, uint64_t rows,
                                         RowCost cost, uint64_t tile) {
  const auto& caps = context.caps;
  uint64_t most = rows;
  if (cost.bytes > 0 && rows * cost.bytes > caps.max_storage_range) {
    const uint64_t room = caps.max_storage_range - std::min(caps.storage_alignment, caps.max_storage_range);
    most = std::min(most, room / cost.bytes);
  }
  most = std::min(most, max_groups(caps) / std::max<uint64_t>(1, cost.groups));
  if (most < rows) most = most / tile * tile;
  if (most == 0)
    return node_error(node, "one row needs %u bytes in a binding and %u groups; this device allows %u and %u",
                      cost.bytes * tile, cost.groups, caps.max_storage_range, max_groups(caps));
  std::vector<RowSlice> slices;
  for (uint64_t r = 0; r < rows; r += most) slices.push_back({r, std::min(rows, r + most)});
  return slices;
}

void follow_live_rows(Dispatch& dispatch, uint32_t groups_per_tile, uint32_t rows_per_tile) {
  dispatch.groups_per_tile = groups_per_tile;
  dispatch.rows_per_tile = rows_per_tile;
}

}  // namespace lapilli
