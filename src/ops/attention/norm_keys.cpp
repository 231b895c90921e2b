// "norm_keys": see norm_keys.hpp.
#include "ops/attention/norm_keys.hpp"

#include <algorithm>
#include <cmath>

#include "ops/attention/attention_util.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {
namespace norm_keys_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, rows, head_dim, rows_per_slot, slots, positions, head_begin, head_end, cell_begin,
               cell_end, kv_begin;
               float epsilon;)
};

enum Input : size_t { kKv, kWeights, kSpans };

uint64_t norm_ld(const NormKeysAttributes& a) { return round_up<uint64_t>(a.kv.head_dim, 4); }

bool in_spans(const NormKeysAttributes& a) { return a.kv.layout == RowLayout::spans; }

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<NormKeysAttributes>();
  const KvShape& kv = a.kv;
  if (kv.heads == 0 || kv.head_dim == 0 || kv.rows_per_slot == 0 || a.rows == 0 || kv.first_position != 0 ||
      kv.layout == RowLayout::step)
    return node_error(node, "%u rows of %u heads, or rows of a step", a.rows, kv.heads);
  LAPILLI_CHECK(expect_kv(g, node, operand(node.inputs, kKv), kv, in_spans(a)));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kWeights), "weights", 2 * norm_ld(a)));
  if (node.outputs.size() != 1 || g.root(node.outputs[0]) != g.root(node.inputs[kKv]))
    return node_error(node, "keys are not updated in place");
  if (in_spans(a)) return expect_words(g, node, operand(node.inputs, kSpans), "spans", state::SPAN_WORDS);
  if (kv.rows_per_slot > kv.positions || div_up(a.rows, kv.rows_per_slot) > kv.slots)
    return node_error(node, "%u rows do not fit kv", a.rows);
  return {};
}

Push push_of(const NormKeysAttributes& a) {
  Push push{};
  push.rows = a.rows;
  push.head_dim = a.kv.head_dim;
  push.rows_per_slot = a.kv.rows_per_slot;
  push.slots = a.kv.slots;
  push.positions = a.kv.positions;
  push.epsilon = a.epsilon;
  return push;
}

// Heads and cells (slot * positions + position) that a dispatch normalizes.
struct Part {
  RowSlice heads, cells;
};

void bind_keys(const LowerContext& context, const graph::Node& node, const Part& part, Dispatch& d, Push& push) {
  const KvLayout kv(node.attributes.as<NormKeysAttributes>().kv, context.graph.tensor(node.inputs[kKv]));
  const uint64_t begin = kv.word(part.heads.begin, 0, part.cells.begin),
                 end = kv.word(part.heads.end - 1, 0, part.cells.end);
  uint32_t delta = 0;
  d.operands.push_back(
      bind_range(context, 0, {node.inputs[kKv], begin * 4, end * 4, graph::Access::read_write}, delta));
  push.head_begin = static_cast<uint32_t>(part.heads.begin);
  push.head_end = static_cast<uint32_t>(part.heads.end);
  push.cell_begin = static_cast<uint32_t>(part.cells.begin);
  push.cell_end = static_cast<uint32_t>(part.cells.end);
  push.kv_begin = kv.begin_of(begin, delta);
}

// A grid for each row's bound heads.
Status set_grid(const LowerContext& context, const graph::Node& node, const Part& part, uint32_t local, Dispatch& d) {
  const auto a = node.attributes.as<NormKeysAttributes>();
  const auto heads = static_cast<uint32_t>(part.heads.end - part.heads.begin);
  d.groups = div_up<uint64_t>(uint64_t{a.rows} * heads, local);
  if (d.groups > max_groups(context.caps)) return node_error(node, "%u workgroups exceed this device's grid", d.groups);
  if (a.live_rows) follow_live_rows(d, heads, local);  // `local` rows have one group for each head
  d.cost = 4.0 * static_cast<double>(a.rows) * heads * a.kv.head_dim;
  return {};
}

Status lower_part(const LowerContext& context, const graph::Node& node, uint32_t local, const Part& part,
                  std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<NormKeysAttributes>();
  Dispatch d;
  d.shader = in_spans(a) ? ShaderId::norm_keys_spans : ShaderId::norm_keys;
  d.constants = {local};
  if (in_spans(a))
    d.constants.push_back(static_cast<uint32_t>(kv_format_of(context.graph.tensor(node.inputs[kKv]).dtype)));
  LAPILLI_CHECK(set_grid(context, node, part, local, d));
  Push push = push_of(a);
  push.groups = static_cast<uint32_t>(d.groups);
  bind_keys(context, node, part, d, push);
  LAPILLI_TRY(const auto weights, bind_whole(context, 1, node.inputs[kWeights], graph::Access::read));
  d.operands.push_back(weights);
  if (in_spans(a)) {
    LAPILLI_TRY(const auto spans, bind_whole(context, 4, node.inputs[kSpans], graph::Access::read));
    d.operands.push_back(spans);
  }
  d.set_push(push);
  out.push_back(std::move(d));
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}));
  const KvShape kv = node.attributes.as<NormKeysAttributes>().kv;
  const uint64_t cells = uint64_t{kv.slots} * kv.positions;
  LAPILLI_TRY(const KvCells most, kv_cells(context, node, {kv, context.graph.tensor(node.inputs[kKv])}));
  for (uint64_t h = 0; h < kv.heads; h += most.heads)
    for (uint64_t c = 0; c < cells; c += most.cells)
      LAPILLI_CHECK(
          lower_part(context, node, v.numbers.local,
                     {{h, std::min<uint64_t>(kv.heads, h + most.heads)}, {c, std::min(cells, c + most.cells)}}, out));
  return {};
}

