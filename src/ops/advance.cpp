// "advance": see search.hpp.
#include <algorithm>

#include "ops/registry.hpp"
#include "ops/search_util.hpp"

namespace lapilli {
namespace {

using P = ParamWords;

struct Push {
  uint32_t groups, slots, positions, beams, sentences;
};

enum Input : size_t { kStep, kParams, kSearch, kLog, kGrids, kInputs };

Status infer(const graph::Graph& g, const graph::Node& node) {
  if (node.inputs.size() != kInputs || node.outputs.size() != 3) return node_error(node, "operands are missing");
  ops::SearchTensors state;
  state.step = node.inputs[kStep];
  state.params = node.inputs[kParams];
  state.search = node.inputs[kSearch];
  state.log = node.inputs[kLog];
  state.grids = node.inputs[kGrids];
  return search::expect_state(g, node, state, node.attributes.as<SearchShape>());
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node&) { return {{0, "floor"}}; }

Status lower(const LowerContext& context, const graph::Node& node, Variant, std::vector<Dispatch>& out) {
  const auto s = node.attributes.as<SearchShape>();
  using graph::Access;
  LAPILLI_TRY(const auto step, bind_whole(context, 0, node.inputs[kStep], Access::read_write));
  LAPILLI_TRY(const auto search, bind_whole(context, 1, node.inputs[kSearch], Access::read));
  LAPILLI_TRY(auto log, bind_whole(context, 2, node.inputs[kLog], Access::write));
  log.step_stride = LogLayout::stride(s.slots) * 4;
  LAPILLI_TRY(const auto grids, bind_whole(context, 3, node.inputs[kGrids], Access::read_write));
  LAPILLI_TRY(const auto params, bind_whole(context, 5, node.inputs[kParams], Access::read));
  Dispatch d;
  d.shader = ShaderId::advance;
  d.operands = {step, search, log, grids, params};
  d.set_push(Push{1, s.slots, s.positions, s.beams, s.sentences});
  d.cost = s.slots + 64.0;
  out.push_back(std::move(d));
  return {};
}

void reference(const graph::Graph&, const graph::Node& node, HostTensors& values) {
  const auto shape = node.attributes.as<SearchShape>();
  const search::ParamView p(values.at(node.inputs[kParams]));
  const auto& found = values.at(node.inputs[kSearch]).u;
  auto& step = values.at(node.inputs[kStep]).u;
  if (step[StepWords::done] != 0) return;
  const uint32_t t = step[StepWords::step];
  std::vector<uint32_t> slots;
  for (uint32_t s = 0; s < std::min(p[P::sentences], shape.sentences); ++s)
    if (found[s * SearchLayout::stride(shape.beams) + SearchLayout::done] == 0)
      for (uint32_t b = 0; b < shape.beams; ++b) slots.push_back(s * shape.beams + b);
  const bool done = slots.empty() || t + 2 >= p.limit(shape);
  if (done) slots.clear();
  const auto live = static_cast<uint32_t>(slots.size());
  step[StepWords::step] = t + 1;
  step[StepWords::live] = live;
  step[StepWords::done] = done ? 1 : 0;
  std::copy(slots.begin(), slots.end(), step.begin() + StepWords::row_slot);
  if (t + 1 < shape.positions) {
    const uint32_t header[] = {live, done ? 1u : 0u, p[P::log_mark], 0};
    std::copy(std::begin(header), std::end(header),
              values.at(node.inputs[kLog]).u.begin() + static_cast<std::ptrdiff_t>(t * LogLayout::stride(shape.slots)));
  }
  auto& grids = values.at(node.inputs[kGrids]).u;
  for (uint32_t i = 0; i < kMaxGrids; ++i) search::write_grid(grids, uint64_t{i} * GridWords::stride, live);
}

OpCase make_case(const std::string& name, const SearchShape& shape, uint32_t t, uint32_t sentences,
                 const std::vector<uint32_t>& ended) {
  search::StateCase c(name, shape, 100);
  c.params[P::sentences] = sentences;
  c.params[P::log_mark] = 0xa1b2c3d4u;
  c.set_step(t, sentences * shape.beams);
  for (const uint32_t s : ended) c.search[c.search_word(s, SearchLayout::done)] = 1;
  for (uint32_t i = 0; i < kMaxGrids; ++i) {
    const uint32_t tiles[] = {1, 16, 0, 509, 70000}, rows[] = {1, 8, 4, 3}, most[] = {65535, 7, 0};
    c.grids[i * GridWords::stride + GridWords::groups_per_tile] = tiles[i % 5];
    c.grids[i * GridWords::stride + GridWords::rows_per_tile] = rows[(i / 2) % 4];
    c.grids[i * GridWords::stride + GridWords::max_x] = most[i % 3];
    c.grids[i * GridWords::stride + GridWords::arguments] = 999;
  }
  ops::advance(c.op_case.graph, c.tensors, c.shape);
  return c.finish();
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case("one greedy", {1, 16, 1, 1}, 0, 1, {}));
  all.push_back(make_case("some have ended", {28, 16, 4, 7}, 3, 7, {0, 3, 4}));
  all.push_back(make_case("fewer sentences than room", {28, 16, 4, 7}, 3, 5, {1}));
  all.push_back(make_case("all have ended", {12, 16, 4, 3}, 5, 3, {0, 1, 2}));
  all.push_back(make_case("longest", {12, 16, 4, 3}, 14, 3, {1}));
  all.push_back(make_case("before the longest", {12, 16, 4, 3}, 13, 3, {1}));
  all.push_back(make_case("most beams", {96, 8, kMaxBeams, 3}, 1, 3, {1}));
  {
    std::vector<uint32_t> ended;
    for (uint32_t s = 0; s < kMaxRows; ++s)
      if (s % 3 == 1 || s > 1000) ended.push_back(s);
    all.push_back(make_case("most rows", {kMaxRows, 8, 1, kMaxRows}, 2, kMaxRows, ended));
  }
  {
    auto c = make_case("nothing changes after the end", {12, 16, 4, 3}, 5, 3, {0});
    for (auto& [id, value] : c.inputs)
      if (c.graph.tensor(id).name == "step") value = step_values(6, 0);
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace

constinit const OpDef advance_op{"advance", infer, variants, lower, reference, cases};

void ops::advance(graph::Graph& g, const SearchTensors& state, const SearchShape& shape) {
  g.add_node({&advance_op,
              "advance",
              {state.step, state.params, state.search, state.log, state.grids},
              {state.step, state.log, state.grids},
              graph::Attributes(shape)});
}

}  // namespace lapilli
