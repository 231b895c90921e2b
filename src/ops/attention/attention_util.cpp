#include "ops/attention/attention_util.hpp"

#include <algorithm>

#include "ops/core/lower_util.hpp"
#include "ops/core/shader_table.hpp"

namespace lapilli {
namespace {
uint32_t columns_of(const KvShape& kv, bool vec4) { return vec4 ? kv.head_dim / 4 : kv.head_dim; }
}  // namespace

Numbers attention_numbers(const Capabilities& caps, Tuned kernel, const KvShape& kv, bool vec4) {
  Numbers numbers = default_numbers(caps, kernel);
  // Fewer would leave lanes of a subgroup idle.
  numbers.local = std::max(numbers.local, std::min(64u, caps.min_subgroup_size));
  while (2 * numbers.local < columns_of(kv, vec4)) numbers.local *= 2;
  return numbers;
}

Status check_attention(const LowerContext& context, const graph::Node& node, const Numbers& numbers, const KvShape& kv,
                       bool vec4) {
  // Up to three columns of padding are written by as many invocations.
  const uint32_t least = std::max(4u, div_up(columns_of(kv, vec4), 2u));
  return check_numbers(context, node, numbers, {least, 128, 1, true});
}

// Each simple variant follows its counterpart in shaders/table.inc; a test checks this.
ShaderId simple_of(ShaderId any) { return static_cast<ShaderId>(static_cast<uint32_t>(any) + 1); }

Numbers simple_attention_numbers(const KvShape& kv) {
  Numbers numbers{4};
  while (2 * numbers.local < kv.head_dim) numbers.local *= 2;
  return numbers;
}

bool simple_attention_fits(const KvShape& kv, uint64_t keys) {
  constexpr uint64_t kTurns = 50'000;
  return 2 * keys * (div_up(kv.head_dim, 4u) + 2) <= kTurns;
}

bool has_log_sums(const graph::Graph& g, const graph::Node& node, const KvShape& kv) {
  const auto context = operand(node.outputs, 0);
  return context != graph::kNone && g.tensor(context).cols == columns_with_log_sums(kv);
}

Status infer_heads(const graph::Graph& g, const graph::Node& node, const KvShape& kv, const RelativeBias& bias,
                   KvReader kv_reader) {
  if (kv.query_heads() == 0 || kv.head_dim == 0 || kv.slots == 0 || kv.positions == 0)
    return node_error(node, "the cache has no heads, slots or positions");
  if (kv.head_dim > kMaxHeadDim)
    return node_error(node, "heads of %u columns; at most %u are supported", kv.head_dim, kMaxHeadDim);
  const uint64_t columns = uint64_t{kv.query_heads()} * kv.head_dim;
  const bool rows = bias.form == BiasForm::rows, wider = rows || bias.form == BiasForm::terms;
  if (bias.form == BiasForm::terms && kv_reader == KvReader::step)
    return node_error(node, "terms belong to attention of whole sequences");
  LAPILLI_CHECK(expect_input(g, node, 0, {"q", 0, wider ? 0 : columns}));
  const auto& q = g.tensor(node.inputs[0]);
  if (q.ld % 4 != 0) return node_error(node, "rows of q are not padded to vec4");
  if (bias.form == BiasForm::terms && operand(node.outputs, 0) == graph::kNone)
    return expect_kv(g, node, operand(node.inputs, 1), kv, kv_reader == KvReader::step);
  if (rows && (bias.column < columns || q.cols < bias.column + uint64_t{bias.buckets} * kv.query_heads()))
    return node_error(node, "q has %u columns, too few for %u heads and their bias", q.cols, kv.query_heads());
  const uint64_t width = has_log_sums(g, node, kv) ? columns_with_log_sums(kv) : columns;
  LAPILLI_CHECK(expect_output(g, node, 0, {"context", q.rows, width}));
  if (g.tensor(node.outputs[0]).ld != round_up<uint64_t>(width, 4))
    return node_error(node, "rows are not padded to vec4");
  return expect_kv(g, node, operand(node.inputs, 1), kv, kv_reader == KvReader::step);
}

Status check_cap(const graph::Node& node, float cap) {
  return cap >= 0 && std::isfinite(cap) ? Status() : node_error(node, "scores capped at %g", cap);
}

Status infer_bias(const graph::Graph& g, const graph::Node& node, const KvShape& kv, const NodeBias& of) {
  const auto& [bias, at] = of;
  if (bias.form == BiasForm::none) return {};
  if (bias.form > BiasForm::rows && bias.form != BiasForm::terms) return node_error(node, "unknown form of bias");
  if (bias.count == 0 || bias.count > kBiasWords)
    return node_error(node, "relative positions have %u distances; 1 to %u are supported", bias.count, kBiasWords);
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, at), "distances", kBiasWords));
  if (bias.form != BiasForm::table) return {};
  if (uint64_t{bias.buckets} * kv.query_heads() > kBiasWords)
    return node_error(node, "a bias of %u buckets for %u heads; at most %u values are supported", bias.buckets,
                      kv.query_heads(), kBiasWords);
  return expect_words(g, node, operand(node.inputs, at + 1), "bias", kBiasWords);
}

