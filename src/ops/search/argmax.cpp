// "argmax": see search.hpp.
#include <algorithm>
#include <cmath>

#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/search/select_util.hpp"

namespace lapilli {
namespace argmax_impl {
namespace {

Status infer(const graph::Graph& g, const graph::Node& node) {
  if (node.attributes.as<SelectAttributes>().draw_beams > 1) return node_error(node, "one id is drawn for one beam");
  return search::expect_selection(g, node, "partials", 4);
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, kHalving));
  const auto a = node.attributes.as<SelectAttributes>();
  LAPILLI_TRY(const auto ranges, search::selection_rows(context, node));
  for (const auto& r : ranges) {
    Dispatch d;
    d.shader = a.draw_beams ? ShaderId::argmax_draw : ShaderId::argmax;
    d.constants = {v.numbers.local};
    LAPILLI_TRY(const auto push, search::bind_selection(context, node, r, 4, d));
    d.set_push(push);
    d.cost =
        (a.draw_beams ? 40.0 : 6.0) * static_cast<double>((r.end - r.begin) * context.graph.tensor(node.inputs[0]).ld);
    out.push_back(std::move(d));
  }
  return {};
}

// Draws one id from a slice: key, id, score and the slice's log-sum-exp.
void draw_from(const double* row, uint64_t begin, uint64_t end, const std::function<double(uint32_t)>& number,
               uint32_t* words) {
  search::Candidate best;
  double most = static_cast<double>(state::MASKED), sum = 0;
  for (uint64_t c = begin; c < end; ++c) most = std::max(most, row[c]);
  for (uint64_t c = begin; c < end; ++c) {
    const auto id = static_cast<uint32_t>(c);
    const bool no = search::forbidden(row[c]);
    const float key = no ? state::MASKED : static_cast<float>(row[c] + number(id));
    sum += std::exp(search::unless_forbidden(row[c]) - most);
    if (best.id == search::kNoId || key > best.score) best = {key, id};
  }
  words[0] = search::as_word(best.score);
  words[1] = best.id;
  words[2] = search::as_word(static_cast<float>(search::unless_forbidden(row[best.id])));
  words[3] = search::as_word(static_cast<float>(most + std::log(sum)));
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<SelectAttributes>();
  const auto &t = g.tensor(node.inputs[0]), &u = g.tensor(node.outputs[0]);
  const auto& x = values.at(node.inputs[0]).f;
  auto& out = values.at(node.outputs[0]).u;
  const uint64_t rows = search::selected_rows(g, node, values);
  for (uint64_t r = 0; r < rows; ++r)
    for (uint64_t s = 0; s * a.slice < t.cols; ++s) {
      const double* row = x.data() + r * t.ld;
      const uint64_t begin = s * a.slice, end = std::min<uint64_t>(begin + a.slice, t.cols);
      if (a.draw_beams) {
        const search::Draws draws(values.at(node.inputs[1]), values.at(node.inputs[2]), 1);
        const auto number = [&](uint32_t id) { return draws.number(static_cast<uint32_t>(r), id); };
        draw_from(row, begin, end, number, out.data() + r * u.ld + 4 * s);
        continue;
      }
      const auto best = search::best_columns(row, begin, end, 1)[0];
      double sum = 0;
      for (uint64_t c = begin; c < end; ++c)
        sum += std::exp(search::unless_forbidden(row[c]) - static_cast<double>(best.score));
      uint32_t* words = out.data() + r * u.ld + 4 * s;
      words[0] = words[2] = search::as_word(best.score);
      words[1] = best.id;
      words[3] = search::as_word(static_cast<float>(sum));
    }
}

OpCase make_case(const std::string& name, uint64_t rows, uint64_t columns, uint32_t live = 0) {
  graph::TensorId partials = graph::kNone;
  auto c = search::select_case(
      {name, rows, columns, rows * 77 + columns, live},
      [&](graph::Graph& g, graph::TensorId x, graph::TensorId step) { partials = ops::argmax(g, name, x, step); });
  c.float_word = [partials](graph::TensorId id, uint64_t word) { return id == partials && word % 4 == 3; };
  return c;
}

OpCase make_draw(const std::string& name, uint64_t columns, uint32_t t) {
  search::StateCase s(name, {5, 30, 1, 5}, 40);
  s.step = step_values({t, t + 3, t / 2}, 3, {4, 1, 2}).u;
  for (uint32_t i = 0; i < 5; ++i) {
    s.param(i, state::P_SEED) = 0x89abcdef;
    s.param(i, state::P_SEED + 1) = (t + i) * 77;
    s.param(i, state::P_SEQUENCE) = 1000 - 3 * i;
  }
  auto& g = s.op_case.graph;
  const auto x = g.activation("scores", 5, columns);
  const auto partials = ops::draw_one(g, name, x, s.tensors);
  CaseRandom random(columns + t);
  auto values = random_values(g.tensor(x), random, 5);
  const uint64_t ld = g.tensor(x).ld;
  for (uint64_t i = 0; i < columns; ++i) {
    if (i % 7 != 3) values.f[ld + i] = static_cast<double>(state::MASKED);
    values.f[2 * ld + i] = static_cast<double>(state::MASKED);
  }
  s.op_case.inputs.emplace_back(x, std::move(values));
  s.op_case.live_rows = 3;
  auto c = s.finish();
  c.float_word = [partials](graph::TensorId id, uint64_t word) { return id == partials && word % 4 != 1; };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t columns : {1, 2, 3, 17, 509, 4096, 4097, 9001})
    all.push_back(make_draw(format("drawn from %u", columns), columns, 5));
  all.push_back(make_draw("drawn from a large vocabulary", 65001, 20));
  for (const uint64_t columns : {1, 2, 3, 17, 509, 4096, 4097, 9001})
    all.push_back(make_case(format("3x%u", columns), 3, columns));
  all.push_back(make_case("live 3 of 7", 7, 4201, 3));
  {
    auto c = make_case("ties", 4, 5003);
    auto& v = c.inputs[0].second.f;
    const uint64_t ld = c.graph.tensor(0).ld;
    for (const uint64_t i : {4999ull, 60ull, 61ull, 188ull, 2600ull}) v[i] = 20;
    for (uint64_t i = 0; i < 5003; ++i) v[ld + i] = 3.5;
    for (uint64_t i = 2; i < 5003; ++i) v[2 * ld + i] = static_cast<double>(state::MASKED);
    for (uint64_t i = 0; i < 5003; ++i) v[3 * ld + i] = i % 2 ? -2e30 : static_cast<double>(state::MASKED);
    all.push_back(std::move(c));
  }
  all.push_back(make_case("large vocabulary", 2, 65001));
  return all;
}

constexpr OpDef op{"argmax",          infer, only_variant<Tuned::argmax, "workgroup a slice">, lower, reference, cases,
                   {input_tuning_key}};

}  // namespace
}  // namespace argmax_impl

constinit const OpDef argmax_op = argmax_impl::op;

graph::TensorId ops::argmax(graph::Graph& g, const std::string& label, graph::TensorId logits, graph::TensorId step) {
  return search::add_selection(g, {&argmax_op, label, {logits, step}, {}, {}}, {1, 0, 0}, 4);
}

graph::TensorId ops::draw_one(graph::Graph& g, const std::string& label, graph::TensorId scores,
                              const SearchTensors& state) {
  return search::add_selection(g, {&argmax_op, label, {scores, state.step, state.search}, {}, {}}, {1, 0, 1}, 4);
}

}  // namespace lapilli
