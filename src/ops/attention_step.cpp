// "attention_step": see attention.hpp.
#include <algorithm>
#include <cmath>

#include "ops/attention.hpp"
#include "ops/attention_reference.hpp"
#include "ops/case_util.hpp"
#include "ops/lower_util.hpp"
#include "ops/registry.hpp"

namespace lapilli {
namespace {

struct Push {
  uint32_t groups, heads, first_head, all_heads, slots, positions, kv_begin, ld, lineage_slots, lineage_positions;
  float scale;
};

// inputs: q, kv, lineage, step, params, lengths
enum Input : size_t { kQ, kKv, kLineage, kStep, kParams, kLengths };

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<AttentionStepAttributes>();
  if (a.kv.head_dim == 0 || a.kv.head_dim > 256) return node_error(node, "head size %u is not between 1 and 256", a.kv.head_dim);
  const uint64_t width = uint64_t{a.kv.heads} * a.kv.head_dim;
  LAPILLI_CHECK(expect_input(g, node, kQ, {"q", 0, width}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kKv), "kv", a.kv.words()));
  if (a.self) {
    if (a.lineage_positions > a.kv.positions || a.lineage_slots != a.kv.slots)
      return node_error(node, "lineage and cache have different strides");
    LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kLineage), "lineage", lineage_words(a.lineage_slots, a.lineage_positions)));
  } else {
    LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kLengths), "lengths", 2 * uint64_t{a.kv.slots}));
  }
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kStep), "step", StepWords::words));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kParams), "params", ParamWords::words));
  return expect_output(g, node, 0, {"context", g.tensor(node.inputs[kQ]).rows, width});
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node&) {
  return {{0, "workgroup a row and head"}};
}

ShaderId shader(bool vectors, bool self) {
  if (self) return vectors ? ShaderId::attention_step_self_vec : ShaderId::attention_step_self;
  return vectors ? ShaderId::attention_step_cross_vec : ShaderId::attention_step_cross;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant, std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<AttentionStepAttributes>();
  const auto& q = context.graph.tensor(node.inputs[kQ]);
  const bool vectors = a.kv.head_dim % 4 == 0;
  // Slots are data, so a dispatch needs all slots of its heads: slices go by heads.
  const uint64_t head_bytes = uint64_t{a.kv.slots} * a.kv.positions * 2 * a.kv.head_dim * 4;
  uint32_t heads = a.kv.heads;
  while (heads > 1 && (heads * head_bytes + (heads < a.kv.heads ? context.caps.storage_alignment : 0) > context.caps.max_storage_range ||
                       q.rows * heads > max_groups(context.caps)))
    --heads;
  if (head_bytes > context.caps.max_storage_range || q.rows * heads > max_groups(context.caps))
    return node_error(node, "one head's keys and values of %u slots take %llu bytes, more than this device's binding limit of %llu; use a smaller batch",
                      a.kv.slots, static_cast<unsigned long long>(head_bytes), static_cast<unsigned long long>(context.caps.max_storage_range));
  for (uint32_t first = 0; first < a.kv.heads; first += heads) {
    const uint32_t count = std::min(heads, a.kv.heads - first);
    Dispatch d;
    d.shader = shader(vectors, a.self != 0);
    d.constants = {context.caps.type == DeviceType::cpu ? 8u : 64u, a.kv.head_dim};
    d.groups = q.rows * count;
    d.groups_per_tile = count;
    d.rows_per_tile = 1;
    uint32_t delta = 0;
    LAPILLI_TRY(const auto q_all, bind_whole(context, 0, node.inputs[kQ], graph::Access::read));
    d.operands.push_back(q_all);
    d.operands.push_back(bind_range(context, 1, node.inputs[kKv], first * head_bytes, (first + count) * head_bytes, graph::Access::read, delta));
    LAPILLI_TRY(const auto y_all, bind_whole(context, 2, node.outputs[0], graph::Access::write));
    d.operands.push_back(y_all);
    if (a.self) {
      LAPILLI_TRY(const auto lineage, bind_whole(context, 3, node.inputs[kLineage], graph::Access::read));
      d.operands.push_back(lineage);
    }
    LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[kStep], graph::Access::read));
    d.operands.push_back(step);
    if (!a.self) {
      LAPILLI_TRY(const auto params, bind_whole(context, 5, node.inputs[kParams], graph::Access::read));
      d.operands.push_back(params);
      LAPILLI_TRY(const auto lengths, bind_whole(context, 6, node.inputs[kLengths], graph::Access::read));
      d.operands.push_back(lengths);
    }
    d.set_push(Push{static_cast<uint32_t>(d.groups), count, first, a.kv.heads, a.kv.slots, a.kv.positions,
                    vectors ? delta / 4 : delta, static_cast<uint32_t>(q.ld), a.lineage_slots, a.lineage_positions, a.scale});
    d.cost = 4.0 * static_cast<double>(d.groups) * a.kv.positions * a.kv.head_dim;
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<AttentionStepAttributes>();
  const auto& q = values.at(node.inputs[kQ]).f;
  const auto& kv = values.at(node.inputs[kKv]).f;
  const auto& step = values.at(node.inputs[kStep]).u;
  auto& y = values.at(node.outputs[0]).f;
  const uint64_t ld = g.tensor(node.inputs[kQ]).ld, head_dim = a.kv.head_dim, now = step[StepWords::step];
  for (uint64_t row = 0; row < step[StepWords::live]; ++row) {
    const uint64_t slot = step[StepWords::row_slot + row];
    const uint64_t sentence = a.self ? 0 : slot / values.at(node.inputs[kParams]).u[ParamWords::beams];
    for (uint64_t h = 0; h < a.kv.heads; ++h) {
      ReferenceQuery query{q.data() + row * ld + h * head_dim, {}, head_dim, static_cast<double>(a.scale)};
      if (a.self) {
        const auto& lineage = values.at(node.inputs[kLineage]).u;
        for (uint64_t k = 0; k <= now; ++k) {
          const uint64_t owner = k == now ? slot : lineage[lineage_word(now & 1, 0, slot, k, a.lineage_slots, a.lineage_positions)];
          query.keys.push_back(kv.data() + a.kv.word(h, owner, k));
        }
      } else {
        const auto& lengths = values.at(node.inputs[kLengths]).u;
        for (uint64_t k = lengths[2 * sentence]; k < lengths[2 * sentence + 1]; ++k)
          query.keys.push_back(kv.data() + a.kv.word(h, sentence, k));
      }
      attend_reference(query, y.data() + row * ld + h * head_dim, nullptr);
    }
    for (uint64_t c = a.kv.heads * head_dim; c < ld; ++c) y[row * ld + c] = 0;
  }
}