// Where the keys of rows are.
struct Place {
  uint64_t slot, position;
};
std::vector<Place> places_of(const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<NormKeysAttributes>();
  std::vector<Place> all;
  if (in_spans(a)) {
    for (const Span& s : spans_of(values.at(node.inputs[kSpans]).u))
      for (uint64_t i = 0; i < s.ids; ++i) all.push_back({s.slot, i});
    return all;
  }
  for (uint64_t r = 0; r < a.rows; ++r) all.push_back({r / a.kv.rows_per_slot, r % a.kv.rows_per_slot});
  return all;
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<NormKeysAttributes>();
  HostKv kv(g, node.inputs[kKv], values);
  const double* weights = values.at(node.inputs[kWeights]).f.data() + norm_ld(a);
  for (const Place& place : places_of(node, values))
    for (uint64_t head = 0; head < a.kv.heads; ++head) {
      const uint64_t at = a.kv.number(head, place.slot, place.position);
      double squares = 0;
      for (uint32_t c = 0; c < a.kv.head_dim; ++c) squares += kv[at + c] * kv[at + c];
      const double factor = 1 / std::sqrt(squares / a.kv.head_dim + static_cast<double>(a.epsilon));
      for (uint32_t c = 0; c < a.kv.head_dim; ++c) kv.set(at + c, kv[at + c] * factor * weights[c]);
    }
}

struct CaseShape {
  uint32_t heads, head_dim, slots, positions;
  uint32_t rows = 0, rows_per_slot = 1;  // batch
  std::vector<uint32_t> sentences{};     // of a pass
  KvFormat format = KvFormat::fp32;
};

OpCase make_case(const CaseShape& s) {
  OpCase c;
  const bool pass = !s.sentences.empty();
  c.name = format("%s, %u heads of %u, %u slots of %u", pass ? "pass" : "sequences", s.heads, s.head_dim, s.slots,
                  s.positions) +
           suffix(s.format);
  NormKeysAttributes a{
      {s.heads, s.head_dim, s.slots, s.positions, pass ? RowLayout::spans : RowLayout::batch, s.rows_per_slot},
      s.rows,
      pass,
      1e-6f};
  ops::NormKeysOperands o;
  if (pass) o.spans = add_spans(c, s.sentences);
  for (const uint32_t n : s.sentences) a.rows += n;
  if (pass) a.rows += 2;  // past the last sentence
  const KvLayout layout(a.kv, s.format);
  o.kv = add_kv(c.graph, StateKind::cross_kv, layout);
  o.weights = add_weight(c.graph, "weights", 2 * norm_ld(a));
  // Keys are rounded to fp16, where a sum in another order may fall on the other side of a tie.
  if (s.format == KvFormat::fp16) c.float_word = [kv = o.kv](graph::TensorId id, uint64_t) { return id == kv; };
  ops::norm_keys(c.graph, c.name, o, a);
  c.prepare = [o, layout](OpCase& into) {
    CaseRandom random(layout.shape.positions * 31 + layout.shape.head_dim);
    into.inputs.emplace_back(o.kv, kv_values(layout, random, 2));
    if (layout.format == KvFormat::fp16) put_on_grid(into.inputs.back().second);
    into.inputs.emplace_back(o.weights, random_values(into.graph.tensor(o.weights), random, 2));
  };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case({1, 2, 1, 1, 1, 1}));
  all.push_back(make_case({3, 12, 4, 7, 19, 5}));
  all.push_back(make_case({2, 7, 2, 9, 18, 9}));      // heads of odd width
  all.push_back(make_case({2, 64, 3, 50, 120, 40}));  // more keys than a small binding
  for (const auto kv : {KvFormat::fp32, KvFormat::fp16}) {
    all.push_back(make_case({3, 12, 5, 31, 0, 1, {7, 1, 30, 4}, kv}));
    all.push_back(make_case({2, 7, 3, 10, 0, 1, {9, 5}, kv}));
    all.push_back(make_case({1, 256, 3, 10, 0, 1, {9, 5}, kv}));
    all.push_back(make_case({3, 64, 4, 80, 0, 1, {33, 70, 1}, kv}));
  }
  return all;
}

constexpr OpDef op{"norm_keys", infer, only_variant<Tuned::unfold, "invocation a head">, lower, reference, cases};

}  // namespace
}  // namespace norm_keys_impl

constinit const OpDef norm_keys_op = norm_keys_impl::op;

void ops::norm_keys(graph::Graph& g, const std::string& label, const NormKeysOperands& o, const NormKeysAttributes& a) {
  g.add_node({&norm_keys_op, label, {o.kv, o.weights, o.spans}, {o.kv}, graph::Attributes(a)});
}

}  // namespace lapilli