Status bind_distances(const LowerContext& context, const graph::Node& node, const NodeBias& of, Dispatch& d,
                      AttentionPush& push) {
  const auto& [bias, at] = of;
  push.bias_low = bias.low;
  push.bias_last = bias.count == 0 ? 0 : bias.count - 1;
  push.bias_column = bias.column;
  if (bias.form == BiasForm::none) return {};
  LAPILLI_TRY(const auto distances, bind_whole(context, 5, node.inputs[at], graph::Access::read));
  d.operands.push_back(distances);
  return {};
}

Status bind_bias(const LowerContext& context, const graph::Node& node, const NodeBias& of, Dispatch& d,
                 AttentionPush& push) {
  const auto& [bias, at] = of;
  LAPILLI_CHECK(bind_distances(context, node, of, d, push));
  if (bias.form == BiasForm::none) return {};
  // Values in rows are part of q, which is bound already; the binding of the table still needs a valid operand.
  const bool rows = bias.form == BiasForm::rows;
  LAPILLI_TRY(const auto values, bind_whole(context, 7, node.inputs[rows ? at : at + 1], graph::Access::read));
  d.operands.push_back(values);
  d.constants.push_back(rows ? 1 : 0);
  return {};
}

HostBias::HostBias(const graph::Node& node, const KvShape& kv, const NodeBias& of, HostTensors& values)
    : bias_(of.bias), heads_(kv.query_heads()) {
  if (bias_.form == BiasForm::none) return;
  distances_ = &values.at(node.inputs[of.at]).f;
  if (bias_.form == BiasForm::table) values_ = &values.at(node.inputs[of.at + 1]).f;
}

uint64_t HostBias::bucket(uint64_t key, uint64_t query) const {
  const int64_t distance = static_cast<int64_t>(key) - static_cast<int64_t>(query);
  const int64_t i = std::clamp<int64_t>(distance - bias_.low, 0, int64_t{bias_.count} - 1);
  return static_cast<uint64_t>((*distances_)[static_cast<size_t>(i)]);
}

double HostBias::operator()(uint64_t key, uint64_t query, uint64_t head, const double* q_row) const {
  if (bias_.form == BiasForm::none || bias_.form == BiasForm::terms) return 0;
  const uint64_t word = bucket(key, query) * heads_ + head;
  return values_ ? (*values_)[word] : q_row[bias_.column + word];
}

Result<KvBlock> kv_block(const LowerContext& context, const graph::Node& node, graph::TensorId kv_tensor,
                         const KvShape& kv, uint64_t unit) {
  const uint64_t limit = context.caps.max_storage_range;
  const KvLayout layout(kv, context.graph.tensor(kv_tensor));
  if (layout.bytes() <= limit) return KvBlock{kv.heads, kv.slots};
  const uint64_t alignment = context.caps.storage_alignment;
  // A part that starts aligned needs no slack for alignment.
  const auto room = [&](uint64_t step) { return step % alignment == 0 ? limit : limit - std::min(limit, alignment); };
  const uint64_t slot_bytes = kv.positions * layout.cell_words() * 4, head_bytes = slot_bytes * kv.slots;
  if (head_bytes <= room(head_bytes)) return KvBlock{room(head_bytes) / head_bytes, kv.slots};
  const uint64_t slots = unit == 0 ? 0 : room(slot_bytes * unit) / slot_bytes / unit * unit;
  if (slots == 0)
    return node_error(node,
                      "one head of %s has %u bytes in %u slots; this device binds %u. Use a smaller batch or "
                      "fewer positions",
                      context.graph.tensor(kv_tensor).name, head_bytes, kv.slots, limit);
  return KvBlock{1, slots};
}

Result<KvCells> kv_cells(const LowerContext& context, const graph::Node& node, const KvLayout& layout) {
  const KvShape& kv = layout.shape;
  const uint64_t limit = context.caps.max_storage_range, cell = layout.cell_words() * 4;
  const uint64_t room = limit - std::min(limit, context.caps.storage_alignment);
  const uint64_t cells = uint64_t{kv.slots} * kv.positions;
  if (layout.bytes() <= limit) return KvCells{kv.heads, cells};
  if (room < cell) return node_error(node, "one position of a head exceeds this device's binding limit");
  return KvCells{std::max<uint64_t>(1, room / (cells * cell)), std::min(cells, room / cell)};
}

Operand bind_kv(const LowerContext& context, const KvBinding& bound, const KvShape& kv, const KvPart& part,
                AttentionPush& push) {
  uint32_t delta = 0;
  const KvLayout layout(kv, context.graph.tensor(bound.tensor));
  const uint64_t begin = layout.word(part.h0, part.s0, 0), end = layout.word(part.h1 - 1, part.s1, 0);
  const auto operand =
      bind_range(context, bound.binding, {bound.tensor, begin * 4, end * 4, graph::Access::read}, delta);
  push.all_heads = kv.query_heads();
  push.heads = static_cast<uint32_t>(part.h1 - part.h0) * kv.group;
  push.head_begin = static_cast<uint32_t>(part.h0) * kv.group;
  push.slots = kv.slots;
  push.positions = kv.positions;
  push.slot_begin = static_cast<uint32_t>(part.s0);
  push.slot_end = static_cast<uint32_t>(part.s1);
  push.kv_begin = layout.begin_of(begin, delta);
  return operand;
}

}  // namespace lapilli
