#include "ops/search/select_util.hpp"

#include <algorithm>

namespace lapilli::search {
namespace {

enum SelectInput : size_t { kSelectScores, kSelectStep, kSelectSearch };

uint64_t slices_of(const graph::Tensor& scores, const SelectAttributes& a) {
  return div_up<uint64_t>(scores.cols, a.slice);
}

Status bind_state(const LowerContext& context, const graph::Node& node, const SelectAttributes& a, Dispatch& d) {
  LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[kSelectStep], graph::Access::read));
  d.operands.push_back(step);
  if (a.draw_beams == 0) return {};
  LAPILLI_TRY(const auto search, bind_whole(context, 2, node.inputs[kSelectSearch], graph::Access::read));
  d.operands.push_back(search);
  return {};
}

}  // namespace

Status expect_selection(const graph::Graph& g, const graph::Node& node, const char* output, uint64_t words) {
  const auto a = node.attributes.as<SelectAttributes>();
  LAPILLI_CHECK(expect_input(g, node, kSelectScores, {"logits"}));
  const auto& x = g.tensor(node.inputs[kSelectScores]);
  if (x.ld % 4 != 0) return node_error(node, "rows are not whole vectors");
  if (a.slice == 0 || a.slice % 4 != 0) return node_error(node, "slices of %u columns", a.slice);
  LAPILLI_CHECK(expect_output(g, node, 0, {output, x.rows, words * slices_of(x, a), graph::DType::u32}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kSelectStep), "step", state::STEP_QUEUE));
  if (a.draw_beams == 0) return {};
  if (x.rows % a.draw_beams != 0) return node_error(node, "ids are drawn for the rows of all beams");
  return expect_words(g, node, operand(node.inputs, kSelectSearch), "search",
                      state::search_record(x.rows / a.draw_beams, a.draw_beams));
}

Result<std::vector<RowSlice>> selection_rows(const LowerContext& context, const graph::Node& node) {
  const auto &t = context.graph.tensor(node.inputs[kSelectScores]), &u = context.graph.tensor(node.outputs[0]);
  const uint64_t slices = slices_of(t, node.attributes.as<SelectAttributes>());
  return row_slices(context, node, t.rows, {std::max(t.ld, u.ld) * 4, slices});
}

Result<SelectPush> bind_selection(const LowerContext& context, const graph::Node& node, const RowSlice& rows,
                                  uint32_t element_words, Dispatch& d) {
  const auto a = node.attributes.as<SelectAttributes>();
  const auto &t = context.graph.tensor(node.inputs[kSelectScores]), &u = context.graph.tensor(node.outputs[0]);
  const auto slices = static_cast<uint32_t>(slices_of(t, a));
  d.groups = (rows.end - rows.begin) * slices;
  if (rows.end - rows.begin == t.rows) follow_live_rows(d, slices, 1);
  uint32_t dx = 0, du = 0;
  d.operands = {
      bind_range(context, 0,
                 {node.inputs[kSelectScores], rows.begin * t.ld * 4, rows.end * t.ld * 4, graph::Access::read}, dx),
      bind_range(context, 1, {node.outputs[0], rows.begin * u.ld * 4, rows.end * u.ld * 4, graph::Access::write}, du)};
  LAPILLI_CHECK(bind_state(context, node, a, d));
  return SelectPush{static_cast<uint32_t>(d.groups),
                    static_cast<uint32_t>(t.cols),
                    static_cast<uint32_t>(t.ld / 4),
                    a.slice / 4,
                    slices,
                    dx / 4,
                    du / element_words,
                    static_cast<uint32_t>(u.ld / element_words),
                    static_cast<uint32_t>(rows.begin)};
}

uint64_t selected_rows(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const uint64_t rows = g.tensor(node.inputs[kSelectScores]).rows;
  return std::min<uint64_t>(rows, StepView(values.at(node.inputs[kSelectStep])).live());
}

graph::TensorId add_selection(graph::Graph& g, graph::Node node, SelectAttributes attributes, uint64_t words_a_slice) {
  const auto scores = node.inputs[kSelectScores];
  attributes.slice = slice_columns(g.tensor(scores).cols);
  const uint64_t words = words_a_slice * slices_of(g.tensor(scores), attributes);
  const auto y = g.rows_like(node.label, scores, words, graph::DType::u32);
  node.outputs = {y};
  node.attributes = graph::Attributes(attributes);
  g.add_node(std::move(node));
  return y;
}

OpCase select_case(const SelectCase& of,
                   const std::function<void(graph::Graph&, graph::TensorId, graph::TensorId)>& add) {
  OpCase c;
  c.name = of.name;
  CaseRandom random(of.seed);
  const auto x = c.graph.activation("logits", of.rows, of.columns);
  const auto step = add_step(c.graph);
  add(c.graph, x, step);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random, 9));
  c.inputs.emplace_back(step, step_values({3}, of.live ? of.live : static_cast<uint32_t>(of.rows)));
  if (of.live) c.live_rows = of.live;
  return c;
}

}  // namespace lapilli::search
