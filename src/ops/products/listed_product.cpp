// "listed_product": see listed_product.hpp.
#include "ops/products/listed_product.hpp"

#include <algorithm>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/products/matmul_cases.hpp"
#include "vulkan/caps/bindings.hpp"

namespace lapilli {
namespace listed_product_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, blocks, first_panel, end_panel, k4, x_begin, x_ld4, w_begin, panel4, masks_begin,
               masks_ld, y_begin, y_ld4, columns;)
};

enum Input : size_t { kX, kWeight, kMasks };

enum : uint32_t { kTexels, kGroups };

// Vec4s that an invocation fills, and panels of a workgroup; the shader has both as well.
constexpr uint64_t kFilled = 8, kPanels = 64;

WeightLayout layout_of(const graph::Graph& g, const graph::Node& node) {
  return {g.tensor(node.outputs[0]).cols, g.tensor(node.inputs[kX]).cols, g.tensor(node.inputs[kWeight])};
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  LAPILLI_CHECK(expect_input(g, node, kX, {"x"}));
  const auto& x = g.tensor(node.inputs[kX]);
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", x.rows}));
  const auto& y = g.tensor(node.outputs[0]);
  LAPILLI_CHECK(expect_weight(g, node, node.inputs[kWeight], {"weight", y.cols, x.cols}));
  LAPILLI_CHECK(expect_input(g, node, kMasks, {"masks", x.rows, packed::panels(y.cols), graph::DType::u32}));
  return x.ld % 4 == 0 && y.ld % 4 == 0 ? Status() : node_error(node, "rows are not whole vectors");
}

// Rows of a dispatch; all of them may follow the live ones.
struct Rows {
  RowSlice slice;
  bool all = false;
};

void set_grid(const LowerContext& context, const graph::Node& node, const Rows& rows, uint64_t blocks, Dispatch& d) {
  d.groups = (rows.slice.end - rows.slice.begin) * blocks;
  if (rows.all && context.graph.tensor(node.inputs[kX]).live_rows)
    follow_live_rows(d, static_cast<uint32_t>(blocks), 1);
}

// Binds the rows of a tensor.
uint32_t bind_rows(const LowerContext& context, graph::TensorId id, const Rows& rows, uint32_t binding,
                   graph::Access access, Dispatch& d) {
  const uint64_t bytes = context.graph.tensor(id).ld * 4;
  uint32_t delta = 0;
  d.operands.push_back(
      bind_range(context, binding, {id, rows.slice.begin * bytes, rows.slice.end * bytes, access}, delta));
  return delta;
}

Push push_of(const LowerContext& context, const graph::Node& node) {
  const auto &x = context.graph.tensor(node.inputs[kX]), &y = context.graph.tensor(node.outputs[0]);
  Push p{};
  p.k4 = p.x_ld4 = static_cast<uint32_t>(x.ld / 4);
  p.panel4 = static_cast<uint32_t>(layout_of(context.graph, node).panel_words() / 4);
  p.masks_ld = static_cast<uint32_t>(context.graph.tensor(node.inputs[kMasks]).ld);
  p.y_ld4 = static_cast<uint32_t>(y.ld / 4);
  p.columns = static_cast<uint32_t>(y.cols);
  return p;
}

Dispatch fill(const LowerContext& context, const graph::Node& node, uint32_t local, const Rows& rows) {
  const WeightLayout layout = layout_of(context.graph, node);
  Push p = push_of(context, node);
  Dispatch d;
  d.shader = ShaderId::listed_fill;
  d.constants = {local, static_cast<uint32_t>(layout.format)};
  const uint64_t blocks = div_up<uint64_t>(p.y_ld4, kFilled * local);
  set_grid(context, node, rows, blocks, d);
  const uint64_t bias = layout.bias_begin() * 4;
  d.operands.push_back(
      bind_range(context, 0, {node.inputs[kWeight], bias, bias + layout.n * 4, graph::Access::read}, p.w_begin));
  p.groups = static_cast<uint32_t>(d.groups);
  p.blocks = static_cast<uint32_t>(blocks);
  p.masks_begin = bind_rows(context, node.inputs[kMasks], rows, 1, graph::Access::read, d);
  p.y_begin = bind_rows(context, node.outputs[0], rows, 2, graph::Access::write, d) / 4;
  d.set_push(p);
  d.cost = static_cast<double>(rows.slice.end - rows.slice.begin) * p.columns;
  return d;
}

