#include "ops/attention/attention_parts.hpp"

#include <algorithm>
#include <bit>

#include "ops/attention/attention_util.hpp"
#include "ops/core/lower_util.hpp"

namespace lapilli {
namespace {

struct PartPush {
  LAPILLI_PUSH(uint32_t groups; uint32_t all_heads, head; uint32_t slots, positions; uint32_t cell_begin, cell_end;
               uint32_t kv_begin; uint32_t running_begin; uint32_t ld, running_ld; float scale; int32_t bias_low;
               uint32_t bias_last, bias_column;
               uint32_t lineage_beam_slots, lineage_positions, beams, chunk, window, sink_column;)
};
struct QuotientPush {
  LAPILLI_PUSH(uint32_t groups; uint32_t all_heads, heads, head_begin; uint32_t rows;
               uint32_t running_begin, running_ld, out_ld, chunks;)
};

// Cells per part; some drivers bound the loops of an invocation.
constexpr uint64_t kMostCells = 1 << 14;

ShaderId part_shader(const AttentionStepAttributes& a) {
  const bool vec = heads_are_vec4(a.kv);
  switch (a.bias.form) {
    case BiasForm::table:
    case BiasForm::rows: return vec ? ShaderId::attention_part_vec_bias : ShaderId::attention_part_any_bias;
    case BiasForm::map:  // these two are only for whole sequences; infer refuses them here
    case BiasForm::terms:
    case BiasForm::none: break;
  }
  return vec ? ShaderId::attention_part_vec : ShaderId::attention_part_any;
}

uint64_t slots_of_sentence(const AttentionStepAttributes& a) { return a.beams ? a.beams : a.kv.slots; }

// Bytes of a binding that need not begin aligned.
uint64_t unaligned_room(const Capabilities& caps) {
  return caps.max_storage_range - std::min(caps.max_storage_range, caps.storage_alignment);
}

// A node, and its lines of running sums per row and head.
struct Step {
  const LowerContext& context;
  const graph::Node& node;
  const Numbers& numbers;
  const KvShape& kv;
  uint64_t rows, chunks;
};

// Sets the grid: one workgroup per row and head.
Status set_grid(const Step& s, uint64_t heads, Dispatch& d) {
  d.constants = {s.numbers.local, s.kv.head_dim};
  d.groups = s.rows * heads;
  if (d.groups > max_groups(s.context.caps))
    return node_error(s.node, "%u workgroups exceed this device's grid", d.groups);
  follow_live_rows(d, static_cast<uint32_t>(heads), 1);
  LAPILLI_TRY(const auto step, bind_whole(s.context, 4, s.node.inputs[3], graph::Access::read));
  d.operands.push_back(step);
  return {};
}

// The running sums of heads [h0, h1).
struct HeadSums {
  uint64_t h0, h1;
  graph::Access access;
};
Operand bind_running(const Step& s, uint32_t binding, const HeadSums& heads, uint32_t& delta) {
  const uint64_t head_bytes = s.rows * s.chunks * running_width(s.kv) * 4;
  return bind_range(s.context, binding, {s.node.outputs[1], heads.h0 * head_bytes, heads.h1 * head_bytes, heads.access},
                    delta);
}

Status add_quotients(const Step& s, uint64_t h0, uint64_t h1, std::vector<Dispatch>& out) {
  Dispatch d;
  d.shader = heads_are_vec4(s.kv) ? ShaderId::attention_quotient_vec : ShaderId::attention_quotient_any;
  LAPILLI_CHECK(set_grid(s, h1 - h0, d));
  uint32_t delta = 0;
  d.operands.push_back(bind_running(s, 0, {h0, h1, graph::Access::read}, delta));
  LAPILLI_TRY(const auto context, bind_whole(s.context, 1, s.node.outputs[0], graph::Access::write));
  d.operands.push_back(context);
  const uint64_t first = h0 * s.rows * s.chunks * running_width(s.kv);
  d.set_push(QuotientPush{
      static_cast<uint32_t>(d.groups), s.kv.query_heads(), static_cast<uint32_t>(h1 - h0), static_cast<uint32_t>(h0),
      static_cast<uint32_t>(s.rows), static_cast<uint32_t>(delta - first), running_width(s.kv),
      static_cast<uint32_t>(s.context.graph.tensor(s.node.outputs[0]).ld), static_cast<uint32_t>(s.chunks)});
  d.cost = static_cast<double>(d.groups * s.chunks) * s.kv.head_dim;
  out.push_back(std::move(d));
  return {};
}

// Lowers to the parts of each head's cache in sequence, then the quotients of all heads. A cell is a position of a
// slot: slot * positions + position.
class Lowering {
 public:
  Lowering(const LowerContext& context, const graph::Node& node, const Numbers& numbers, std::vector<Dispatch>& out)
      : context_(context),
        node_(node),
        numbers_(numbers),
        out_(out),
        a_(node.attributes.as<AttentionStepAttributes>()),
        q_(context.graph.tensor(node.inputs[0])),
        running_row_(uint64_t{running_width(a_.kv)} * 4) {}

