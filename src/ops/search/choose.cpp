// "choose": see choose.hpp.
#include "ops/search/choose.hpp"

#include <algorithm>

#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/search/log_softmax.hpp"
#include "ops/search/search_util.hpp"
#include "ops/search/select_util.hpp"
#include "vulkan/caps/bindings.hpp"

namespace lapilli {
namespace choose_impl {
namespace {

struct Push {
  LAPILLI_PUSH_BEHIND(search::SelectPush, select, uint32_t k, beams, beam_slots, positions, parts_begin, parts_ld;)
};

enum Input : size_t { kLogits, kStep, kSearch, kLineage, kLists, kInputs };
enum Output : size_t { kScores, kParts, kCandidates, kOutputs };
enum : uint32_t { kTogether, kApart };

Status infer(const graph::Graph& g, const graph::Node& node) {
  if (node.inputs.size() != kInputs || node.outputs.size() != kOutputs)
    return node_error(node, "needs logits, step, search, lineage, lists; scores, parts, candidates");
  for (const graph::Node& part : chosen_apart(node)) LAPILLI_CHECK(part.op->infer(g, part));
  return {};
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph&, const graph::Node&) {
  std::vector<Variant> list;
  if (has_most_bindings(caps)) list.push_back({kTogether, "together", true, default_numbers(caps, Tuned::choose)});
  list.push_back({kApart, "apart"});
  return list;
}

Status lower_apart(const LowerContext& context, const graph::Node& node, std::vector<Dispatch>& out) {
  for (const graph::Node& part : chosen_apart(node)) {
    const Variant v = part.op->variants(context.caps, context.graph, part).back();
    LAPILLI_CHECK(lower_node(context, part, v, out));
  }
  return {};
}

// Scores are read and written, and the candidates are at a different binding than in top_k.
Status bind(const LowerContext& context, const graph::Node& node, Dispatch& d) {
  d.operands[0].access = graph::Access::read_write;
  d.operands[1].binding = 9;
  const std::pair<uint32_t, graph::TensorId> reads[] = {
      {1, node.inputs[kLineage]}, {2, node.inputs[kLists]}, {3, node.inputs[kSearch]}, {8, node.outputs[kParts]}};
  for (const auto& [binding, tensor] : reads) {
    LAPILLI_TRY(const auto operand, bind_whole(context, binding, tensor, graph::Access::read));
    d.operands.push_back(operand);
  }
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  const auto parts = chosen_apart(node);
  if (v.id == kApart) return lower_apart(context, node, out);
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {8, 128, 8, true}));
  LAPILLI_TRY(const auto ranges, search::selection_rows(context, parts[2]));
  if (ranges.size() > 1) return lower_apart(context, node, out);
  const auto a = node.attributes.as<ChooseAttributes>();
  const auto& t = context.graph.tensor(node.inputs[kLogits]);
  LAPILLI_TRY(out.emplace_back(), lower_log_softmax_parts(context, parts[0], v.numbers));
  Dispatch d;
  d.shader = ShaderId::top_k_processed;
  d.constants = {v.numbers.local};
  LAPILLI_TRY(const auto push, search::bind_selection(context, parts[2], ranges[0], 2, d));
  LAPILLI_CHECK(bind(context, node, d));
  const auto parts_ld = static_cast<uint32_t>(context.graph.tensor(node.outputs[kParts]).ld / 2);
  d.set_push(Push{push, a.select.candidates, a.shape.beams, a.shape.beam_slots, a.shape.positions, 0, parts_ld});
  // In most steps the processors touch only a few scores; all invocations read the history.
  d.cost = static_cast<double>(t.rows * t.ld) * (6 + a.select.candidates / 16.0) +
           static_cast<double>(d.groups) * 64.0 * a.shape.positions;
  out.push_back(std::move(d));
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  for (const graph::Node& part : chosen_apart(node)) part.op->reference(g, part, values);
}

// ---- cases --------------------------------------------------------------------------------------------------------

// Sentences of beams at their own positions, the last of which has ended, with every rule that slices support.
OpCase make_case(const std::string& name, uint64_t columns, uint32_t beams, uint32_t t, bool rules) {
  const uint32_t slots = 3, beam_slots = slots * beams;
  search::StateCase c(name, {beam_slots, 40, beams, slots}, 256);
  CaseRandom random(columns + t);
  std::vector<uint32_t> positions, order;
  for (uint32_t i = 0; i < 2 * beams; ++i) {
    positions.push_back(i < beams ? t : t / 2);
    order.push_back((i + beams) % (2 * beams));
  }
  positions.resize(beam_slots, t);
  c.step = step_values(positions, 2 * beams, order).u;
  const auto ids = static_cast<uint32_t>(std::min<uint64_t>(columns, 6));
  for (const uint32_t at : {t / 2, t}) c.random_lineage(at, ids, random);
  c.set_ends({2, 7});
  if (rules) {
    const auto f = [](float v) { return search::as_word(v); };
    for (uint32_t s = 0; s < slots; ++s) c.param(s, state::P_SOURCE_OFFSET) = 100 + 7 * s;
    for (uint32_t i = 0; i < 21; ++i) c.lists[100 + i] = random.below(static_cast<uint32_t>(columns));
    c.set_param(state::P_SOURCE_COUNT, 7);
    c.set_param(state::P_ENCODER_REPETITION_PENALTY, 0.625f);
    c.set_param(state::P_REPETITION_PENALTY, 1.5f);
    c.set_param(state::P_NO_REPEAT_NGRAM, 2);
    c.set_param(state::P_MIN_LENGTH, t + 2);
    c.set_param(state::P_DECAY_START, 1);
    c.set_param(state::P_DECAY_FACTOR, 1.25f);
    const auto last = static_cast<uint32_t>(columns) - 1;
    const std::vector<uint32_t> suppressed{1, last, 13}, bias{1, f(2.5f), last / 2, 1, f(-1.5f), 3};
    c.set_param(state::P_SUPPRESS_OFFSET, 1);
    c.set_param(state::P_SUPPRESS_COUNT, 3);
    c.set_param(state::P_BIAS_OFFSET, 30);
    c.set_param(state::P_BIAS_COUNT, 2);
    std::copy(suppressed.begin(), suppressed.end(), c.lists.begin() + 1);
    std::copy(bias.begin(), bias.end(), c.lists.begin() + 30);
  }
  auto& g = c.op_case.graph;
  const auto x = g.activation("logits", beam_slots, columns);
  graph::Graph apart = g;
  auto scores = ops::log_softmax(apart, name, x, c.tensors.step);
  scores = ops::processors(apart, name, scores, c.tensors, {c.shape, 0});
  const auto candidates = ops::top_k(apart, name, scores, c.tensors.step, 2 * beams);
  for (auto id = static_cast<graph::TensorId>(g.tensors().size()); id < apart.tensors().size(); ++id)
    g.add_tensor(apart.tensor(id));
  g.add_node(chosen_together(apart.node(0), apart.node(1), apart.node(2)));
  c.op_case.inputs.emplace_back(x, random_values(g.tensor(x), random, 9));
  c.op_case.live_rows = 2 * beams;
  auto made = c.finish();
  made.float_word = [candidates](graph::TensorId id, uint64_t word) { return id == candidates && word % 2 == 0; };
  return made;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t columns : {17, 53, 1031, 4097, 9001}) {
    all.push_back(make_case(format("%u columns", columns), columns, 2, 8, false));
    all.push_back(make_case(format("%u columns, rules", columns), columns, 3, 9, true));
  }
  all.push_back(make_case("first step", 4201, 4, 0, true));
  auto forced = make_case("forced end", 4201, 2, 8, true);
  for (auto& [id, value] : forced.inputs)
    if (forced.graph.tensor(id).space == graph::Space::state &&
        forced.graph.tensor(id).id == state_id(StateKind::search))
      for (uint32_t s = 0; s < 3; ++s) {
        uint32_t* options = &value.u[state::search_record(s, 2)];
        options[state::P_MAX_LENGTH] = 10;
        options[state::P_FORCED_EOS_COUNT] = 1;
        options[state::P_FORCED_EOS_IDS] = 7;
      }
  all.push_back(std::move(forced));
  all.push_back(make_case("large vocabulary", 65001, 2, 9, true));
  return all;
}