struct CaseShape {
  uint32_t rows, heads, head_dim, slots, positions, step, live;
  std::vector<uint32_t> row_slots;
  uint32_t beams = 2;
};

OpCase make_case(const std::string& name, const CaseShape& s, bool self) {
  OpCase c;
  c.name = name + (self ? ", self" : ", cross");
  CaseRandom random(s.rows * 7919 + s.head_dim * 31 + s.step);
  AttentionStepAttributes a;
  a.self = self ? 1 : 0;
  a.kv = {s.heads, s.head_dim, self ? s.slots : s.slots / s.beams, s.positions, self ? Place::step : Place::batch, 1};
  a.lineage_slots = s.slots;
  a.lineage_positions = s.positions;
  a.scale = 1 / std::sqrt(static_cast<float>(s.head_dim));
  const auto q = c.graph.activation("q", s.rows, uint64_t{s.heads} * s.head_dim);
  const auto kv = add_state(c.graph, "kv", self ? StateKind::self_kv : StateKind::cross_kv, a.kv.words(), graph::DType::f32);
  ops::StepTensors state;
  state.step = add_step(c.graph);
  state.params = add_params(c.graph);
  if (self) state.lineage = add_state(c.graph, "lineage", StateKind::lineage, lineage_words(s.slots, s.positions), graph::DType::u32);
  else state.lengths = add_lengths(c.graph);
  ops::attention_step(c.graph, c.name, q, kv, state, a);
  c.inputs.emplace_back(q, random_values(c.graph.tensor(q), random, 2));
  c.inputs.emplace_back(kv, random_values(c.graph.tensor(kv), random, 2));
  c.inputs.emplace_back(state.step, step_values(s.step, s.live, s.row_slots));
  std::vector<uint32_t> params(ParamWords::words, 0);
  params[ParamWords::beams] = s.beams;
  c.inputs.emplace_back(state.params, words_of(params));
  if (self) {
    // Ancestors are slots of the same sentence.
    std::vector<uint32_t> lineage(lineage_words(s.slots, s.positions));
    for (uint64_t i = 0; i < lineage.size(); ++i) {
      const auto slot = static_cast<uint32_t>(i / s.positions % s.slots);
      lineage[i] = slot / s.beams * s.beams + random.below(s.beams);
    }
    c.inputs.emplace_back(state.lineage, words_of(lineage));
  } else {
    std::vector<std::pair<uint32_t, uint32_t>> ranges;
    for (uint32_t i = 0; i < s.slots / s.beams; ++i) ranges.emplace_back(i == 1 ? 1 : 0, i == 2 ? 0 : s.positions - i);
    c.inputs.emplace_back(state.lengths, length_values(ranges));
  }
  c.live_rows = s.live;
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const bool self : {true, false}) {
    all.push_back(make_case("first step", {2, 2, 8, 2, 8, 0, 2, {}}, self));
    all.push_back(make_case("8 rows", {8, 4, 16, 8, 32, 17, 8, {}}, self));
    all.push_back(make_case("head 12", {6, 3, 12, 6, 24, 22, 6, {}}, self));
    all.push_back(make_case("head 64", {4, 8, 64, 4, 128, 101, 4, {}}, self));
    all.push_back(make_case("odd head", {4, 3, 7, 4, 16, 13, 4, {}}, self));
    all.push_back(make_case("packed rows", {8, 2, 8, 8, 32, 9, 4, {2, 3, 6, 7}}, self));
    all.push_back(make_case("done", {4, 2, 8, 4, 16, 5, 0, {}}, self));
    all.push_back(make_case("slices by head", {6, 4, 16, 6, 64, 63, 6, {}, 3}, self));
  }
  return all;
}

}  // namespace

constinit const OpDef attention_step_op{"attention_step", infer, variants, lower, reference, cases};

graph::TensorId ops::attention_step(graph::Graph& g, const std::string& label, graph::TensorId q, graph::TensorId kv,
                                    const StepTensors& state, const AttentionStepAttributes& attributes) {
  const auto y = g.activation(label, g.tensor(q).rows, g.tensor(q).cols);
  g.add_node({&attention_step_op, label, {q, kv, state.lineage, state.step, state.params, state.lengths}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
