// "unfold": see basic.hpp.
#include <algorithm>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli {
namespace unfold_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, columns, x_ld, x_begin, y_ld, y_begin, first_row, x_first, x_end, kernel, stride,
               before, position_offset, table_ld, table_rows;
               float scale;)
};

constexpr uint64_t kLevelBytes = uint64_t{state::SPAN_WORDS} * 4;

// inputs: x, spans, table of positions
enum Input : size_t { kX, kSpans, kPositions };

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<UnfoldAttributes>();
  if (a.kernel == 0 || a.stride == 0) return node_error(node, "windows of %u rows, %u apart", a.kernel, a.stride);
  LAPILLI_CHECK(expect_input(g, node, kX, {"x", 0, 0}));
  const uint64_t columns = g.tensor(node.inputs[kX]).cols * a.kernel;
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", 0, columns}));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kSpans), "spans",
                             (uint64_t{std::max(a.from, a.to)} + 1) * state::SPAN_WORDS));
  const auto positions = operand(node.inputs, kPositions);
  if (positions != graph::kNone) LAPILLI_CHECK(expect_input(g, node, kPositions, {"positions", 0, columns}));
  return {};
}

Operand level(uint32_t binding, graph::TensorId spans, uint32_t number) {
  return {binding, spans, number * kLevelBytes, (number + 1) * kLevelBytes, graph::Access::read};
}

// The part of one dispatch: rows of y, or elements of them, that lie in these rows of x.
struct Part {
  RowSlice x, y;
};

// A declared binding must be valid; without positions x stands in and is not read.
Status bind_inputs(const LowerContext& context, const graph::Node& node, const RowSlice& rows, Dispatch& d,
                   uint32_t& begin) {
  const auto a = node.attributes.as<UnfoldAttributes>();
  const uint64_t row_bytes = context.graph.tensor(node.inputs[kX]).ld * 4;
  const auto positions = operand(node.inputs, kPositions);
  const Operand x = bind_range(
      context, 0, {node.inputs[kX], rows.begin * row_bytes, rows.end * row_bytes, graph::Access::read}, begin);
  d.operands.push_back(x);
  if (positions == graph::kNone) {
    Operand unused = x;
    unused.binding = 1;
    unused.used = false;
    d.operands.push_back(unused);
  } else {
    LAPILLI_TRY(const auto table, bind_whole(context, 1, positions, graph::Access::read));
    d.operands.push_back(table);
  }
  d.operands.push_back(level(4, node.inputs[kSpans], a.to));
  d.operands.push_back(level(5, node.inputs[kSpans], a.from));
  return {};
}

Status lower_part(const LowerContext& context, const graph::Node& node, Variant v, const Part& part,
                  std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<UnfoldAttributes>();
  const auto &x = context.graph.tensor(node.inputs[kX]), &y = context.graph.tensor(node.outputs[0]);
  const auto positions = operand(node.inputs, kPositions);
  const graph::Tensor* table = positions == graph::kNone ? nullptr : &context.graph.tensor(positions);
  const RowSlice& rows = part.y;
  Dispatch d;
  d.shader = ShaderId::unfold;
  d.constants = {v.numbers.local};
  d.groups = rows.end - rows.begin;
  if (y.live_rows && d.groups == y.rows) follow_live_rows(d, 1, 1);
  uint32_t dx = 0, dy = 0;
  LAPILLI_CHECK(bind_inputs(context, node, part.x, d, dx));
  d.operands.push_back(
      bind_range(context, 2, {node.outputs[0], rows.begin * y.ld * 4, rows.end * y.ld * 4, graph::Access::write}, dy));
  d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(y.cols), static_cast<uint32_t>(x.ld), dx,
                  static_cast<uint32_t>(y.ld), dy, static_cast<uint32_t>(rows.begin),
                  static_cast<uint32_t>(part.x.begin), static_cast<uint32_t>(part.x.end), a.kernel, a.stride, a.before,
                  a.position_offset, table ? static_cast<uint32_t>(table->ld) : 0u,
                  table ? static_cast<uint32_t>(table->rows) : 0u, a.scale});
  d.cost = 4.0 * static_cast<double>(d.groups * y.ld);
  out.push_back(std::move(d));
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}));
  const auto &x = context.graph.tensor(node.inputs[kX]), &y = context.graph.tensor(node.outputs[0]);
  LAPILLI_TRY(const auto of_x, row_slices(context, node, x.rows, {x.ld * 4, 0}));
  LAPILLI_TRY(const auto of_y, row_slices(context, node, y.rows, {y.ld * 4, 1}));
  for (const auto& from : of_x)
    for (const auto& to : of_y) LAPILLI_CHECK(lower_part(context, node, v, {from, to}, out));
  return {};
}

std::vector<Span> level_spans(const graph::Node& node, HostTensors& values, uint32_t number) {
  return spans_of(std::span(values.at(node.inputs[kSpans]).u).subspan(number * state::SPAN_WORDS, state::SPAN_WORDS));
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<UnfoldAttributes>();
  const auto &x = g.tensor(node.inputs[kX]), &y = g.tensor(node.outputs[0]);
  const auto positions = operand(node.inputs, kPositions);
  const auto& in = values.at(node.inputs[kX]).f;
  auto& out = values.at(node.outputs[0]).f;
  if (!y.live_rows) std::fill(out.begin(), out.end(), 0.0);
  const auto from = level_spans(node, values, a.from), to = level_spans(node, values, a.to);
  for (size_t s = 0; s < to.size(); ++s)
    for (uint64_t p = 0; p < to[s].ids; ++p)
      for (uint64_t i = 0; i < y.ld; ++i) {
        double v = 0;
        const uint64_t at = p * a.stride + i % a.kernel, place = p + a.position_offset;
        if (i < y.cols && at >= a.before && at - a.before < from[s].ids)
          v = a.scale * in[(from[s].row + at - a.before) * x.ld + i / a.kernel];
        if (i < y.cols && p < to[s].slot && positions != graph::kNone && place < g.tensor(positions).rows)
          v += values.at(positions).f[place * g.tensor(positions).ld + i];
        out[(to[s].row + p) * y.ld + i] = v;
      }
}

