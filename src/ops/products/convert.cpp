// "convert": see pack.hpp.
#include <algorithm>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "ops/products/pack.hpp"
#include "ops/products/stored_util.hpp"

namespace lapilli {
namespace convert_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, elements, raw_begin, y_begin;)
};

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<ConvertAttributes>();
  if (a.format > StoredFormat::bf16) return node_error(node, "unknown format %u", static_cast<unsigned>(a.format));
  if (a.elements == 0) return node_error(node, "nothing to convert");
  LAPILLI_CHECK(expect_input(g, node, 0, {"stored values", 0, 0, graph::DType::u32}));
  LAPILLI_CHECK(expect_words(g, node, node.inputs[0], "stored values", stored::words(a.format, a.elements)));
  LAPILLI_CHECK(expect_input(g, node, 1, {"destination"}));
  LAPILLI_CHECK(expect_output(g, node, 0, {"destination"}));
  if (g.root(node.outputs[0]) != g.root(node.inputs[1])) return node_error(node, "works in place only");
  return expect_words(g, node, node.outputs[0], "destination", uint64_t{a.destination} + a.elements);
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}, true));
  const auto a = node.attributes.as<ConvertAttributes>();
  const auto& caps = context.caps;
  const auto [local, each] = v.numbers;
  const uint64_t block = uint64_t{local} * each;
  // The destination is wider; its start may be unaligned.
  LAPILLI_TRY(const auto blocks,
              row_slices(context, node, div_up<uint64_t>(a.elements, block), {block * 4 + caps.storage_alignment, 1}));
  for (const auto& b : blocks) {
    const uint64_t begin = b.begin * block, end = std::min<uint64_t>(a.elements, b.end * block);
    Dispatch d;
    d.shader = ShaderId::convert;
    d.constants = {local, each, static_cast<uint32_t>(a.format)};
    d.groups = b.end - b.begin;
    uint32_t raw_begin = 0, y_begin = 0;
    d.operands.push_back(stored::bind_elements(context, 0, {node.inputs[0], a.format, begin, end}, raw_begin));
    d.operands.push_back(bind_range(
        context, 1, {node.outputs[0], (a.destination + begin) * 4, (a.destination + end) * 4, graph::Access::write},
        y_begin));
    d.set_push(Push{static_cast<uint32_t>(d.groups), static_cast<uint32_t>(end - begin), raw_begin, y_begin});
    d.cost = 4.0 * static_cast<double>(end - begin);
    out.push_back(std::move(d));
  }
  return {};
}

void reference(const graph::Graph&, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<ConvertAttributes>();
  const auto& raw = values.at(node.inputs[0]).u;
  auto& y = values.at(node.outputs[0]).f;
  for (uint64_t i = 0; i < a.elements; ++i) y[a.destination + i] = stored::value(a.format, raw, i);
}

OpCase make_case(StoredFormat f, uint32_t elements, uint32_t destination, uint64_t words) {
  OpCase c;
  c.name = format("%u %s at %u", elements, stored::name(f), destination);
  c.tolerance = 1e-300;  // the values must be exact
  graph::Tensor raw;
  raw.name = "stored";
  raw.dtype = graph::DType::u32;
  raw.space = graph::Space::state;
  raw.cols = raw.ld = stored::words(f, elements);
  const auto from = c.graph.add_tensor(raw);
  const auto to = add_weight(c.graph, "table", words);
  ops::convert(c.graph, c.name, from, to, {f, elements, destination});
  c.prepare = [f, elements, from, to](OpCase& into) {
    into.inputs.emplace_back(from, words_of(stored::random_words(f, elements, elements)));
    CaseRandom random(elements);
    into.inputs.emplace_back(to, random_values(into.graph.tensor(to), random));
  };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  for (const auto f : {StoredFormat::f32, StoredFormat::f16, StoredFormat::bf16}) {
    for (const uint32_t n : {1, 2, 31, 257, 2048, 2049, 16384, 16385}) all.push_back(make_case(f, n, 0, n));
    all.push_back(make_case(f, 127, 61, 191));
    all.push_back(make_case(f, 100003, 8191, 110000));
  }
  {  // every half that is not NaN or infinite
    auto c = make_case(StoredFormat::f16, 63488, 0, 63488);
    c.name = "every half";
    c.prepare = [fill = c.prepare](OpCase& into) {
      fill(into);
      auto& raw = into.inputs[0].second.u;
      uint32_t i = 0;
      for (uint32_t h = 0; h < 0x10000; ++h) {
        if ((h & 0x7c00u) == 0x7c00u) continue;
        raw[i / 2] = i % 2 ? raw[i / 2] | h << 16 : h;
        ++i;
      }
    };
    all.push_back(std::move(c));
  }
  return all;
}

constexpr OpDef op{"convert", infer, only_variant<Tuned::convert, "element by element">, lower, reference, cases};

}  // namespace
}  // namespace convert_impl

constinit const OpDef convert_op = convert_impl::op;

void ops::convert(graph::Graph& g, const std::string& label, graph::TensorId raw, graph::TensorId destination,
                  const ConvertAttributes& attributes) {
  g.add_node({&convert_op, label, {raw, destination}, {destination}, graph::Attributes(attributes)});
}

}  // namespace lapilli
