// "windows": see swin_windows.hpp.
#include "ops/attention/swin_windows.hpp"

#include <algorithm>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {

uint64_t SwinWindows::place_of(uint64_t n) const {
  const uint64_t window = n / area() % count(), map = n / area() / count(), in = n % area();
  const uint64_t y = (window / columns() * side + in % side + shift) % (uint64_t{rows()} * side);
  const uint64_t x = (window % columns() * side + in / side + shift) % (uint64_t{columns()} * side);
  return y < height && x < width ? (map * height + y) * width + x : kNone;
}

uint64_t SwinWindows::row_of(uint64_t n) const {
  const uint64_t high = uint64_t{rows()} * side, wide = uint64_t{columns()} * side, at = n % places();
  const uint64_t y = (at / width + high - shift) % high, x = (at % width + wide - shift) % wide;
  const uint64_t window = n / places() * count() + y / side * columns() + x / side;
  return window * area() + x % side * side + y % side;
}

uint64_t SwinWindows::distance(uint64_t key, uint64_t query) const {
  const uint64_t most = side - 1;
  return (query % side + most - key % side) * (2 * most + 1) + query / side + most - key / side;
}

bool SwinWindows::apart(uint64_t window, uint64_t key, uint64_t query) const {
  const uint64_t edge = side - shift, at = window % count();
  const bool last_row = at / columns() + 1 == rows(), last_column = at % columns() + 1 == columns();
  return (last_row && (key % side < edge) != (query % side < edge)) ||
         (last_column && (key / side < edge) != (query / side < edge));
}

namespace windows_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, x_columns, x_ld, x_begin, y_ld, y_begin, first_row, x_first, x_end, beside, back,
               height, width, side, shift;)
};

uint64_t in_rows(const SwinWindowsAttributes& a) { return a.back ? a.map.count() * a.map.area() : a.map.places(); }
uint64_t out_rows(const SwinWindowsAttributes& a) {
  if (a.back) return a.map.places();
  return a.beside ? a.map.count() : a.map.count() * a.map.area();
}
// Window rows per row of y.
uint64_t side_by_side(const SwinWindowsAttributes& a) { return a.beside ? a.map.area() : 1; }

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<SwinWindowsAttributes>();
  if (!a.map.makes_sense() || (a.back && a.beside))
    return node_error(node, "windows of %u places, %u off, in maps of %u by %u", a.map.side, a.map.shift, a.map.height,
                      a.map.width);
  LAPILLI_CHECK(expect_input(g, node, 0, {"x"}));
  const auto& x = g.tensor(node.inputs[0]);
  if (x.rows % in_rows(a) != 0)
    return node_error(node, "%u rows are not maps of %u by %u", x.rows, a.map.height, a.map.width);
  return expect_output(g, node, 0, {"y", x.rows / in_rows(a) * out_rows(a), x.cols * side_by_side(a)});
}

