// "pack_bias": see pack.hpp. A bias is packed like a matrix of depth 1, after the panels.
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/products/matmul_cases.hpp"
#include "ops/products/pack.hpp"
#include "ops/products/stored_util.hpp"

namespace lapilli {
namespace pack_bias_impl {
namespace {

WeightLayout layout_of(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<PackAttributes>();
  return {a.n_total, a.k, g.tensor(node.outputs[0])};
}

// Floats, whatever the format of the matrix.
stored::Packing packing_of(const graph::Graph& g, const graph::Node& node) {
  stored::Packing p;
  p.attributes = node.attributes.as<PackAttributes>();
  p.rows = p.attributes.rows;
  p.k = 1;
  p.panel_words = packed::kPanel;
  p.begin = layout_of(g, node).bias_begin();
  p.first_row = p.attributes.first_row;
  return p;
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  if (operand(node.outputs, 0) == graph::kNone) return node_error(node, "operand destination is missing");
  const auto p = packing_of(g, node);
  if (p.attributes.transposed) return node_error(node, "a bias cannot be transposed");
  if (p.attributes.k == 0) return node_error(node, "the matrix has no depth");
  LAPILLI_CHECK(stored::expect_packing(g, node, p));
  return expect_weight(g, node, node.outputs[0], {"destination", p.attributes.n_total, p.attributes.k});
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph&, const graph::Node&) {
  return stored::packing_variants(caps, WeightFormat::fp32);
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  return stored::lower_packing(context, node, v.numbers, packing_of(context.graph, node), out);
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  stored::packing_reference(node, packing_of(g, node), values);
}

OpCase make_case(const std::string& what, const PackAttributes& a, WeightFormat of = WeightFormat::fp32) {
  OpCase c;
  c.name = format("%s %s", what, stored::name(a.format));
  if (of != WeightFormat::fp32) c.name += std::string(" of ") + name(of);
  c.tolerance = 1e-300;  // the values must be exact
  graph::Tensor raw;
  raw.name = "stored";
  raw.dtype = graph::DType::u32;
  raw.space = graph::Space::state;
  raw.cols = raw.ld = stored::words(a.format, a.rows);
  const auto from = c.graph.add_tensor(raw);
  const auto to = add_packed(c.graph, "packed", {a.n_total, a.k, of});
  ops::pack_bias(c.graph, c.name, from, to, a);
  c.inputs.emplace_back(from, words_of(stored::random_words(a.format, a.rows, a.rows + a.first_row)));
  c.inputs.emplace_back(to, stored::before_packing(c.graph.tensor(to), a.rows));
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const auto f : {StoredFormat::f32, StoredFormat::f16, StoredFormat::bf16}) {
    for (const uint32_t n : {1, 31, 33, 257}) {
      PackAttributes a;
      a.format = f, a.rows = a.n_total = n, a.k = 5;
      all.push_back(make_case(format("%u", n), a));
    }
    PackAttributes a;
    a.format = f, a.rows = 20, a.n_total = 96, a.k = 33, a.first_row = 3, a.first_column = 36, a.group = 8,
    a.group_stride = 16;
    all.push_back(make_case("a part of the values by head", a));
    for (const auto of : kNarrowFormats) all.push_back(make_case("a part of the values by head", a, of));
    a = {};
    a.format = f, a.rows = a.n_total = 65001, a.k = 3;
    all.push_back(make_case("large vocabulary", a));
  }
  return all;
}

constexpr OpDef op{"pack_bias", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace pack_bias_impl

constinit const OpDef pack_bias_op = pack_bias_impl::op;

void ops::pack_bias(graph::Graph& g, const std::string& label, graph::TensorId raw, graph::TensorId destination,
                    const PackAttributes& attributes) {
  g.add_node({&pack_bias_op, label, {raw, destination}, {destination}, graph::Attributes(attributes)});
}

}  // namespace lapilli
