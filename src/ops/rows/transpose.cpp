// "transpose": see basic.hpp. Words of any type.
#include <algorithm>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/rows/basic.hpp"
#include "ops/rows/elementwise_util.hpp"

namespace lapilli {
namespace transpose_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, tiles, rows, cols, y_cols, x_ld, y_ld, x_begin, y_begin;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(elementwise::expect_source(g, node));
  const auto& x = g.tensor(node.inputs[0]);
  return expect_output(g, node, 0, {"y", x.cols, x.rows, x.dtype});
}

constexpr uint64_t kTile = 32;

// A rectangular part of x.
struct Part {
  uint64_t row, row_end, col, col_end;
};

class Splitter {
 public:
  Splitter(const LowerContext& context, const graph::Node& node)
      : caps_(context.caps), x_(context.graph.tensor(node.inputs[0])), y_(context.graph.tensor(node.outputs[0])) {}

  // The end of the part's columns of y, including the padding after the last rows of x.
  [[nodiscard]] uint64_t y_end(const Part& p) const { return p.row_end == x_.rows ? y_.ld : p.row_end; }
  [[nodiscard]] uint64_t x_first(const Part& p) const { return p.row * x_.ld + p.col; }
  [[nodiscard]] uint64_t x_last(const Part& p) const { return (p.row_end - 1) * x_.ld + p.col_end - 1; }
  [[nodiscard]] uint64_t y_first(const Part& p) const { return p.col * y_.ld + p.row; }
  [[nodiscard]] uint64_t y_last(const Part& p) const { return (p.col_end - 1) * y_.ld + y_end(p) - 1; }
  [[nodiscard]] uint64_t tiles(const Part& p) const { return div_up(p.col_end - p.col, kTile); }
  [[nodiscard]] uint64_t groups(const Part& p) const { return tiles(p) * div_up(y_end(p) - p.row, kTile); }

  // Cuts rows where x does not fit, columns where y does not. False if not even one element fits.
  bool split(const Part& p, std::vector<Part>& out) const {
    const bool x = fits(x_first(p), x_last(p)), y = fits(y_first(p), y_last(p));
    if (x && y && groups(p) <= max_groups(caps_)) {
      out.push_back(p);
      return true;
    }
    const uint64_t rows = p.row_end - p.row, cols = p.col_end - p.col;
    if (rows == 1 && cols == 1) return false;
    const bool by_rows = cols == 1 || (rows > 1 && (x == y ? rows >= cols : !x));
    Part a = p, b = p;
    if (by_rows)
      a.row_end = b.row = p.row + half(rows);
    else
      a.col_end = b.col = p.col + half(cols);
    return split(a, out) && split(b, out);
  }

 private:
  [[nodiscard]] bool fits(uint64_t first, uint64_t last) const {
    return (last + 1) * 4 - round_down(first * 4, caps_.storage_alignment) <= caps_.max_storage_range;
  }
  // Half of n, in whole tiles if there is more than one.
  static uint64_t half(uint64_t n) { return n > kTile ? round_up(n / 2, kTile) : n / 2; }

  const Capabilities& caps_;
  const graph::Tensor &x_, &y_;
};

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {32, 1024, 32}));
  const auto &x = context.graph.tensor(node.inputs[0]), &y = context.graph.tensor(node.outputs[0]);
  const Splitter splitter(context, node);
  std::vector<Part> parts;
  if (!splitter.split({0, x.rows, 0, x.cols}, parts))
    return node_error(node, "bindings of %u bytes are too small", context.caps.max_storage_range);
  for (const Part& p : parts) {
    Dispatch d;
    d.shader = ShaderId::transpose;
    d.constants = {v.numbers.local};
    d.groups = splitter.groups(p);
    uint32_t dx = 0, dy = 0;
    d.operands.push_back(bind_range(
        context, 0, {node.inputs[0], splitter.x_first(p) * 4, (splitter.x_last(p) + 1) * 4, graph::Access::read}, dx));
    d.operands.push_back(
        bind_range(context, 1,
                   {node.outputs[0], splitter.y_first(p) * 4, (splitter.y_last(p) + 1) * 4, graph::Access::write}, dy));
    d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(splitter.tiles(p)),
                    static_cast<uint32_t>(p.row_end - p.row), static_cast<uint32_t>(p.col_end - p.col),
                    static_cast<uint32_t>(splitter.y_end(p) - p.row), static_cast<uint32_t>(x.ld),
                    static_cast<uint32_t>(y.ld), dx, dy});
    d.cost = 2.0 * static_cast<double>((p.row_end - p.row) * (p.col_end - p.col));
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const uint64_t ld = g.tensor(node.inputs[0]).ld;
  elementwise::move_words(g, node, values, [ld](uint64_t r, uint64_t c) { return c * ld + r; });
}

OpCase make_case(uint64_t rows, uint64_t cols) {
  OpCase c;
  c.name = format("%ux%u", rows, cols);
  c.tolerance = 1e-300;
  CaseRandom random(rows * 1000 + cols);
  const auto x = c.graph.activation("x", rows, cols);
  ops::transpose(c.graph, c.name, x);
  c.inputs.emplace_back(x, random_values(c.graph.tensor(x), random));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const uint64_t rows : {1, 3, 31, 32, 33, 130})
    for (const uint64_t cols : {1, 4, 32, 67}) all.push_back(make_case(rows, cols));
  all.push_back(make_case(1, 20011));
  all.push_back(make_case(20011, 1));
  all.push_back(make_case(257, 523));
  all.push_back(make_case(3, 16411));
  return all;
}

constexpr OpDef op{"transpose", infer, only_variant<Tuned::transpose, "tiles">, lower, reference, cases};

}  // namespace
}  // namespace transpose_impl

constinit const OpDef transpose_op = transpose_impl::op;

graph::TensorId ops::transpose(graph::Graph& g, const std::string& label, graph::TensorId x) {
  const auto t = g.tensor(x);
  const auto y = g.activation(label, t.cols, t.rows, t.dtype);
  g.add_node({&transpose_op, label, {x}, {y}, {}});
  return y;
}

}  // namespace lapilli