Dispatch sum(const LowerContext& context, const graph::Node& node, const Variant& v, const Rows& rows,
             RowSlice panels) {
  const WeightLayout layout = layout_of(context.graph, node);
  Push p = push_of(context, node);
  Dispatch d;
  const bool texels = v.id == kTexels;
  d.shader = texels ? ShaderId::listed_product_texels : ShaderId::listed_product;
  d.constants = {v.numbers.local, static_cast<uint32_t>(layout.format)};
  const uint64_t blocks = div_up<uint64_t>(panels.end - panels.begin, kPanels), panel = layout.panel_words() * 4;
  set_grid(context, node, rows, blocks, d);
  p.groups = static_cast<uint32_t>(d.groups);
  p.blocks = static_cast<uint32_t>(blocks);
  p.first_panel = static_cast<uint32_t>(panels.begin);
  p.end_panel = static_cast<uint32_t>(panels.end);
  p.x_begin = bind_rows(context, node.inputs[kX], rows, 0, graph::Access::read, d) / 4;
  const ByteSpan words{node.inputs[kWeight], panels.begin * panel, panels.end * panel, graph::Access::read};
  d.operands.push_back(bind_range(context, texels ? kTexelBinding : 1, words, p.w_begin));
  p.w_begin /= 4;
  p.masks_begin = bind_rows(context, node.inputs[kMasks], rows, 2, graph::Access::read, d);
  p.y_begin = bind_rows(context, node.outputs[0], rows, 3, graph::Access::read_write, d) / 4;
  d.set_push(p);
  // A fortieth of the columns are listed, say.
  d.cost = 2.0 / 40 * static_cast<double>((rows.slice.end - rows.slice.begin) * p.columns) * 4 * p.k4;
  return d;
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph&, const graph::Node&) {
  std::vector<Variant> list;
  if (has_lanes(caps) && caps.texels && sharing_ways(caps).texels)
    list.push_back({kTexels, "texels, listed groups", true, {caps.subgroup_size}});
  list.push_back({kGroups, "listed groups", true, default_numbers(caps, Tuned::matmul_rows)});
  return list;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(v.id == kTexels ? check_subgroup(context, node, v.numbers)
                                : check_numbers(context, node, v.numbers, {}));
  const auto &x = context.graph.tensor(node.inputs[kX]), &y = context.graph.tensor(node.outputs[0]);
  const WeightLayout layout = layout_of(context.graph, node);
  const uint32_t local = v.numbers.local;
  const uint64_t blocks =
      std::max(div_up<uint64_t>(y.ld / 4, kFilled * local), div_up<uint64_t>(layout.panels(), kPanels));
  LAPILLI_TRY(const auto rows, row_slices(context, node, x.rows, {std::max(x.ld, y.ld) * 4, blocks}));
  LAPILLI_TRY(const auto panels, row_slices(context, node, layout.panels(), {layout.panel_words() * 4, 0}));
  for (const RowSlice& slice : rows) {
    out.push_back(fill(context, node, local, {slice, rows.size() == 1}));
    for (const RowSlice& part : panels) out.push_back(sum(context, node, v, {slice, rows.size() == 1}, part));
  }
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto &x = g.tensor(node.inputs[kX]), &y = g.tensor(node.outputs[0]), &m = g.tensor(node.inputs[kMasks]);
  const HostWeight weight(g, node.inputs[kWeight], y.cols, x.cols, values);
  const WeightLayout layout(y.cols, x.cols);
  const auto& in = values.at(node.inputs[kX]).f;
  const auto& masks = values.at(node.inputs[kMasks]).u;
  for (uint64_t r = 0; r < x.rows; ++r)
    for (uint64_t c = 0; c < y.ld; ++c) {
      double v = 0;
      const bool listed = c < y.cols && (masks[r * m.ld + c / 32] >> (c % 32) & 1) != 0;
      if (listed) {
        v = weight.values()[layout.bias_word(c)];
        for (uint64_t k = 0; k < x.cols; ++k) v += in[r * x.ld + k] * weight.values()[layout.word(c, k)];
      } else if (c < y.cols) {
        v = static_cast<double>(state::MASKED);
      }
      values.at(node.outputs[0]).f[r * y.ld + c] = v;
    }
}

