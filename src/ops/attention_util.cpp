#include "ops/attention_util.hpp"

#include <algorithm>

#include "ops/lower_util.hpp"

namespace lapilli {

uint32_t attention_local(const Capabilities& caps, const KvShape& kv) {
  const uint32_t parts = heads_are_vec4(kv) ? kv.head_dim / 4 : kv.head_dim;
  uint32_t local = caps.type == DeviceType::cpu ? 8 : 32;
  while (2 * local < parts) local *= 2;
  return local;
}

Status infer_heads(const graph::Graph& g, const graph::Node& node, const KvShape& kv) {
  if (kv.heads == 0 || kv.head_dim == 0 || kv.slots == 0 || kv.positions == 0)
    return node_error(node, "the cache has no heads, slots or positions");
  if (kv.head_dim > kMaxHeadDim)
    return node_error(node, "heads of %u columns; at most %u are supported", kv.head_dim, kMaxHeadDim);
  LAPILLI_CHECK(expect_input(g, node, 0, {"q", 0, uint64_t{kv.heads} * kv.head_dim}));
  const auto& q = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"context", q.rows, q.cols}));
  if (q.ld % 4 != 0 || g.tensor(node.outputs[0]).ld != q.ld) return node_error(node, "rows are not padded to vec4");
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 1), "kv", kv.words()));
  if (kv.words() > 0xffffffffu) return node_error(node, "the cache has more than 2^32 words");
  return {};
}

Result<KvBlock> kv_block(const LowerContext& context, const graph::Node& node, graph::TensorId kv_tensor,
                         const KvShape& kv, uint64_t unit) {
  const uint64_t limit = context.caps.max_storage_range;
  if (kv.words() * 4 <= limit) return KvBlock{kv.heads, kv.slots};
  const uint64_t alignment = context.caps.storage_alignment;
  // A part that starts aligned needs no room for the alignment of its start.
  const auto room = [&](uint64_t step) { return step % alignment == 0 ? limit : limit - std::min(limit, alignment); };
  const uint64_t slot_bytes = uint64_t{kv.positions} * 2 * kv.head_dim * 4, head_bytes = slot_bytes * kv.slots;
  if (head_bytes <= room(head_bytes)) return KvBlock{room(head_bytes) / head_bytes, kv.slots};
  const uint64_t slots = unit == 0 ? 0 : room(slot_bytes * unit) / slot_bytes / unit * unit;
  if (slots == 0)
    return node_error(node,
                      "one head of %s has %llu bytes in %u slots; this device binds %llu. Use a smaller batch or "
                      "fewer positions",
                      context.graph.tensor(kv_tensor).name.c_str(), static_cast<unsigned long long>(head_bytes),
                      kv.slots, static_cast<unsigned long long>(limit));
  return KvBlock{1, slots};
}

Operand bind_kv(const LowerContext& context, graph::TensorId kv_tensor, const KvShape& kv, const KvPart& part,
                AttentionPush& push) {
  uint32_t delta = 0;
  const uint64_t begin = kv.word(part.h0, part.s0, 0);
  const auto operand =
      bind_range(context, 1, kv_tensor, begin * 4, kv.word(part.h1 - 1, part.s1, 0) * 4, graph::Access::read, delta);
  push.all_heads = kv.heads;
  push.heads = static_cast<uint32_t>(part.h1 - part.h0);
  push.head_begin = static_cast<uint32_t>(part.h0);
  push.slots = kv.slots;
  push.positions = kv.positions;
  push.slot_begin = static_cast<uint32_t>(part.s0);
  push.slot_end = static_cast<uint32_t>(part.s1);
  push.kv_begin = static_cast<uint32_t>(begin - delta);
  return operand;
}

}  // namespace lapilli
