// "attention_step": see attention.hpp.
#include <algorithm>

#include "ops/attention/attention_cases.hpp"
#include "ops/attention/attention_parts.hpp"
#include "ops/attention/attention_util.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "vulkan/caps/bindings.hpp"

namespace lapilli {
namespace attention_step_impl {
namespace {

using ull = unsigned long long;

constexpr size_t kDistances = 5;  // among the inputs

struct Push {
  LAPILLI_PUSH_BEHIND(AttentionPush, common, uint32_t lineage_beam_slots, lineage_positions, beams;
                      uint32_t chunks, rows, window, sink_column;)
};

constexpr uint32_t kLaneQueries = 16;  // of one text that a workgroup takes (attention_lanes.comp)

// A ring holds the keys of the rows that are taken together.
Status infer_prompt(const graph::Node& node, const AttentionStepAttributes& a) {
  if (!a.prompt) return {};
  if (!a.self) return node_error(node, "cross attention takes rows of prompts as any others");
  const bool ring = a.window != kNoWindow && a.kv.positions < a.lineage_positions;
  if (ring && uint64_t{a.window} + kLaneQueries > a.kv.positions)
    return node_error(node, "rows of prompts with a window of %u positions, in a ring of %u", a.window, a.kv.positions);
  return {};
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<AttentionStepAttributes>();
  LAPILLI_CHECK(infer_heads(g, node, a.kv, a.bias, KvReader::step));
  if (g.tensor(node.inputs[0]).rows > state::MAX_ROWS)
    return node_error(node, "a step has at most %u rows", state::MAX_ROWS);
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 3), "step", state::STEP_QUEUE));
  if (!a.self && a.bias.form != BiasForm::none) return node_error(node, "cross attention has no relative positions");
  LAPILLI_CHECK(infer_bias(g, node, a.kv, {a.bias, kDistances}));
  LAPILLI_CHECK(infer_running(g, node, a.kv));
  LAPILLI_CHECK(check_cap(node, a.cap));
  if (a.window != kNoWindow && (!a.self || a.window >= a.kv.positions))
    return node_error(node, "a window of %u positions before a row's own, in a cache of %u", a.window, a.kv.positions);
  LAPILLI_CHECK(infer_prompt(node, a));
  if (a.sink_column &&
      (a.bias.form != BiasForm::rows || uint64_t{a.sink_column} + a.kv.query_heads() > g.tensor(node.inputs[0]).cols))
    return node_error(node, "sinks at column %u of q", a.sink_column);
  if (a.self) {
    if (a.lineage_beam_slots < a.kv.slots)
      return node_error(node, "lineage has %u beam slots, the cache %u", a.lineage_beam_slots, a.kv.slots);
    return expect_words(g, node, operand(node.inputs, 2), "lineage",
                        state::lineage_words(a.lineage_beam_slots, a.lineage_positions));
  }
  if (a.kv.slots > state::MAX_ROWS || a.beams == 0)
    return node_error(node, "%u slots of %u beams; at most %u slots", a.kv.slots, a.beams, state::MAX_ROWS);
  return expect_words(g, node, operand(node.inputs, 4), "lengths", 2 * uint64_t{a.kv.slots});
}

enum : uint32_t { kWhole, kParts, kSimple, kChunks, kTexels, kTile, kLanes };

// The most keys of a row.
uint32_t seen_positions(const AttentionStepAttributes& a) {
  return a.window == kNoWindow ? a.kv.positions : a.window + 1;
}

// Rows of a prompt that share the keys they load.
bool has_tiles(const AttentionStepAttributes& a) {
  return a.prompt && a.bias.form == BiasForm::none && heads_are_vec4(a.kv);
}

// llvmpipe leaves all loops of a kernel behind 65,535 turns (docs/inside/adding-an-op.md). A tile takes some 2.3 a key.
constexpr uint64_t kMostTurns = 50'000, kMostTileKeys = 16384;

// Lanes take each vec4 of a head twice for each of their keys.
uint64_t most_lane_keys(const Capabilities& caps, const KvShape& kv) {
  const uint64_t lanes = caps.subgroup_size;
  const uint64_t turns = 2 * div_up<uint64_t>(kv.head_dim / 4, lanes) * (lanes + 1) + 1;  // for four keys a lane
  return std::min(kMostTurns / turns * 4 * lanes, kMostTileKeys);
}