// Writes the elements of the rows `to` of y that lie in the rows `from` of x.
struct Part {
  RowSlice from, to;
};
Dispatch lower_part(const LowerContext& context, const graph::Node& node, Variant v, const Part& part) {
  const auto& [from, to] = part;
  const auto a = node.attributes.as<SwinWindowsAttributes>();
  const auto &x = context.graph.tensor(node.inputs[0]), &y = context.graph.tensor(node.outputs[0]);
  Dispatch d;
  d.shader = ShaderId::windows;
  d.constants = {v.numbers.local};
  d.groups = to.end - to.begin;
  uint32_t dx = 0, dy = 0;
  d.operands.push_back(
      bind_range(context, 0, {node.inputs[0], from.begin * x.ld * 4, from.end * x.ld * 4, graph::Access::read}, dx));
  d.operands.push_back(
      bind_range(context, 1, {node.outputs[0], to.begin * y.ld * 4, to.end * y.ld * 4, graph::Access::write}, dy));
  d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(x.cols), static_cast<uint32_t>(x.ld), dx,
                  static_cast<uint32_t>(y.ld), dy, static_cast<uint32_t>(to.begin), static_cast<uint32_t>(from.begin),
                  static_cast<uint32_t>(from.end), static_cast<uint32_t>(side_by_side(a)), a.back, a.map.height,
                  a.map.width, a.map.side, a.map.shift});
  d.cost = 2.0 * static_cast<double>(d.groups * y.ld);
  return d;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}));
  const auto &x = context.graph.tensor(node.inputs[0]), &y = context.graph.tensor(node.outputs[0]);
  LAPILLI_TRY(const auto of_x, row_slices(context, node, x.rows, {x.ld * 4, 0}));
  LAPILLI_TRY(const auto of_y, row_slices(context, node, y.rows, {y.ld * 4, 1}));
  for (const auto& from : of_x)
    for (const auto& to : of_y) out.push_back(lower_part(context, node, v, {from, to}));
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<SwinWindowsAttributes>();
  const auto &x = g.tensor(node.inputs[0]), &y = g.tensor(node.outputs[0]);
  const auto& in = values.at(node.inputs[0]).f;
  auto& out = values.at(node.outputs[0]).f;
  std::fill(out.begin(), out.end(), 0.0);
  const uint64_t parts = side_by_side(a);
  for (uint64_t n = 0; n < y.rows * parts; ++n) {
    const uint64_t from = a.back ? a.map.row_of(n) : a.map.place_of(n);
    if (from == SwinWindows::kNone) continue;
    for (uint64_t c = 0; c < x.cols; ++c) out[n / parts * y.ld + n % parts * x.cols + c] = in[from * x.ld + c];
  }
}

OpCase make_case(const std::string& name, uint32_t maps, uint32_t columns, const SwinWindowsAttributes& a) {
  OpCase c;
  c.name = name;
  const auto x = c.graph.activation("x", maps * in_rows(a), columns);
  ops::windows(c.graph, name, x, a);
  c.prepare = [x](OpCase& into) {
    CaseRandom random(into.graph.tensor(x).rows);
    into.inputs.emplace_back(x, random_values(into.graph.tensor(x), random));
  };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case("one place", 1, 1, {{1, 1, 1, 0}, 0, 0}));
  all.push_back(make_case("whole windows", 1, 8, {{6, 9, 3, 0}, 0, 0}));
  all.push_back(make_case("whole windows, back", 1, 8, {{6, 9, 3, 0}, 1, 0}));
  all.push_back(make_case("odd maps, shifted", 3, 12, {{7, 5, 4, 2}, 0, 0}));
  all.push_back(make_case("odd maps, shifted, back", 3, 12, {{7, 5, 4, 2}, 1, 0}));
  all.push_back(make_case("a shift beyond the map", 2, 3, {{1, 3, 4, 3}, 0, 0}));
  all.push_back(make_case("a shift beyond the map, back", 2, 3, {{1, 3, 4, 3}, 1, 0}));
  all.push_back(make_case("neighbours side by side", 2, 12, {{6, 4, 2, 0}, 0, 1}));
  all.push_back(make_case("neighbours of odd maps, columns that are no vec4", 2, 5, {{7, 5, 2, 0}, 0, 1}));
  all.push_back(make_case("33 columns", 1, 33, {{5, 11, 3, 1}, 0, 0}));
  // Sliced on devices with small bindings or grids.
  all.push_back(make_case("2,025 places", 1, 24, {{45, 45, 7, 3}, 0, 0}));
  all.push_back(make_case("2,025 places, back", 1, 24, {{45, 45, 7, 3}, 1, 0}));
  all.push_back(make_case("2,025 places side by side", 1, 24, {{45, 45, 2, 0}, 0, 1}));
  return all;
}

constexpr OpDef op{"windows", infer, only_variant<Tuned::windows, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace windows_impl

constinit const OpDef windows_op = windows_impl::op;

graph::TensorId ops::windows(graph::Graph& g, const std::string& label, graph::TensorId x,
                             const SwinWindowsAttributes& a) {
  using namespace windows_impl;
  const auto& t = g.tensor(x);
  const auto y = g.activation(label, t.rows / in_rows(a) * out_rows(a), t.cols * side_by_side(a));
  g.add_node({&windows_op, label, {x}, {y}, graph::Attributes(a)});
  return y;
}

}  // namespace lapilli