struct CaseShape {
  uint32_t cols = 0;
  UnfoldAttributes windows;
  uint32_t after = 0;  // rows of zeros after a sentence
  std::vector<uint32_t> lengths;
  uint32_t places = 0;  // rows of the table of positions
  bool live = false;
  uint32_t apart = 0;  // distance in rows between sentence starts; 0: contiguous
  uint32_t fill = 0;   // rows at the end of a sentence that do not count
};

// Spans of sentences with these lengths, and the total number of rows.
std::vector<Span> spans_apart(const std::vector<uint32_t>& lengths, uint32_t apart, uint32_t fill, uint32_t& rows) {
  std::vector<Span> spans;
  for (uint32_t i = 0; i < lengths.size(); ++i)
    spans.push_back({apart * i, 0, lengths[i], lengths[i] - std::min(lengths[i], fill)});
  if (apart == 0) spans = packed_spans(spans);
  rows = apart ? apart * static_cast<uint32_t>(lengths.size()) : span_totals(spans).rows;
  return spans;
}

OpCase make_case(const std::string& name, CaseShape s) {
  OpCase c;
  c.name = name;
  s.windows.from = 1;  // level 0 is unrelated
  s.windows.to = 2;
  std::vector<uint32_t> lengths;
  for (const uint32_t n : s.lengths)
    lengths.push_back((n + s.windows.before + s.after - s.windows.kernel) / s.windows.stride + 1);
  uint32_t in_rows = 0, rows = 0;
  const auto from = spans_apart(s.lengths, s.apart, 0, in_rows), to = spans_apart(lengths, s.apart, s.fill, rows);
  const auto x = c.graph.activation("x", in_rows + 3, s.cols);
  const auto spans = add_state(c.graph, "spans", StateKind::feature_spans, 3 * state::SPAN_WORDS, graph::DType::u32);
  const auto table =
      s.places ? c.graph.activation("positions", s.places, uint64_t{s.cols} * s.windows.kernel) : graph::kNone;
  ops::unfold(c.graph, name, {x, spans, table, rows + 2, s.live}, s.windows);
  if (s.live) c.live_rows = rows;
  c.prepare = [=](OpCase& into) {
    CaseRandom random(s.cols * 31 + rows);
    into.inputs.emplace_back(x, random_values(into.graph.tensor(x), random));
    if (table != graph::kNone) into.inputs.emplace_back(table, random_values(into.graph.tensor(table), random));
    std::vector<uint32_t> words(state::SPAN_WORDS, 1);
    for (const auto& level : {from, to}) {
      const auto of_level = span_words(level);
      words.insert(words.end(), of_level.begin(), of_level.end());
    }
    into.inputs.emplace_back(spans, words_of(words));
  };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case("kernel 3", {5, {3, 1, 1}, 1, {6}}));
  all.push_back(make_case("kernel 3, stride 2, sentences of one row and more", {8, {3, 2, 1}, 1, {7, 1, 2, 12, 3}}));
  all.push_back(make_case("kernel 5, stride 2, sentences apart", {3, {5, 2, 2}, 2, {9, 4, 1}, 0, false, 11}));
  all.push_back(make_case("kernel 127, stride 64, of samples", {1, {127, 64, 0}, 0, {127, 400, 191}}));
  all.push_back(make_case("kernel 7, stride 3, 33 columns", {33, {7, 3, 0}, 0, {7, 30, 9}}));
  UnfoldAttributes positions;
  positions.scale = 5.5f;
  positions.position_offset = 2;
  all.push_back(make_case("positions", {12, positions, 0, {5, 1, 9}, 12, true}));
  all.push_back(make_case("beyond the table of positions", {12, positions, 0, {5, 1, 9}, 7, true}));
  all.push_back(make_case("positions of rows that count", {12, positions, 0, {5, 1, 9}, 20, false, 9, 2}));
  positions.before = 1;
  all.push_back(make_case("a row in front, positions", {7, positions, 0, {4, 16, 1}, 20, true}));
  all.push_back(
      make_case("as many sentences as there can be", {4, {1, 1, 0}, 0, std::vector<uint32_t>(state::MAX_ROWS, 1)}));
  // x and y sliced on devices with small bindings.
  all.push_back(make_case("more rows than groups of small grids", {24, {3, 1, 1}, 1, {700, 300, 41}}));
  positions.before = 0;
  all.push_back(make_case("positions, 1,200 rows", {24, positions, 0, {600, 600}, 400, true}));
  return all;
}

constexpr OpDef op{"unfold", infer, only_variant<Tuned::unfold, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace unfold_impl

constinit const OpDef unfold_op = unfold_impl::op;

graph::TensorId ops::unfold(graph::Graph& g, const std::string& label, const UnfoldOperands& o,
                            const UnfoldAttributes& attributes) {
  const auto y = g.activation(label, o.rows, g.tensor(o.x).cols * attributes.kernel);
  g.tensor(y).live_rows = o.live_rows;
  g.add_node({&unfold_op, label, {o.x, o.spans, o.positions}, {y}, graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
