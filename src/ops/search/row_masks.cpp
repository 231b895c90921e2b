// "row_masks": see shortlist.hpp.
#include <algorithm>

#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/search/search_util.hpp"
#include "ops/search/shortlist.hpp"

namespace lapilli {
namespace row_masks_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, first_row, beams, words, ld, masks_begin;)
};

enum Input : size_t { kLists, kSearch, kStep };

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_output(g, node, 0, {"masks", 0, 0, graph::DType::u32}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kStep), "step", state::STEP_QUEUE));
  const uint32_t beams = node.attributes.as<RowMasksAttributes>().beams;
  if (beams == 0) return node_error(node, "no beams");
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kLists), "lists", 1));
  return expect_words(g, node, operand(node.inputs, kSearch), "search", state::search_stride(beams));
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}));
  const auto& t = context.graph.tensor(node.outputs[0]);
  LAPILLI_TRY(const auto slices, row_slices(context, node, t.rows, {t.ld * 4, 1}));
  for (const RowSlice& s : slices) {
    Dispatch d;
    d.shader = ShaderId::row_masks;
    d.constants = {v.numbers.local};
    d.groups = s.end - s.begin;
    if (slices.size() == 1) follow_live_rows(d, 1, 1);
    uint32_t to = 0;
    LAPILLI_TRY(const auto lists, bind_whole(context, 0, node.inputs[kLists], graph::Access::read));
    LAPILLI_TRY(const auto search, bind_whole(context, 2, node.inputs[kSearch], graph::Access::read));
    LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[kStep], graph::Access::read));
    d.operands = {
        lists,
        bind_range(context, 1, {node.outputs[0], s.begin * t.ld * 4, s.end * t.ld * 4, graph::Access::write}, to),
        search, step};
    d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(s.begin),
                    node.attributes.as<RowMasksAttributes>().beams, static_cast<uint32_t>(t.cols),
                    static_cast<uint32_t>(t.ld), to});
    d.cost = static_cast<double>(d.groups * t.ld);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto& t = g.tensor(node.outputs[0]);
  const search::StepView step(values.at(node.inputs[kStep]));
  const auto& lists = values.at(node.inputs[kLists]).u;
  auto& masks = values.at(node.outputs[0]).u;
  for (uint64_t r = 0; r < step.live(); ++r) {
    const search::ParamView p(values.at(node.inputs[kSearch]), step.beam_slot(r),
                              node.attributes.as<RowMasksAttributes>().beams);
    const uint32_t from = p[state::P_SHORTLIST];
    for (uint64_t i = 0; i < t.ld; ++i)
      masks[r * t.ld + i] = i >= t.cols ? 0 : from == 0 ? 0xffffffffu : lists[from - 1 + i];
  }
}

OpCase make_case(uint32_t slots, uint32_t beams, uint32_t live, uint64_t ids) {
  OpCase c;
  c.name = format("%u slots of %u beams, %u rows, %u ids", slots, beams, live, ids);
  const uint64_t words = div_up<uint64_t>(ids, 32);
  const uint32_t stride = state::search_stride(beams), rows = slots * beams;
  ops::SearchTensors s;
  s.lists = add_state(c.graph, "lists", StateKind::lists, 7 + slots * words, graph::DType::u32);
  s.search = add_state(c.graph, "search", StateKind::search, uint64_t{slots} * stride, graph::DType::u32);
  s.step = add_step(c.graph);
  ops::row_masks(c.graph, c.name, s, rows, ids, beams);
  c.live_rows = live;
  CaseRandom random(ids * 3 + rows);
  std::vector<uint32_t> lists(7 + slots * words), search(uint64_t{slots} * stride, 0);
  for (uint32_t& word : lists) word = random.word();
  for (uint32_t slot = 0; slot < slots; ++slot)  // the second sentence has no list
    search[uint64_t{slot} * stride + state::P_SHORTLIST] =
        slot == 1 ? 0 : static_cast<uint32_t>(8 + (slots - 1 - slot) * words);
  c.inputs.emplace_back(s.lists, words_of(std::move(lists)));
  c.inputs.emplace_back(s.search, words_of(std::move(search)));
  c.inputs.emplace_back(s.step, step_values(mixed_positions(9, rows), live));
  return c;
}

std::vector<OpCase> cases() {
  return {make_case(1, 1, 1, 1),  make_case(3, 2, 6, 33),   make_case(4, 1, 2, 257),
          make_case(2, 4, 0, 64), make_case(3, 1, 3, 4001), make_case(40, 1, 40, 32001)};
}

constexpr OpDef op{"row_masks", infer, only_variant<Tuned::unfold, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace row_masks_impl

constinit const OpDef row_masks_op = row_masks_impl::op;

graph::TensorId ops::row_masks(graph::Graph& g, const std::string& label, const SearchTensors& state, uint64_t rows,
                               uint64_t ids, uint32_t beams) {
  const auto masks = g.activation(label, rows, div_up<uint64_t>(ids, 32), graph::DType::u32);
  g.tensor(masks).live_rows = true;
  g.add_node({&row_masks_op,
              label,
              {state.lists, state.search, state.step},
              {masks},
              graph::Attributes(RowMasksAttributes{beams})});
  return masks;
}

}  // namespace lapilli
