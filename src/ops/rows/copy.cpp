// "copy": see basic.hpp. Words of any type; rows of x may be closer together or further apart than those of y.
#include <algorithm>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/basic.hpp"
#include "ops/rows/elementwise_util.hpp"

namespace lapilli {
namespace copy_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, per_line, line, first, cols, x_ld, y_ld, x_begin, y_begin;)
};

uint64_t first_column(const graph::Node& node) { return node.attributes.as<CopyAttributes>().first_column; }
uint64_t first_row(const graph::Node& node) { return node.attributes.as<CopyAttributes>().first_row; }
// Words of x before those that are copied.
uint64_t first_word(const graph::Node& node, const graph::Tensor& x) {
  return first_row(node) * x.ld + first_column(node);
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(elementwise::expect_source(g, node));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", 0, 0, x.dtype}));
  const auto& y = g.tensor(node.outputs[0]);
  if (first_row(node) + y.rows > x.rows || (x.live_rows && y.rows != x.rows))
    return node_error(node, "rows %u to %u of %u", first_row(node), first_row(node) + y.rows, x.rows);
  const uint64_t cols = y.cols;
  if (first_column(node) + cols <= x.cols) return {};
  return node_error(node, "columns %u to %u of %u", first_column(node), first_column(node) + cols, x.cols);
}

// The elements of x that elements [begin, end) of y come from.
struct Source {
  uint64_t begin, end;
};
Source source_of(const graph::Tensor& x, const graph::Tensor& y, uint64_t first, const elementwise::Slice& s) {
  const auto at = [&](uint64_t i) { return i / y.ld * x.ld + first + std::min(i % y.ld, y.cols - 1); };
  return {at(s.begin), at(s.end - 1) + 1};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {4, 1024, 4}, true));
  const auto &x = context.graph.tensor(node.inputs[0]), &y = context.graph.tensor(node.outputs[0]);
  const auto [local, each] = v.numbers;
  const uint64_t block = uint64_t{local} * each, per_row = div_up(y.ld, block);
  std::vector<elementwise::Slice> slices;
  if (x.ld <= y.ld) {
    LAPILLI_TRY(slices, elementwise::slices(context, node, y, block));
  } else {
    // The rows of x are further apart and limit how many fit a binding.
    LAPILLI_TRY(const auto rows, row_slices(context, node, y.rows, {x.ld * 4, per_row}));
    for (const auto& r : rows)
      slices.push_back(
          {r.begin * y.ld, r.end * y.ld, y.ld, per_row, per_row * (r.end - r.begin), y.live_rows && rows.size() == 1});
  }
  for (const auto& s : slices) {
    Dispatch d;
    d.shader = ShaderId::copy;
    d.constants = {local, each};
    d.groups = s.groups;
    s.follow(d);
    const Source from = source_of(x, y, first_word(node, x), s);
    uint32_t dx = 0, dy = 0;
    d.operands.push_back(
        bind_range(context, 0, {node.inputs[0], from.begin * 4, from.end * 4, graph::Access::read}, dx));
    d.operands.push_back(bind_range(context, 1, {node.outputs[0], s.begin * 4, s.end * 4, graph::Access::write}, dy));
    // The kernel counts from the column where the slice begins, which may lie in the padding.
    const uint64_t first = s.begin % y.ld, skipped = first - std::min(first, y.cols - 1);
    d.set_push(Push{static_cast<uint32_t>(s.groups), static_cast<uint32_t>(s.per_line), static_cast<uint32_t>(s.line),
                    static_cast<uint32_t>(first), static_cast<uint32_t>(y.cols), static_cast<uint32_t>(x.ld),
                    static_cast<uint32_t>(y.ld), static_cast<uint32_t>(dx + skipped), dy});
    d.cost = static_cast<double>(s.end - s.begin);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const uint64_t ld = g.tensor(node.inputs[0]).ld, first = first_word(node, g.tensor(node.inputs[0]));
  elementwise::move_words(g, node, values, [ld, first](uint64_t r, uint64_t c) { return r * ld + first + c; });
}