  Status run() {
    LAPILLI_CHECK(check_attention(context_, node_, numbers_, a_.kv, heads_are_vec4(a_.kv)));
    LAPILLI_CHECK(fit());
    for (uint64_t head = 0; head < a_.kv.query_heads(); ++head)
      if (cells_ >= a_.kv.positions)
        LAPILLI_CHECK(add_parts(head, {0, uint64_t{a_.kv.slots} * a_.kv.positions},
                                round_down<uint64_t>(cells_, a_.kv.positions)));
      else
        for (uint64_t s = 0; s < a_.kv.slots; ++s)
          LAPILLI_CHECK(
              add_parts(head, {s * a_.kv.positions, (s + 1) * a_.kv.positions}, round_down<uint64_t>(cells_, chunk_)));
    const uint64_t head_bytes = q_.rows * running_row_, limit = context_.caps.max_storage_range;
    const uint64_t room = head_bytes * a_.kv.query_heads() <= limit ? limit : unaligned_room(context_.caps);
    const uint64_t heads = std::max<uint64_t>(1, room / head_bytes);
    for (uint64_t h = 0; h < a_.kv.query_heads(); h += heads)
      LAPILLI_CHECK(add_quotients(step_of(), h, std::min<uint64_t>(a_.kv.query_heads(), h + heads), out_));
    return {};
  }

 private:
  // The chunk, and with it the order of the sums, depends only on the device and the head size.
  Status fit() {
    const uint64_t cell_bytes = kv_layout().cell_words() * 4, room = unaligned_room(context_.caps);
    const uint64_t bytes = cell_bytes % context_.caps.storage_alignment == 0 ? context_.caps.max_storage_range : room;
    cells_ = std::min(kMostCells, bytes / cell_bytes);
    if (a_.part_cells != 0) cells_ = std::min<uint64_t>(cells_, a_.part_cells);
    chunk_ = std::min<uint64_t>(kAttentionChunk, std::bit_floor(cells_));
    if (cells_ == 0 || q_.rows * running_row_ > room)
      return node_error(node_,
                        "a head of one position, or the sums of %u rows, exceed this device's binding limit of %u "
                        "bytes. Use a smaller batch",
                        q_.rows, context_.caps.max_storage_range);
    return {};
  }

  Status add_parts(uint64_t head, const RowSlice& cells, uint64_t step) {
    for (uint64_t c = cells.begin; c < cells.end; c += step)
      LAPILLI_CHECK(add_part(head, {c, std::min(cells.end, c + step)}));
    return {};
  }

  [[nodiscard]] KvLayout kv_layout() const { return {a_.kv, context_.graph.tensor(node_.inputs[1])}; }
  [[nodiscard]] Step step_of() const { return {context_, node_, numbers_, a_.kv, q_.rows, 1}; }