constexpr OpDef op{"choose", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace choose_impl

constinit const OpDef choose_op = choose_impl::op;

graph::Node chosen_together(const graph::Node& log_softmax, const graph::Node& processors, const graph::Node& top_k) {
  using namespace choose_impl;
  const bool chained = log_softmax.op == &log_softmax_op && processors.op == &processors_op && top_k.op == &top_k_op &&
                       processors.inputs[0] == log_softmax.outputs[0] && top_k.inputs[0] == processors.outputs[0] &&
                       operand(top_k.inputs, 1) == processors.inputs[kStep] &&
                       operand(log_softmax.inputs, 1) == processors.inputs[kStep];
  if (!chained) return {};
  const auto rules = processors.attributes.as<ProcessorsAttributes>();
  const auto select = top_k.attributes.as<SelectAttributes>();
  if (rules.whole_rows || select.draw_beams) return {};
  graph::Node node{&choose_op, "log_softmax+processors+top_k", processors.inputs, {}, {}};
  node.inputs[kLogits] = log_softmax.inputs[0];
  node.outputs = {processors.outputs[0], log_softmax.outputs[1], top_k.outputs[0]};
  node.attributes = graph::Attributes(ChooseAttributes{rules.shape, select});
  return node;
}

std::array<graph::Node, 3> chosen_apart(const graph::Node& node) {
  using namespace choose_impl;
  const auto a = node.attributes.as<ChooseAttributes>();
  const auto logits = node.inputs[kLogits], step = node.inputs[kStep], scores = node.outputs[kScores];
  graph::Node rules{
      &processors_op, node.label, node.inputs, {scores}, graph::Attributes(ProcessorsAttributes{a.shape, 0})};
  rules.inputs[kLogits] = scores;
  return {graph::Node{&log_softmax_op, node.label, {logits, step}, {scores, node.outputs[kParts]}, {}},
          std::move(rules),
          graph::Node{&top_k_op, node.label, {scores, step}, {node.outputs[kCandidates]}, graph::Attributes(a.select)}};
}

}  // namespace lapilli