OpCase make_case(uint64_t rows, uint64_t cols, uint64_t ld, uint64_t live = 0) {
  OpCase c;
  c.name = format("%ux%u, rows %u apart%s", rows, cols, ld, live ? ", live" : "");
  c.tolerance = 1e-300;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, cols);
  c.graph.tensor(x).ld = ld;
  c.graph.tensor(x).live_rows = live != 0;
  ops::copy(c.graph, c.name, x);
  if (live) c.live_rows = live;
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random));
  // Words between the rows must not be copied.
  auto& f = c.inputs[0].second.f;
  for (uint64_t i = 0; i < f.size(); ++i)
    if (i % ld >= cols) f[i] = 7;
  return c;
}

OpCase make_part(uint64_t rows, uint64_t cols, uint64_t first, uint64_t part) {
  OpCase c;
  c.name = format("columns %u to %u of %ux%u", first, first + part, rows, cols);
  c.tolerance = 1e-300;
  CaseRandom random(rows * 1000 + first);
  const auto x = c.graph.activation("x", rows, cols);
  ops::copy(c.graph, c.name, x, first, part);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random));
  return c;
}

OpCase make_rows(uint64_t rows, uint64_t cols, uint64_t first, uint64_t part) {
  OpCase c;
  c.name = format("rows %u to %u of %ux%u", first, first + part, rows, cols);
  c.tolerance = 1e-300;
  CaseRandom random(rows * 1000 + first);
  const auto x = c.graph.activation("x", rows, cols);
  ops::copy_rows(c.graph, c.name, x, first, part);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case(1, 1, 1));
  all.push_back(make_case(1, 1, 4));
  all.push_back(make_case(17, 31, 31));
  all.push_back(make_case(5, 64, 64));
  all.push_back(make_case(13, 67, 68));
  all.push_back(make_case(13, 67, 131));
  all.push_back(make_case(3, 1031, 1032));
  all.push_back(make_case(211, 97, 97));
  all.push_back(make_case(211, 97, 103));
  all.push_back(make_case(2, 65001, 65001));
  all.push_back(make_case(8, 96, 96, 3));
  all.push_back(make_case(8, 1029, 1029, 5));
  all.push_back(make_case(8, 30, 64, 3));
  all.push_back(make_part(5, 72, 36, 36));
  all.push_back(make_part(211, 131, 61, 33));
  all.push_back(make_part(2, 65001, 32001, 33000));
  all.push_back(make_rows(7, 33, 2, 4));
  all.push_back(make_rows(301, 132, 100, 201));
  {
    OpCase c;
    c.name = "words";
    const auto x = c.graph.activation("x", 3, 131, graph::DType::u32);
    ops::copy(c.graph, c.name, x);
    CaseRandom random(9);
    std::vector<uint32_t> words(c.graph.tensor(x).elements());
    for (uint64_t i = 0; i < words.size(); ++i) words[i] = i % c.graph.tensor(x).ld < 131 ? random.word() : 0;
    c.inputs.emplace_back(x, words_of(std::move(words)));
    all.push_back(std::move(c));
  }
  return all;
}

constexpr OpDef op{"copy", infer, only_variant<Tuned::copy, "words">, lower, reference, cases};

}  // namespace
}  // namespace copy_impl

constinit const OpDef copy_op = copy_impl::op;

graph::TensorId ops::copy(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t first_column,
                          uint64_t cols) {
  const auto y = g.rows_like(label, x, cols, g.tensor(x).dtype);
  g.add_node({&copy_op, label, {x}, {y}, graph::Attributes(CopyAttributes{static_cast<uint32_t>(first_column)})});
  return y;
}

graph::TensorId ops::copy_rows(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t first_row,
                               uint64_t rows) {
  const auto y = g.activation(label, rows, g.tensor(x).cols, g.tensor(x).dtype);
  g.add_node({&copy_op, label, {x}, {y}, graph::Attributes(CopyAttributes{0, static_cast<uint32_t>(first_row)})});
  return y;
}

graph::TensorId ops::copy(graph::Graph& g, const std::string& label, graph::TensorId x) {
  return copy(g, label, x, 0, g.tensor(x).cols);
}

}  // namespace lapilli