bool lanes_fit(const Capabilities& caps, const AttentionStepAttributes& a) {
  return has_lanes(caps) && caps.texels && a.kv.head_dim <= 32 * caps.subgroup_size &&
         seen_positions(a) <= most_lane_keys(caps, a.kv);
}

// The keys are summed in one order in every session, of whatever length, if no session has more positions than this.
bool always_fit(const AttentionStepAttributes& a, uint64_t most) {
  constexpr uint64_t kLargestStep = 512;  // granularity of positions
  return a.longest != 0 && round_up<uint64_t>(a.longest + uint64_t{1}, kLargestStep) <= most;
}

void add_tiles(const Capabilities& caps, const AttentionStepAttributes& a, bool in_parts, std::vector<Variant>& list) {
  if (!has_tiles(a)) return;
  if (lanes_fit(caps, a))
    list.push_back({kLanes,
                    "lanes, rows of a text",
                    !in_parts && always_fit(a, most_lane_keys(caps, a.kv)),
                    {caps.subgroup_size}});
  if (!caps.texels || seen_positions(a) <= kMostTileKeys)
    list.push_back({kTile, "workgroup 4 rows of a text", !in_parts && (!caps.texels || always_fit(a, kMostTileKeys)),
                    attention_numbers(caps, Tuned::attention, a.kv, true)});
}

// Parts are summed in a different order. A sentence must have one order in all sessions: its keys are summed whole in
// all of them, or in parts even where the cache would fit.
std::vector<Variant> variants(const Capabilities& caps, const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<AttentionStepAttributes>();
  const bool fits = a.part_cells == 0 && kv_block({g, caps}, node, node.inputs[1], a.kv, a.beams).ok();
  const bool in_parts =
      a.self && a.longest != 0 && !caches_always_fit(caps, a, kv_format_of(g.tensor(node.inputs[1]).dtype));
  // A query has its own workgroup, whose teams of lanes share its keys (attention.comp); parts do not use teams.
  const bool vec = heads_are_vec4(a.kv);
  const Numbers numbers = attention_numbers(caps, Tuned::attention_step, a.kv, vec);
  std::vector<Variant> list;
  if (fits && shares_out_keys(caps, g.tensor(node.inputs[0]).rows * a.kv.query_heads(), a.kv.positions) &&
      chunks_fit(caps, g, node, a.kv))
    list.push_back({kChunks, "workgroup a row, head and chunk", false, numbers});
  if (fits) add_tiles(caps, a, in_parts, list);
  if (fits || !a.self) {
    if (vec && sharing_ways(caps).texels)
      list.push_back({kTexels, "texels, workgroup a row and head", !in_parts, numbers});
    list.push_back({kWhole, "workgroup a row and head", !in_parts, numbers});
    if (simple_attention_fits(a.kv, a.kv.positions))
      list.push_back({kSimple, "simple", !in_parts, simple_attention_numbers(a.kv)});
  }
  if (a.self && (!fits || in_parts))
    list.push_back({kParts, "parts of the cache", in_parts, attention_numbers(caps, Tuned::attention, a.kv, vec)});
  return list;
}

Status bind_state(const LowerContext& context, const graph::Node& node, const AttentionStepAttributes& a, Dispatch& d) {
  if (a.self) {
    LAPILLI_TRY(const auto lineage, bind_whole(context, 2, node.inputs[2], graph::Access::read));
    d.operands.push_back(lineage);
  } else {
    LAPILLI_TRY(const auto lengths, bind_whole(context, 6, node.inputs[4], graph::Access::read));
    d.operands.push_back(lengths);
  }
  LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[3], graph::Access::read));
  d.operands.push_back(step);
  return {};
}

ShaderId texel_shader(const AttentionStepAttributes& a) {
  if (!a.self) return ShaderId::attention_step_cross_texels;
  return a.bias.form == BiasForm::none ? ShaderId::attention_step_self_texels
                                       : ShaderId::attention_step_self_texels_bias;
}

ShaderId shader(const AttentionStepAttributes& a, bool vec) {
  if (!a.self) return vec ? ShaderId::attention_step_cross_vec : ShaderId::attention_step_cross_any;
  switch (a.bias.form) {
    case BiasForm::table:
    case BiasForm::rows: return vec ? ShaderId::attention_step_self_vec_bias : ShaderId::attention_step_self_any_bias;
    case BiasForm::map:  // these two are only for whole sequences; infer refuses them here
    case BiasForm::terms:
    case BiasForm::none: break;
  }
  return vec ? ShaderId::attention_step_self_vec : ShaderId::attention_step_self_any;
}

