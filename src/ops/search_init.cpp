// "search_init": see search.hpp. Two dispatches, since the lineage and the lists would be a fifth and sixth buffer.
#include <algorithm>

#include "ops/registry.hpp"
#include "ops/search_util.hpp"

namespace lapilli {
namespace {

using P = ParamWords;

struct Push {
  uint32_t groups, slots, positions, beams, sentences;
};

// inputs: params, lists, then what is updated; outputs: step, search, lineage, grids.
enum Input : size_t { kParams, kLists, kInputs = 5 };
enum Output : size_t { kStep, kSearch, kLineage, kGrids, kOutputs };

Status infer(const graph::Graph& g, const graph::Node& node) {
  if (node.inputs.size() != kInputs || node.outputs.size() != kOutputs) return node_error(node, "operands are missing");
  ops::SearchTensors state;
  state.params = node.inputs[kParams];
  state.lists = node.inputs[kLists];
  state.step = node.outputs[kStep];
  state.search = node.outputs[kSearch];
  state.lineage = node.outputs[kLineage];
  state.grids = node.outputs[kGrids];
  return search::expect_state(g, node, state, node.attributes.as<SearchShape>());
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node&) { return {{0, "floor"}}; }

Status lower(const LowerContext& context, const graph::Node& node, Variant, std::vector<Dispatch>& out) {
  const auto s = node.attributes.as<SearchShape>();
  using graph::Access;
  LAPILLI_TRY(const auto step, bind_whole(context, 0, node.outputs[kStep], Access::write));
  LAPILLI_TRY(const auto search, bind_whole(context, 1, node.outputs[kSearch], Access::write));
  LAPILLI_TRY(const auto grids, bind_whole(context, 2, node.outputs[kGrids], Access::read_write));
  LAPILLI_TRY(const auto lineage, bind_whole(context, 0, node.outputs[kLineage], Access::write));
  LAPILLI_TRY(const auto lists, bind_whole(context, 1, node.inputs[kLists], Access::read));
  LAPILLI_TRY(const auto params, bind_whole(context, 5, node.inputs[kParams], Access::read));
  Dispatch state;
  state.shader = ShaderId::search_init_state;
  state.operands = {step, search, grids, params};
  state.set_push(Push{1, s.slots, s.positions, s.beams, s.sentences});
  state.cost = kMaxRows + static_cast<double>(s.sentences) * SearchLayout::stride(s.beams);
  out.push_back(std::move(state));
  Dispatch first;
  first.shader = ShaderId::search_init_lineage;
  first.operands = {lineage, lists, params};
  first.groups = s.slots;
  first.set_push(Push{s.slots, s.slots, s.positions, s.beams, s.sentences});
  first.cost = 64.0 * s.slots;
  out.push_back(std::move(first));
  return {};
}

void reference(const graph::Graph&, const graph::Node& node, HostTensors& values) {
  const auto shape = node.attributes.as<SearchShape>();
  const search::ParamView p(values.at(node.inputs[kParams]));
  const auto& lists = values.at(node.inputs[kLists]).u;
  const uint32_t sentences = std::min(p[P::sentences], shape.sentences), live = sentences * shape.beams;
  values.at(node.outputs[kStep]) = step_values(0, live);
  auto& found = values.at(node.outputs[kSearch]).u;
  const uint32_t stride = SearchLayout::stride(shape.beams);
  for (uint32_t s = 0; s < sentences; ++s) {
    std::fill_n(found.begin() + s * stride, stride, 0u);
    for (uint32_t b = 0; b < shape.beams; ++b) {
      // Only the first beam counts at first, so that the beams do not all find the same.
      found[s * stride + SearchLayout::header + b] = search::as_word(b == 0 ? 0.0f : search::kNoScore);
      found[s * stride + SearchLayout::finished_list(shape.beams) + 4 * b] = search::as_word(search::kNoScore);
    }
  }
  auto& lineage = values.at(node.outputs[kLineage]).u;
  for (uint32_t slot = 0; slot < live; ++slot)
    for (uint32_t i = 0; i < std::min(p[P::prefix], shape.positions); ++i)
      for (const uint32_t parity : {0u, 1u}) {
        lineage[lineage_word(parity, 0, slot, i, shape.slots, shape.positions)] = slot;
        lineage[lineage_word(parity, 1, slot, i, shape.slots, shape.positions)] =
            lists[p[P::prefix_offset] + slot / shape.beams * p[P::prefix] + i];
      }
  auto& grids = values.at(node.outputs[kGrids]).u;
  for (uint32_t i = 0; i < kMaxGrids; ++i) search::write_grid(grids, uint64_t{i} * GridWords::stride, live);
}

OpCase make_case(const std::string& name, const SearchShape& shape, uint32_t sentences, uint32_t prefix) {
  search::StateCase c(name, shape, 100, 2000);
  c.params[P::sentences] = sentences;
  c.params[P::prefix] = prefix;
  c.params[P::prefix_offset] = 3;
  for (uint32_t i = 0; i < c.lists.size(); ++i) c.lists[i] = 1000 + i;
  std::fill(c.search.begin(), c.search.end(), 77u);
  for (uint32_t i = 0; i < 20; ++i) {
    const uint32_t tiles[] = {1, 16, 0, 509, 70000}, rows[] = {1, 8, 4, 3, 0}, most[] = {65535, 7, 0, 64};
    c.grids[i * GridWords::stride + GridWords::groups_per_tile] = tiles[i % 5];
    c.grids[i * GridWords::stride + GridWords::rows_per_tile] = rows[(i / 2) % 5];
    c.grids[i * GridWords::stride + GridWords::max_x] = most[i % 4];
  }
  ops::search_init(c.op_case.graph, c.tensors, c.shape);
  return c.finish();
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case("one greedy", {1, 16, 1, 1}, 1, 1));
  all.push_back(make_case("five of seven sentences", {28, 33, 4, 7}, 5, 3));
  all.push_back(make_case("given ids fill the capacity", {10, 9, 5, 2}, 2, 9));
  all.push_back(make_case("none", {4, 9, 2, 2}, 0, 1));
  all.push_back(make_case("most rows", {kMaxRows, 8, 1, kMaxRows}, 1024, 1));
  all.push_back(make_case("most beams", {96, 8, kMaxBeams, 3}, 3, 2));
  return all;
}

}  // namespace

constinit const OpDef search_init_op{"search_init", infer, variants, lower, reference, cases};

void ops::search_init(graph::Graph& g, const SearchTensors& state, const SearchShape& shape) {
  g.add_node({&search_init_op,
              "search_init",
              {state.params, state.lists, state.search, state.lineage, state.grids},
              {state.step, state.search, state.lineage, state.grids},
              graph::Attributes(shape)});
}

}  // namespace lapilli
