#include "ops/core/op.hpp"

#include <algorithm>

#include "vulkan/caps/bindings.hpp"

namespace lapilli {
namespace {

bool unpacks_halves(const graph::Graph& g, const graph::Node& node) {
  const auto is_half = [&](graph::TensorId t) { return t != graph::kNone && g.tensor(t).dtype == graph::DType::f16; };
  return std::any_of(node.inputs.begin(), node.inputs.end(), is_half);
}

}  // namespace

Status check_halves(const Capabilities& caps) {
  if (caps.packed_halves) return {};
  return fail(
      ErrorCode::unsupported,
      "the driver of %s fails where fp16 is unpacked: take bf16 or fp32 instead, for weights as for keys and values",
      caps.device_name);
}

Status lower_node(const LowerContext& context, const graph::Node& node, Variant variant, std::vector<Dispatch>& out) {
  if (unpacks_halves(context.graph, node)) LAPILLI_CHECK(check_halves(context.caps));
  return node.op->lower(context, node, variant, out);
}

Operand bind_range(const LowerContext& context, uint32_t binding, const ByteSpan& bytes, uint32_t& delta) {
  const uint64_t aligned = round_down(bytes.begin, binding_alignment(context.caps, binding));
  delta = static_cast<uint32_t>((bytes.begin - aligned) / 4);
  return {binding, bytes.tensor, aligned, bytes.end, bytes.access, 0};
}

void bind_as_texels(Dispatch& d, bool used) {
  Operand& words = d.operands.back();
  words.used = !used;
  Operand texels = words;
  texels.binding = kTexelBinding;
  texels.used = used;
  d.operands.push_back(texels);
}

Result<Operand> bind_whole(const LowerContext& context, uint32_t binding, graph::TensorId tensor,
                           graph::Access access) {
  return bind_first(context, binding, tensor, context.graph.tensor(tensor).bytes(), access);
}

Result<Operand> bind_first(const LowerContext& context, uint32_t binding, graph::TensorId tensor, uint64_t bytes,
                           graph::Access access) {
  const auto& t = context.graph.tensor(tensor);
  bytes = std::min(bytes, t.bytes());
  const bool uniform = is_uniform(binding);
  const uint64_t limit = max_binding_range(context.caps, binding);
  if (bytes > limit)
    return fail(ErrorCode::unsupported, "tensor %s needs %u bytes in one %s binding; this device allows %u. %s", t.name,
                bytes, uniform ? "uniform" : "storage", limit,
                t.space == graph::Space::weight ? "It is a part of the model: run the model on another device"
                                                : "Use a smaller batch");
  return Operand{binding, tensor, 0, bytes, access, 0};
}

Result<std::array<uint32_t, 3>> fold_groups(const Capabilities& caps, uint64_t groups) {
  const auto& m = caps.max_group_count;
  if (groups == 0) groups = 1;
  if (groups > max_groups(caps))
    return fail(ErrorCode::unsupported, "a dispatch of %u groups exceeds this device's limit", groups);
  const uint64_t x = std::min<uint64_t>(groups, m[0]);
  const uint64_t y = std::min<uint64_t>(div_up(groups, x), m[1]);
  const uint64_t z = div_up(groups, x * y);
  return std::array<uint32_t, 3>{static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
}

uint64_t max_groups(const Capabilities& caps) {
  const auto& m = caps.max_group_count;
  // Kernels use 32-bit linear indices.
  return std::min<uint64_t>(uint64_t{m[0]} * m[1] * std::min<uint64_t>(m[2], 65535), 0x7fffffffu);
}

}  // namespace lapilli