// By the vec4s of a head that a lane has.
ShaderId lanes_shader(const AttentionStepAttributes& a, uint32_t lanes) {
  const uint32_t each = div_up(a.kv.head_dim / 4, lanes);
  if (each > 4) return ShaderId::attention_tile_lanes_widest;
  return each > 2 ? ShaderId::attention_tile_lanes_wide : ShaderId::attention_tile_lanes;
}

ShaderId shader_of(const AttentionStepAttributes& a, const Variant& v) {
  switch (v.id) {
    case kTile: return ShaderId::attention_tile_vec;
    case kLanes: return lanes_shader(a, v.numbers.local);
    case kTexels: return texel_shader(a);
    case kSimple: return simple_of(shader(a, false));
    default: return shader(a, heads_are_vec4(a.kv));
  }
}

// The time of a product and a sum, where those of a row alone are 4. Rows that share the keys they load take less
// (docs/decisions/prompts-in-tiles.md).
double cost_factor(const Variant& v, const AttentionStepAttributes& a) {
  constexpr double kAlone = 4, kFourRows = 2, kLaneRows = 0.7, kWideLaneRows = 1.5;
  switch (v.id) {
    case kTile: return kFourRows;
    case kLanes: return a.kv.head_dim <= 8 * v.numbers.local ? kLaneRows : kWideLaneRows;
    case kSimple: return kAlone * v.numbers.local;  // every invocation visits all keys
    default: return kAlone;
  }
}

// Binds the context, or each chunk's contribution to it.
Status bind_result(const LowerContext& context, const graph::Node& node, bool chunks, Dispatch& d, Push& p) {
  const graph::TensorId result = node.outputs[chunks ? 1 : 0];
  LAPILLI_TRY(const auto out, bind_whole(context, 3, result, graph::Access::write));
  d.operands.push_back(out);
  p.common.out_ld = static_cast<uint32_t>(context.graph.tensor(result).ld);
  p.chunks = chunks ? key_chunks(node.attributes.as<AttentionStepAttributes>().kv) : 1;
  p.rows = static_cast<uint32_t>(context.graph.tensor(node.inputs[0]).rows);
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  if (v.id == kParts) return lower_attention_parts(context, node, v.numbers, out);
  const bool chunks = v.id == kChunks;
  const auto a = node.attributes.as<AttentionStepAttributes>();
  const bool simple = v.id == kSimple, texels = v.id == kTexels || v.id == kLanes;
  LAPILLI_CHECK(v.id == kLanes ? check_subgroup(context, node, v.numbers)
                               : check_attention(context, node, v.numbers, a.kv, !simple && heads_are_vec4(a.kv)));
  const auto& q = context.graph.tensor(node.inputs[0]);
  LAPILLI_TRY(const auto block, kv_block(context, node, node.inputs[1], a.kv, a.self ? a.beams : 1));
  for (uint64_t h = 0; h < a.kv.heads; h += block.heads)
    for (uint64_t s = 0; s < a.kv.slots; s += block.slots) {
      const KvPart part{h, std::min<uint64_t>(a.kv.heads, h + block.heads), s,
                        std::min<uint64_t>(a.kv.slots, s + block.slots)};
      Dispatch d;
      d.shader = shader_of(a, v);
      d.constants = {v.numbers.local,          a.kv.head_dim, chunks ? 1u : 0u,
                     kv_format(context, node), a.kv.group,    cap_constant(a.cap)};
      Push p{};
      LAPILLI_TRY(const auto q_operand, bind_whole(context, 0, node.inputs[0], graph::Access::read));
      d.operands = {q_operand, bind_kv(context, {node.inputs[1], texels ? kTexelBinding : 1}, a.kv, part, p.common)};
      LAPILLI_CHECK(bind_result(context, node, chunks, d, p));
      LAPILLI_CHECK(bind_state(context, node, a, d));
      LAPILLI_CHECK(bind_bias(context, node, {a.bias, kDistances}, d, p.common));
      d.groups = q.rows * p.common.heads * p.chunks;
      if (d.groups > max_groups(context.caps))
        return node_error(node, "%u workgroups exceed this device's grid", ull{d.groups});
      follow_live_rows(d, p.common.heads * p.chunks, 1);
      p.common.groups = static_cast<uint32_t>(d.groups);
      p.common.ld = static_cast<uint32_t>(q.ld);
      p.common.scale = a.scale;
      p.lineage_beam_slots = a.lineage_beam_slots;
      p.lineage_positions = a.lineage_positions;
      p.beams = a.beams;
      p.window = a.window;
      p.sink_column = a.sink_column;
      d.set_push(p);
      d.cost = cost_factor(v, a) * static_cast<double>(d.groups / p.chunks) * seen_positions(a) * a.kv.head_dim;
      out.push_back(std::move(d));
    }
  if (chunks) return lower_attention_chunks(context, node, v.numbers, out);
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<AttentionStepAttributes>();
  const auto& t = g.tensor(node.inputs[0]);
  const auto& words = values.at(node.inputs[3]).u;
  auto& out = values.at(node.outputs[0]).f;
  std::fill(out.begin(), out.end(), 0.0);
  const uint64_t rows = std::min<uint64_t>(t.rows, words[state::STEP_LIVE]);
  const uint64_t out_ld = g.tensor(node.outputs[0]).ld;
  const HostBias bias(node, a.kv, {a.bias, kDistances}, values);
  const HostKv kv(g, node.inputs[1], values);
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t h = 0; h < a.kv.query_heads(); ++h) {
      const uint64_t own = state::beam_slot_of(words[state::STEP_ROWS + r]);
      const uint32_t position = state::position_of(words[state::STEP_ROWS + r]);
      const uint64_t step = position;
      const double* q_row = values.at(node.inputs[0]).f.data() + r * t.ld;
      uint64_t begin = step - std::min<uint64_t>(step, seen_positions(a) - 1), end = step + 1, sentence = 0;
      if (!a.self) {
        sentence = own / a.beams;
        const auto& lengths = values.at(node.inputs[4]).u;
        begin = lengths[2 * sentence];
        end = std::min(lengths[2 * sentence + 1], a.kv.positions);
      }
      const auto slot_of = [&](uint64_t j) -> uint64_t {
        if (!a.self) return sentence;
        if (j == step) return own;
        const auto word = state::lineage_word(state::lineage_parity(position), state::LINEAGE_ANCESTRY, own, j,
                                              a.lineage_beam_slots, a.lineage_positions);
        return values.at(node.inputs[2]).u[word];
      };
      const auto all = [](uint64_t) { return true; };
      const auto added = [&](uint64_t j) { return bias(j, step, h, q_row); };
      double* const weights = nullptr;
      const double log_sum =
          attend(a.kv, kv,
                 HostQuery{q_row + h * a.kv.head_dim, h, begin, end, static_cast<double>(a.scale), slot_of, all, added,
                           out.data() + r * out_ld + h * a.kv.head_dim, weights, static_cast<double>(a.cap)},
                 a.sink_column ? q_row + a.sink_column + h : nullptr);
      if (has_log_sums(g, node, a.kv)) out[r * out_ld + log_sums_column(a.kv) + 4 * h] = log_sum;
    }
}