  Status add_part(uint64_t head, const RowSlice& cells) {
    Dispatch d;
    d.shader = part_shader(a_);
    LAPILLI_CHECK(set_grid(step_of(), 1, d));
    d.constants.insert(d.constants.end(), {kv_format(context_, node_), a_.kv.group, cap_constant(a_.cap)});
    LAPILLI_TRY(const auto q, bind_whole(context_, 0, node_.inputs[0], graph::Access::read));
    LAPILLI_TRY(const auto lineage, bind_whole(context_, 2, node_.inputs[2], graph::Access::read));
    const uint64_t of_keys = head / a_.kv.group;
    const uint64_t begin = kv_layout().word(of_keys, 0, cells.begin), end = kv_layout().word(of_keys, 0, cells.end);
    uint32_t kv_delta = 0, running_delta = 0;
    d.operands.insert(
        d.operands.end(),
        {q, bind_range(context_, 1, {node_.inputs[1], begin * 4, end * 4, graph::Access::read}, kv_delta), lineage,
         bind_running(step_of(), 3, {head, head + 1, graph::Access::read_write}, running_delta)});
    AttentionPush bias{};
    LAPILLI_CHECK(bind_bias(context_, node_, {a_.bias, 5}, d, bias));
    d.set_push(PartPush{static_cast<uint32_t>(d.groups),
                        a_.kv.query_heads(),
                        static_cast<uint32_t>(head),
                        a_.kv.slots,
                        a_.kv.positions,
                        static_cast<uint32_t>(cells.begin),
                        static_cast<uint32_t>(cells.end),
                        kv_layout().begin_of(begin, kv_delta),
                        running_delta,
                        static_cast<uint32_t>(q_.ld),
                        running_width(a_.kv),
                        a_.scale,
                        bias.bias_low,
                        bias.bias_last,
                        bias.bias_column,
                        a_.lineage_beam_slots,
                        a_.lineage_positions,
                        static_cast<uint32_t>(slots_of_sentence(a_)),
                        static_cast<uint32_t>(chunk_),
                        a_.window,
                        a_.sink_column});
    const uint64_t keys = std::min<uint64_t>(cells.end - cells.begin, a_.kv.positions);
    d.cost = 4.0 * static_cast<double>(d.groups * keys) * a_.kv.head_dim;
    out_.push_back(std::move(d));
    return {};
  }

  const LowerContext& context_;
  const graph::Node& node_;
  const Numbers numbers_;
  std::vector<Dispatch>& out_;
  const AttentionStepAttributes a_;
  const graph::Tensor& q_;
  const uint64_t running_row_;  // bytes
  uint64_t cells_ = 0, chunk_ = 0;
};

}  // namespace

uint32_t running_width(const KvShape& kv) { return round_up(kv.head_dim, 4u) + 4; }

bool chunks_fit(const Capabilities& caps, const graph::Graph& g, const graph::Node& node, const KvShape& kv) {
  const uint64_t lines = uint64_t{kv.query_heads()} * g.tensor(node.inputs[0]).rows * key_chunks(kv);
  return lines * running_width(kv) * 4 <= caps.max_storage_range && lines <= max_groups(caps);
}

graph::TensorId running_sums(graph::Graph& g, const std::string& label, const KvShape& kv, uint64_t rows) {
  const auto id = g.activation(label + ".running", kv.query_heads() * rows * key_chunks(kv), running_width(kv));
  g.tensor(id).scratch = true;
  return id;
}

Status infer_running(const graph::Graph& g, const graph::Node& node, const KvShape& kv) {
  LAPILLI_CHECK(expect_output(
      g, node, 1, {"running", kv.query_heads() * g.tensor(node.inputs[0]).rows * key_chunks(kv), running_width(kv)}));
  if (!g.tensor(node.outputs[1]).scratch) return node_error(node, "the running sums are no scratch");
  return {};
}

bool caches_always_fit(const Capabilities& caps, const AttentionStepAttributes& a, KvFormat format) {
  constexpr uint64_t kLargestStep = 512;  // granularity of positions
  const uint64_t positions = round_up<uint64_t>(a.longest + uint64_t{1}, kLargestStep);
  return slots_of_sentence(a) * positions * KvLayout(a.kv, format).cell_words() * 4 <= unaligned_room(caps);
}

Status lower_attention_parts(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                             std::vector<Dispatch>& out) {
  return Lowering(context, node, numbers, out).run();
}

Status lower_attention_chunks(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                              std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<AttentionStepAttributes>();
  return add_quotients({context, node, numbers, a.kv, context.graph.tensor(node.inputs[0]).rows, key_chunks(a.kv)}, 0,
                       a.kv.query_heads(), out);
}

}  // namespace lapilli