// Every `each`-th column is listed on average; 0: none.
struct CaseShape {
  uint64_t rows, k, n;
  uint32_t each = 3;
  WeightFormat format = WeightFormat::fp32;
  uint64_t live = 0;
};

std::vector<uint32_t> mask_words(const graph::Tensor& t, uint64_t n, uint32_t each, CaseRandom& random) {
  std::vector<uint32_t> words(t.rows * t.ld, 0);
  for (uint64_t r = 0; r < t.rows; ++r)
    for (uint64_t c = 0; c < n; ++c)
      if (each && random.below(each) == 0) words[r * t.ld + c / 32] |= 1u << (c % 32);
  return words;
}

OpCase make_case(const CaseShape& s) {
  OpCase c;
  c.name = format("%ux%u, %u columns, one of %u, %s", s.rows, s.k, s.n, s.each, name(s.format));
  const WeightLayout layout(s.n, s.k, s.format);
  const auto x = c.graph.activation("x", s.rows, s.k);
  const auto w = add_packed(c.graph, "weight", layout);
  const auto masks = c.graph.activation("masks", s.rows, packed::panels(s.n), graph::DType::u32);
  c.graph.tensor(x).live_rows = s.live != 0;
  ops::listed_product(c.graph, c.name, {x, w, masks}, s.n);
  if (s.live) c.live_rows = s.live;
  c.prepare = [s, layout, x, w, masks](OpCase& into) {
    CaseRandom random(s.rows * 31 + s.n + s.k);
    into.inputs.emplace_back(x, random_values(into.graph.tensor(x), random));
    into.inputs.emplace_back(w, packed_values(layout, random, 1));
    into.inputs.emplace_back(masks, words_of(mask_words(into.graph.tensor(masks), s.n, s.each, random)));
  };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const WeightFormat f :
       {WeightFormat::fp32, WeightFormat::bf16, WeightFormat::fp16, WeightFormat::int8, WeightFormat::int4}) {
    all.push_back(make_case({3, 37, 70, 3, f}));
    all.push_back(make_case({2, 64, 257, 1, f}));
    all.push_back(make_case({5, 33, 1031, 40, f}));
  }
  all.push_back(make_case({1, 1, 1, 1}));
  all.push_back(make_case({4, 12, 33, 0}));
  all.push_back(make_case({8, 20, 129, 4, WeightFormat::fp32, 3}));
  all.push_back(make_case({6, 128, 9001, 50, WeightFormat::int8}));  // sliced on devices with small bindings
  return all;
}

constexpr OpDef op{"listed_product", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace listed_product_impl

constinit const OpDef listed_product_op = listed_product_impl::op;

graph::TensorId ops::listed_product(graph::Graph& g, const std::string& label, const ListedOperands& o, uint64_t n) {
  const auto y = g.rows_like(label, o.x, n);
  g.add_node({&listed_product_op, label, {o.x, o.weight, o.masks}, {y}, {}});
  return y;
}

}  // namespace lapilli