std::string tuning_key(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<AttentionStepAttributes>();
  return format("%s, %u heads of %u%s, rows %u%s%s%s%s%s", a.self ? "self" : "cross", a.kv.heads, a.kv.head_dim,
                group_tuning_key(a.kv), tuning_class(g.tensor(node.inputs[0]).rows),
                a.kv.positions >= kManyPositions ? ", many positions" : "",
                a.bias.form == BiasForm::none ? "" : ", bias", a.cap != 0 ? ", capped" : "",
                a.prompt ? ", prompts" : "", kv_tuning_key(g.tensor(node.inputs[1])));
}

constexpr OpDef op{"attention_step", infer, variants, lower, reference, attention_step_cases, {tuning_key}};

}  // namespace
}  // namespace attention_step_impl

constinit const OpDef attention_step_op = attention_step_impl::op;

graph::TensorId ops::attention_step(graph::Graph& g, const std::string& label, const AttentionStepOperands& operands,
                                    const AttentionStepAttributes& attributes) {
  const auto& [q, kv, state, log_sums] = operands;
  const uint64_t columns = uint64_t{attributes.kv.query_heads()} * attributes.kv.head_dim;
  const auto context = g.rows_like(label, q, log_sums ? columns_with_log_sums(attributes.kv) : columns);
  const auto running = running_sums(g, label, attributes.kv, g.tensor(q).rows);
  g.add_node({&attention_step_op,
              label,
              {q, kv, state.lineage, state.step, state.lengths, state.distances, state.bias},
              {context, running},
              graph::Attributes(attributes)});
  return context;
}

}  // namespace lapilli
