// "top_k": see search.hpp.
#include <algorithm>

#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/search/select_util.hpp"

namespace lapilli {
namespace top_k_impl {
namespace {

uint32_t words_each(const SelectAttributes& a) { return a.draw_beams ? 4 : 2; }

struct Push {
  LAPILLI_PUSH_BEHIND(search::SelectPush, select, uint32_t k, beams;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<SelectAttributes>();
  if (a.candidates == 0 || a.candidates > state::MAX_CANDIDATES)
    return node_error(node, "%u candidates; at most %u are supported", a.candidates, state::MAX_CANDIDATES);
  return search::expect_selection(g, node, "candidates", uint64_t{words_each(a)} * a.candidates);
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {8, 128, 8}));
  const auto a = node.attributes.as<SelectAttributes>();
  LAPILLI_TRY(const auto ranges, search::selection_rows(context, node));
  for (const auto& r : ranges) {
    Dispatch d;
    d.shader = a.draw_beams ? ShaderId::top_k_draw : ShaderId::top_k;
    d.constants = {v.numbers.local};
    LAPILLI_TRY(const auto push, search::bind_selection(context, node, r, words_each(a), d));
    d.set_push(Push{push, a.candidates, a.draw_beams});
    // One pass over everything, then a lane's share and a reduction per candidate.
    d.cost =
        static_cast<double>((r.end - r.begin) * context.graph.tensor(node.inputs[0]).ld) * (2 + a.candidates / 16.0);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<SelectAttributes>();
  const auto &t = g.tensor(node.inputs[0]), &u = g.tensor(node.outputs[0]);
  const auto& x = values.at(node.inputs[0]).f;
  auto& out = values.at(node.outputs[0]).u;
  const uint64_t rows = search::selected_rows(g, node, values);
  std::vector<double> keys(t.cols);
  for (uint64_t r = 0; r < rows; ++r) {
    uint64_t at = r * u.ld;
    const double* row = x.data() + r * t.ld;
    if (a.draw_beams) {
      const search::Draws draws(values.at(node.inputs[1]), values.at(node.inputs[2]), a.draw_beams);
      for (uint32_t c = 0; c < t.cols; ++c)
        keys[c] = search::forbidden(row[c]) ? row[c] : row[c] + draws.number(static_cast<uint32_t>(r), c);
    }
    for (uint64_t begin = 0; begin < t.cols; begin += a.slice) {
      const auto end = std::min<uint64_t>(begin + a.slice, t.cols);
      for (const auto& c : search::best_columns(a.draw_beams ? keys.data() : row, begin, end, a.candidates)) {
        out[at++] = search::as_word(c.score);
        out[at++] = c.id;
        if (a.draw_beams == 0) continue;
        const double score = c.id == search::kNoId ? static_cast<double>(state::MASKED) : row[c.id];
        out[at++] = search::as_word(static_cast<float>(search::unless_forbidden(score)));
        out[at++] = 0;
      }
    }
    while (at < (r + 1) * u.ld) out[at++] = 0;
  }
}

OpCase make_case(const std::string& name, uint64_t rows, uint64_t columns, uint32_t k, uint32_t live = 0) {
  return search::select_case(
      {name, rows, columns, rows * 77 + columns + k, live},
      [&](graph::Graph& g, graph::TensorId x, graph::TensorId step) { ops::top_k(g, name, x, step, k); });
}

// True for columns of invocations 0 to 7 in a workgroup of 32 or 64.
bool of_first_invocations(uint64_t column) { return column / 4 % 64 < 8; }

OpCase make_draw(const std::string& name, uint64_t columns, uint32_t k, bool by_few = false) {
  search::StateCase s(name, {9, 30, 3, 3}, 40);
  s.step = step_values({7, 7, 7, 2}, 6, {6, 7, 8, 0, 1, 2}).u;
  for (uint32_t i = 0; i < 3; ++i) {
    s.param(i, state::P_SEED) = 12345 + i;
    s.param(i, state::P_SEED + 1) = 9;
    s.param(i, state::P_SEQUENCE) = 70 + i * i;
  }
  auto& g = s.op_case.graph;
  const auto x = g.activation("scores", 9, columns);
  SelectAttributes a;
  a.candidates = k;
  a.draw_beams = 3;
  const auto candidates = ops::draw_k(g, name, x, s.tensors, a);
  CaseRandom random(columns + k);
  auto values = random_values(g.tensor(x), random, 3);
  const uint64_t ld = g.tensor(x).ld;
  for (uint64_t i = 0; i < columns; ++i) {
    if (i % 9 != 4) values.f[ld + i] = static_cast<double>(state::MASKED);
    values.f[2 * ld + i] = static_cast<double>(state::MASKED);
    if (by_few && !of_first_invocations(i)) values.f[i] = static_cast<double>(state::MASKED);
  }
  s.op_case.inputs.emplace_back(x, std::move(values));
  s.op_case.live_rows = 6;
  auto c = s.finish();
  c.float_word = [candidates](graph::TensorId id, uint64_t word) { return id == candidates && word % 4 % 2 == 0; };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t columns : {1, 2, 17, 509, 4097})
    for (const uint32_t k : {6, 9}) all.push_back(make_draw(format("%u drawn from %u", k, columns), columns, k));
  for (const uint64_t columns : {1, 2, 17, 509, 4096, 4097, 8195})
    for (const uint32_t k : {2, 7, 8}) all.push_back(make_case(format("3x%u best %u", columns, k), 3, columns, k));
  all.push_back(make_case("live 3 of 7", 7, 4201, 8, 3));
  all.push_back(make_case("best 1", 2, 1031, 1));
  all.push_back(make_case("most candidates", 2, 4500, state::MAX_CANDIDATES));
  {
    // These few search again for each candidate: the maximum of loop iterations.
    auto c = make_case("most candidates in a few invocations", 1, 4096, state::MAX_CANDIDATES);
    auto& v = c.inputs[0].second.f;
    for (uint64_t i = 0; i < 4096; ++i)
      if (of_first_invocations(i)) v[i] = 5000 - static_cast<double>(i);
    c.slow = true;
    all.push_back(std::move(c));
  }
  all.push_back(make_draw("most candidates drawn in a few invocations", 4096, state::MAX_CANDIDATES, true));
  all.back().slow = true;
  all.push_back(make_case("more candidates than columns", 2, 19, 40));
  {
    auto c = make_case("ties", 5, 5003, 13);
    auto& v = c.inputs[0].second.f;
    const uint64_t ld = c.graph.tensor(0).ld;
    CaseRandom random(9);
    for (const uint64_t i : {4999ull, 60ull, 61ull, 188ull, 2600ull}) v[i] = 20;
    for (uint64_t i = 0; i < 5003; ++i) v[ld + i] = 3.5;
    for (uint64_t i = 3; i < 5003; ++i) v[2 * ld + i] = static_cast<double>(state::MASKED);
    for (uint64_t i = 0; i < 5003; ++i) v[3 * ld + i] = i % 2 ? -2e30 : static_cast<double>(state::MASKED);
    for (uint64_t i = 0; i < 5003; ++i) v[4 * ld + i] = random.below(5);  // many equal ones
    all.push_back(std::move(c));
  }
  all.push_back(make_case("large vocabulary", 2, 65001, 10));
  return all;
}

// Loop iterations depend on the candidates.
std::string tuning_key(const graph::Graph& g, const graph::Node& node) {
  return input_tuning_key(g, node) + format(", best %u", node.attributes.as<SelectAttributes>().candidates);
}

constexpr OpDef op{"top_k", infer,       only_variant<Tuned::top_k, "workgroup a slice">, lower, reference,
                   cases,   {tuning_key}};

}  // namespace
}  // namespace top_k_impl

constinit const OpDef top_k_op = top_k_impl::op;

graph::TensorId ops::top_k(graph::Graph& g, const std::string& label, graph::TensorId logits, graph::TensorId step,
                           uint32_t candidates) {
  const SelectAttributes a{candidates, 0, 0};
  return search::add_selection(g, {&top_k_op, label, {logits, step}, {}, {}}, a,
                               uint64_t{top_k_impl::words_each(a)} * candidates);
}

graph::TensorId ops::draw_k(graph::Graph& g, const std::string& label, graph::TensorId scores,
                            const SearchTensors& state, const SelectAttributes& attributes) {
  const SelectAttributes& a = attributes;
  return search::add_selection(g, {&top_k_op, label, {scores, state.step, state.search}, {}, {}}, a,
                               uint64_t{top_k_impl::words_each(a)} * a.candidates);
}

}  // namespace lapilli
