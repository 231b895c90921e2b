// "pack": see pack.hpp.
#include "ops/products/pack.hpp"

#include <algorithm>
#include <utility>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/products/matmul_cases.hpp"
#include "ops/products/stored_util.hpp"

namespace lapilli {
namespace pack_impl {
namespace {

stored::Packing packing_of(const graph::Graph& g, const graph::Node& node) {
  stored::Packing p;
  p.attributes = node.attributes.as<PackAttributes>();
  const auto& a = p.attributes;
  p.format = format_of(g.tensor(node.outputs[0]).dtype);
  p.rows = a.transposed ? a.k : a.rows;
  p.k = a.transposed ? a.rows : a.k;
  if (a.packed) {
    p.format = WeightFormat::fp32;  // words are moved unchanged, like the bits of fp32
    p.panel_words = uint64_t{a.k} * packed::kPanel;
    p.first_row = a.first_row;
    return p;
  }
  if (!a.transposed) {
    p.panel_words = WeightLayout(a.n_total, a.k, p.format).panel_words();
    p.first_row = a.first_row;
    return p;
  }
  // A part does not know the matrix's depth, but its destination does.
  const uint64_t panels = std::max<uint64_t>(1, packed::panels(a.n_total));
  p.panel_words = g.tensor(node.outputs[0]).elements() / panels / packed::kPanel * packed::kPanel;
  p.panel_words -= std::min(p.panel_words, packed::kPanel);
  p.begin = packed::granule_row(p.format, a.first_row) * packed::kPanel;
  return p;
}

Status infer_packed(const graph::Graph& g, const graph::Node& node, const stored::Packing& p) {
  if (p.attributes.format != StoredFormat::f32 || p.attributes.transposed)
    return node_error(node, "packed rows are words, and never transposed");
  return expect_words(g, node, node.outputs[0], "destination",
                      packed::panels(p.attributes.n_total) * (p.panel_words + packed::kPanel));
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  if (operand(node.outputs, 0) == graph::kNone) return node_error(node, "operand destination is missing");
  const auto p = packing_of(g, node);
  LAPILLI_CHECK(stored::expect_packing(g, node, p));
  const auto& a = p.attributes;
  if (a.packed) return infer_packed(g, node, p);
  if (!a.transposed) return expect_weight(g, node, node.outputs[0], {"destination", a.n_total, a.k});
  const uint64_t end = uint64_t{a.first_row} + a.rows;
  if (a.first_row % packed::granule(p.format) != 0)
    return node_error(node, "depth %u begins within what %s packs together", a.first_row, name(p.format));
  if (WeightLayout(a.n_total, end, p.format).panel_words() > p.panel_words)
    return node_error(node, "depth %u does not fit the destination", end);
  return {};
}

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph& g, const graph::Node& node) {
  return stored::packing_variants(caps, packing_of(g, node).format);
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  return stored::lower_packing(context, node, v.numbers, packing_of(context.graph, node), out);
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  stored::packing_reference(node, packing_of(g, node), values);
}

// `depth` is that of the whole matrix; only parts of transposed matrices have less.
OpCase make_case(const std::string& what, const PackAttributes& a, uint64_t depth,
                 WeightFormat to_format = WeightFormat::fp32) {
  OpCase c;
  c.name = format("%s %s", what, stored::name(a.format));
  if (to_format != WeightFormat::fp32) c.name += std::string(" to ") + name(to_format);
  c.tolerance = 1e-300;  // the values must be exact
  const uint64_t elements = uint64_t{a.rows} * a.k;
  graph::Tensor raw;
  raw.name = "stored";
  raw.dtype = graph::DType::u32;
  raw.space = graph::Space::state;
  raw.cols = raw.ld = stored::words(a.format, elements);
  const auto from = c.graph.add_tensor(raw);
  const auto to = add_packed(c.graph, "packed", {a.n_total, depth, to_format});
  ops::pack(c.graph, c.name, from, to, a);
  c.prepare = [a, elements, from, to](OpCase& into) {
    into.inputs.emplace_back(from, words_of(stored::random_words(a.format, elements, elements + a.first_row)));
    into.inputs.emplace_back(to, stored::before_packing(into.graph.tensor(to), elements));
  };
  return c;
}

// Rows that are already packed: arbitrary bits.
OpCase packed_case(uint32_t n, uint32_t k, WeightFormat format, const PackAttributes& place) {
  auto a = place;
  a.rows = n;
  a.k = static_cast<uint32_t>(packed::row_words(format, k));
  a.packed = 1;
  a.n_total = std::max(a.n_total, n);
  auto c = make_case(lapilli::format("packed rows %ux%u", n, k), a, k, format);
  const auto prepare = c.prepare;
  c.prepare = [prepare, elements = uint64_t{a.rows} * a.k](OpCase& into) {
    prepare(into);
    CaseRandom random(elements);
    for (uint32_t& word : into.inputs.front().second.u) word = random.word();
  };
  return c;
}

void add_packed_cases(std::vector<OpCase>& all, WeightFormat format) {
  for (const auto& [n, k] : {std::pair{1u, 1u}, {33u, 7u}, {67u, 66u}, {35u, 9001u}})
    all.push_back(packed_case(n, k, format, {}));
  PackAttributes by_head;
  by_head.n_total = 90, by_head.first_row = 15, by_head.first_column = 36, by_head.group = 6, by_head.group_stride = 12;
  all.push_back(packed_case(14, 61, format, by_head));
}

PackAttributes whole(StoredFormat format, uint32_t n, uint32_t k) {
  PackAttributes a;
  a.format = format;
  a.rows = a.n_total = n;
  a.k = k;
  return a;
}

// Rounded values, including subnormals and values beyond the range.
void add_rounded_cases(std::vector<OpCase>& all, StoredFormat from, WeightFormat to) {
  for (const auto& [n, k] : {std::pair{1u, 1u}, {33u, 7u}, {67u, 66u}})
    all.push_back(make_case(format("%ux%u", n, k), whole(from, n, k), k, to));
  auto a = whole(from, 14, 31);  // as below, with odd depth
  a.n_total = 90, a.first_row = 15, a.first_column = 36, a.group = 6, a.group_stride = 12;
  all.push_back(make_case("a part of the values by head", a, 31, to));
  a = whole(from, 9, 45);
  a.transposed = 1, a.n_total = 92, a.first_row = 32, a.first_column = 3, a.group = 5, a.group_stride = 10;
  all.push_back(make_case("a part of a transposed one by head", a, 41, to));
  a = whole(from, 131, 523);
  a.transposed = 1, a.n_total = 523;
  all.push_back(make_case("transposed 131x523", a, 131, to));
  if (from == StoredFormat::f16 || (from == StoredFormat::f32) != (to == WeightFormat::fp16))
    return;  // one combination per size is enough
  all.push_back(make_case("35x4098", whole(from, 35, 4098), 4098, to));
  all.push_back(make_case("1x40011", whole(from, 1, 40011), 40011, to));
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const auto f : {StoredFormat::f32, StoredFormat::f16, StoredFormat::bf16}) {
    for (const uint32_t n : {1, 31, 32, 33, 67})
      for (const uint32_t k : {1, 4, 7, 65, 129}) all.push_back(make_case(format("%ux%u", n, k), whole(f, n, k), k));
    all.push_back(make_case("301x513", whole(f, 301, 513), 513));
    {  // keys of 5 heads of 6, after 30 columns; then the values' last two and a half heads as a part
      auto a = whole(f, 30, 30);
      a.n_total = 90, a.first_column = 30, a.group = 6, a.group_stride = 12;
      all.push_back(make_case("keys by head", a, 30));
      a.rows = 14, a.first_row = 15, a.first_column = 36;
      all.push_back(make_case("a part of the values by head", a, 30));
    }
    {  // columns in 3 panels far apart
      auto a = whole(f, 96, 37);
      a.n_total = 700, a.first_column = 17, a.group = 32, a.group_stride = 320;
      all.push_back(make_case("panels far apart", a, 37));
    }
    {
      auto a = whole(f, 59, 11);
      a.n_total = 150, a.first_row = 70;
      all.push_back(make_case("rows 70 to 129 of 150", a, 11));
    }
    {  // stored as (in, out)
      auto a = whole(f, 37, 45);
      a.transposed = 1, a.n_total = 45;
      all.push_back(make_case("transposed 37x45", a, 37));
      a.first_row = 20, a.rows = 9, a.n_total = 92, a.first_column = 3, a.group = 5, a.group_stride = 10;
      all.push_back(make_case("a part of a transposed one by head", a, 41));
      a = whole(f, 131, 523);
      a.transposed = 1, a.n_total = 523;
      all.push_back(make_case("transposed 131x523", a, 131));
    }
    // deeper than the rows of a panel that a binding of 64 KiB holds
    all.push_back(make_case("35x2050", whole(f, 35, 2050), 2050));
    all.push_back(make_case("1x20011", whole(f, 1, 20011), 20011));
    auto large = make_case("2053x1024", whole(f, 2053, 1024), 1024);
    large.slow = true;
    all.push_back(std::move(large));
    for (const auto to : kNarrowFormats) add_rounded_cases(all, f, to);
  }
  for (const auto format : {WeightFormat::int8, WeightFormat::int4}) add_packed_cases(all, format);
  return all;
}

constexpr OpDef op{"pack", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace pack_impl

constinit const OpDef pack_op = pack_impl::op;

void ops::pack(graph::Graph& g, const std::string& label, graph::TensorId raw, graph::TensorId destination,
               const PackAttributes& attributes) {
  g.add_node({&pack_op, label, {raw, destination}, {destination}, graph::Attributes(attributes)});
}

}  // namespace lapilli
