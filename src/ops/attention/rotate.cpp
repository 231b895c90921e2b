// "rotate": see attention.hpp.
#include <algorithm>
#include <cmath>

#include "ops/attention/attention_util.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {
namespace rotate_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, first_row, heads, head_dim, pairs, halves, table_ld, q_ld, q_begin, rows_per_slot,
               slots, positions, head_begin, head_end, cell_begin, cell_end, kv_begin;
               float epsilon; uint32_t norms_last;)
};

// inputs: q, kv, table, step or spans, norms
enum Input : size_t { kQ, kKv, kTable, kRowState, kNorms };

uint64_t table_ld(const RotateAttributes& a) { return round_up<uint64_t>(uint64_t{2} * a.pairs, 4); }

uint64_t norm_ld(const RotateAttributes& a) { return round_up<uint64_t>(a.kv.head_dim, 4); }

Status infer_norms(const graph::Graph& g, const graph::Node& node, const RotateAttributes& a) {
  if (a.norms == 0) return {};
  if (2 * a.pairs != a.kv.head_dim) return node_error(node, "norms belong to heads that are rotated whole");
  if (uint64_t{a.kv.query_heads()} + a.kv.heads > kMostNormedHeads)
    return node_error(node, "norms of %u heads and %u of keys; at most %u", a.kv.query_heads(), a.kv.heads,
                      kMostNormedHeads);
  return expect_words(g, node, operand(node.inputs, kNorms), "norms", 2 * norm_ld(a));
}

// Two pairs in halves share words of fp16.
bool halves_fit(const graph::Graph& g, const graph::Node& node, const RotateAttributes& a) {
  return a.kv.layout != RowLayout::step || !a.halves || a.pairs % 2 == 0 ||
         g.tensor(node.inputs[kKv]).dtype != graph::DType::f16;
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<RotateAttributes>();
  const KvShape& kv = a.kv;
  const bool step = kv.layout == RowLayout::step;
  if (a.pairs == 0 || uint64_t{2} * a.pairs > kv.head_dim || kv.rows_per_slot == 0 || kv.layout == RowLayout::spans ||
      (step && a.spans))
    return node_error(node, "%u pairs in heads of %u", a.pairs, kv.head_dim);
  LAPILLI_CHECK(infer_norms(g, node, a));
  LAPILLI_CHECK(expect_input(g, node, kQ, {"q", 0, uint64_t{kv.query_heads()} * kv.head_dim}));
  LAPILLI_CHECK(expect_kv(g, node, operand(node.inputs, kKv), kv, step));
  if (!halves_fit(g, node, a))
    return node_error(node, "%u pairs in halves of a head, an odd number; keys and values in fp32 are possible",
                      a.pairs);
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kTable), "table", 2 * kRotationRows * table_ld(a)));
  const auto &in = node.inputs, &out = node.outputs;
  if (out.size() != 2 || g.root(out[kQ]) != g.root(in[kQ]) || g.root(out[kKv]) != g.root(in[kKv]))
    return node_error(node, "q and kv are not updated in place");
  const auto longest = uint64_t{kRotationRows} * kRotationRows;
  if ((step ? kv.positions : kv.rows_per_slot) > longest)
    return node_error(node, "%u positions; at most %u", kv.positions, longest);
  const uint64_t rows = g.tensor(in[kQ]).rows;
  if (step) return expect_words(g, node, operand(in, kRowState), "step", state::STEP_QUEUE);
  if (kv.rows_per_slot > kv.positions || div_up<uint64_t>(rows, kv.rows_per_slot) > kv.slots)
    return node_error(node, "%u rows do not fit kv", rows);
  return a.spans ? expect_words(g, node, operand(in, kRowState), "spans", state::SPAN_WORDS) : Status();
}

// The part that one dispatch rotates: rows of q or none, heads and cells (slot * positions + position) of kv or none.
struct Part {
  RowSlice rows, heads, cells;
  bool queries = false;
};

void bind_queries(const LowerContext& context, const graph::Node& node, const Part& part, Dispatch& d, Push& push) {
  const auto& q = context.graph.tensor(node.inputs[kQ]);
  d.operands.push_back(bind_range(
      context, 0, {node.inputs[kQ], part.rows.begin * q.ld * 4, part.rows.end * q.ld * 4, graph::Access::read_write},
      push.q_begin));
  push.q_ld = static_cast<uint32_t>(q.ld);
}

KvLayout layout_of(const LowerContext& context, const graph::Node& node) {
  return {node.attributes.as<RotateAttributes>().kv, context.graph.tensor(node.inputs[kKv])};
}

void bind_keys(const LowerContext& context, const graph::Node& node, const Part& part, Dispatch& d, Push& push) {
  const KvLayout kv = layout_of(context, node);
  const uint64_t begin = kv.word(part.heads.begin, 0, part.cells.begin),
                 end = kv.word(part.heads.end - 1, 0, part.cells.end);
  uint32_t delta = 0;
  d.operands.push_back(
      bind_range(context, 1, {node.inputs[kKv], begin * 4, end * 4, graph::Access::read_write}, delta));
  push.head_begin = static_cast<uint32_t>(part.heads.begin);
  push.head_end = static_cast<uint32_t>(part.heads.end);
  push.cell_begin = static_cast<uint32_t>(part.cells.begin);
  push.cell_end = static_cast<uint32_t>(part.cells.end);
  push.kv_begin = kv.begin_of(begin, delta);
}

// Declared bindings must be valid: the other operand stands in for one that other dispatches handle.
void stand_in(uint32_t binding, Dispatch& d) {
  Operand unused = d.operands.back();
  unused.binding = binding;
  unused.used = false;
  d.operands.push_back(unused);
}

ShaderId shader(const RotateAttributes& a) {
  const bool step = a.kv.layout == RowLayout::step;
  if (a.norms && a.spans) return ShaderId::rotate_norms_spans;
  if (a.norms) return step ? ShaderId::rotate_norms_step : ShaderId::rotate_norms;
  return step ? ShaderId::rotate_step : a.spans ? ShaderId::rotate_spans : ShaderId::rotate;
}

Status lower_part(const LowerContext& context, const graph::Node& node, Variant v, const Part& part,
                  std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<RotateAttributes>();
  const auto& q = context.graph.tensor(node.inputs[kQ]);
  const bool step = a.kv.layout == RowLayout::step, keys = part.heads.end > 0;
  Dispatch d;
  d.shader = shader(a);
  d.constants = {v.numbers.local};
  if (step) d.constants.push_back(static_cast<uint32_t>(layout_of(context, node).format));
  d.groups = part.rows.end - part.rows.begin;
  if (q.live_rows && d.groups == q.rows) follow_live_rows(d, 1, 1);
  Push push{};
  push.groups = static_cast<uint32_t>(d.groups);
  push.first_row = static_cast<uint32_t>(part.rows.begin);
  push.heads = a.kv.query_heads();
  push.head_dim = a.kv.head_dim;
  push.pairs = a.pairs;
  push.halves = a.halves;
  push.table_ld = static_cast<uint32_t>(table_ld(a));
  push.rows_per_slot = a.kv.rows_per_slot;
  push.slots = a.kv.slots;
  push.positions = a.kv.positions;
  push.epsilon = a.epsilon;
  push.norms_last = a.norms_last;
  if (part.queries) bind_queries(context, node, part, d, push);
  if (keys) bind_keys(context, node, part, d, push);
  if (!part.queries) stand_in(0, d);
  if (!keys) stand_in(1, d);
  LAPILLI_TRY(const auto table, bind_whole(context, 2, node.inputs[kTable], graph::Access::read));
  d.operands.push_back(table);
  if (a.norms) {
    LAPILLI_TRY(const auto norms, bind_whole(context, 3, node.inputs[kNorms], graph::Access::read));
    d.operands.push_back(norms);
  }
  if (step || a.spans) {
    LAPILLI_TRY(const auto state, bind_whole(context, 4, node.inputs[kRowState], graph::Access::read));
    d.operands.push_back(state);
  }
  d.set_push(push);
  d.cost = 16.0 * static_cast<double>(d.groups * a.kv.query_heads() * a.pairs);
  out.push_back(std::move(d));
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}));
  const auto a = node.attributes.as<RotateAttributes>();
  const auto& q = context.graph.tensor(node.inputs[kQ]);
  const uint64_t cells = uint64_t{a.kv.slots} * a.kv.positions;
  LAPILLI_TRY(const KvCells most, kv_cells(context, node, layout_of(context, node)));
  LAPILLI_TRY(const auto rows, row_slices(context, node, q.rows, {q.ld * 4, 1}));
  const bool whole = rows.size() == 1 && most.heads == a.kv.heads && most.cells == cells;
  if (whole) return lower_part(context, node, v, {rows[0], {0, most.heads}, {0, most.cells}, true}, out);
  for (const RowSlice& slice : rows) LAPILLI_CHECK(lower_part(context, node, v, {slice, {}, {}, true}, out));
  LAPILLI_TRY(const auto groups, row_slices(context, node, q.rows, {0, 1}));
  for (const RowSlice& slice : groups)
    for (uint64_t h = 0; h < a.kv.heads; h += most.heads)
      for (uint64_t c = 0; c < cells; c += most.cells)
        LAPILLI_CHECK(lower_part(
            context, node, v,
            {slice, {h, std::min<uint64_t>(a.kv.heads, h + most.heads)}, {c, std::min(cells, c + most.cells)}}, out));
  return {};
}

// A row to rotate: the location of its keys, and the position that sets the angle.
struct TurnedRow {
  uint64_t row, slot, position, by;
};
std::vector<TurnedRow> turned_rows(const graph::Node& node, uint64_t rows, HostTensors& values) {
  const auto a = node.attributes.as<RotateAttributes>();
  std::vector<TurnedRow> all;
  if (a.spans) {
    for (const Span& s : spans_of(values.at(node.inputs[kRowState]).u))
      for (uint64_t i = 0; i < s.ids; ++i)
        all.push_back({s.row + i, (s.row + i) / a.kv.rows_per_slot, (s.row + i) % a.kv.rows_per_slot, i});
    return all;
  }
  for (uint64_t r = 0; r < rows; ++r) {
    if (a.kv.layout == RowLayout::batch) {
      all.push_back({r, r / a.kv.rows_per_slot, r % a.kv.rows_per_slot, r % a.kv.rows_per_slot});
      continue;
    }
    const auto& words = values.at(node.inputs[kRowState]).u;
    if (r >= words[state::STEP_LIVE]) break;
    const uint32_t word = words[state::STEP_ROWS + r];
    const uint32_t position = state::position_of(word);
    all.push_back({r, state::beam_slot_of(word), position % a.kv.positions, position});
  }
  return all;
}

// Normalizes a head whose numbers `at` gives access to.
template <class At>
void normalize_head(const RotateAttributes& a, const double* weights, const At& at) {
  double squares = 0;
  for (uint32_t c = 0; c < a.kv.head_dim; ++c) squares += at(c) * at(c);
  const double factor = 1 / std::sqrt(squares / a.kv.head_dim + static_cast<double>(a.epsilon));
  for (uint32_t c = 0; c < a.kv.head_dim; ++c) at(c) *= factor * weights[c];
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<RotateAttributes>();
  const auto& t = g.tensor(node.inputs[kQ]);
  auto& q = values.at(node.inputs[kQ]).f;
  HostKv kv(g, node.inputs[kKv], values);
  const auto& table = values.at(node.inputs[kTable]).f;
  const auto turn = [](double* pair, double cosine, double sine, uint64_t partner = 1) {
    const double first = pair[0] * cosine - pair[partner] * sine;
    pair[partner] = pair[partner] * cosine + pair[0] * sine;
    pair[0] = first;
  };
  const uint64_t partner = a.halves ? a.pairs : 1;
  const double* norms = a.norms ? values.at(node.inputs[kNorms]).f.data() : nullptr;
  // Keys are rounded once, behind the rotation.
  std::vector<double> keys(a.kv.head_dim);
  for (const TurnedRow& row : turned_rows(node, t.rows, values))
    for (uint64_t head = 0; head < a.kv.query_heads(); ++head) {
      double* query = q.data() + row.row * t.ld + head * a.kv.head_dim;
      const bool has_key = head < a.kv.heads;  // otherwise queries alone
      const uint64_t place = has_key ? a.kv.number(head, row.slot, row.position) : 0;
      for (uint32_t c = 0; has_key && c < a.kv.head_dim; ++c) keys[c] = kv[place + c];
      const auto normalize = [&] {
        normalize_head(a, norms, [&](uint32_t c) -> double& { return query[c]; });
        if (has_key) normalize_head(a, norms + norm_ld(a), [&](uint32_t c) -> double& { return keys[c]; });
      };
      if (norms && !a.norms_last) normalize();
      for (uint64_t c = 0; c < uint64_t{2} * a.pairs; c += 2) {
        const uint64_t high = (kRotationRows + row.by / kRotationRows) * table_ld(a) + c;
        double angle[2] = {table[high], table[high + 1]};
        const uint64_t low = row.by % kRotationRows * table_ld(a) + c;
        turn(angle, table[low], table[low + 1]);
        const uint64_t column = a.halves ? c / 2 : c;
        turn(query + column, angle[0], angle[1], partner);
        turn(keys.data() + column, angle[0], angle[1], partner);
      }
      if (norms && a.norms_last) normalize();
      for (uint32_t c = 0; has_key && c < 2 * a.pairs; ++c) kv.set(place + c, keys[c]);
    }
}

struct CaseShape {
  KvShape kv;
  uint32_t pairs = 0;
  uint32_t rows = 0, live = 0;        // batch, step
  std::vector<uint32_t> sentences{};  // for a pass
  uint32_t position = 0;              // step: the largest
  KvFormat format = KvFormat::fp32;   // step
  bool halves = false;
  bool norms = false, norms_last = false;
};

HostTensor rotation_values(uint64_t ld, uint32_t pairs) {
  HostTensor table;
  table.f.assign(2 * kRotationRows * ld, 0.0);
  for (uint32_t r = 0; r < 2 * kRotationRows; ++r)
    for (uint32_t i = 0; i < pairs; ++i) {
      const double place = r < kRotationRows ? r : (r - kRotationRows) * double{kRotationRows};
      const double angle = place * std::pow(10000.0, -static_cast<double>(i) / pairs);
      table.f[r * ld + 2 * uint64_t{i}] = static_cast<double>(static_cast<float>(std::cos(angle)));
      table.f[r * ld + 2 * uint64_t{i} + 1] = static_cast<double>(static_cast<float>(std::sin(angle)));
    }
  return table;
}

OpCase make_case(const std::string& name, CaseShape s) {
  OpCase c;
  c.name = format("%s, %u of %u heads of %u", name, s.pairs, s.kv.heads, s.kv.head_dim) + suffix(s.format);
  RotateAttributes a{s.kv,
                     s.pairs,
                     s.sentences.empty() ? 0u : 1u,
                     s.halves ? 1u : 0u,
                     s.norms ? 1u : 0u,
                     1e-6f,
                     s.norms_last ? 1u : 0u};
  ops::RotateOperands o;
  if (a.spans) {
    s.rows = 2;  // past the last sentence
    for (const uint32_t n : s.sentences) s.rows += n;
    a.kv.slots = 1;
    a.kv.positions = a.kv.rows_per_slot = s.rows;
    o.step_or_spans = add_spans(c, s.sentences);
  }
  o.q = c.graph.activation("q", s.rows, uint64_t{a.kv.query_heads()} * a.kv.head_dim);
  const KvLayout layout(a.kv, s.format);
  o.kv = add_kv(c.graph, StateKind::self_kv, layout);
  o.table = add_weight(c.graph, "table", 2 * kRotationRows * table_ld(a));
  if (a.norms) o.norms = add_weight(c.graph, "norms", 2 * norm_ld(a));
  if (a.kv.layout == RowLayout::step) {
    o.step_or_spans = add_step(c.graph);
    std::vector<uint32_t> slots;
    for (uint32_t r = 0; r < s.rows; ++r) slots.push_back(a.kv.slots - 1 - r);
    c.inputs.emplace_back(o.step_or_spans, step_values(mixed_positions(s.position, s.rows), s.live, slots));
  }
  // Rotated keys are rounded to fp16, where a sum in another order may fall on the other side of a tie.
  if (s.format == KvFormat::fp16) c.float_word = [kv = o.kv](graph::TensorId id, uint64_t) { return id == kv; };
  ops::rotate(c.graph, c.name, o, a);
  c.prepare = [o, a, layout](OpCase& into) {
    CaseRandom random(a.kv.positions * 31 + a.kv.head_dim);
    into.inputs.emplace_back(o.q, random_values(into.graph.tensor(o.q), random, 2));
    into.inputs.emplace_back(o.kv, kv_values(layout, random, 2));
    into.inputs.emplace_back(o.table, rotation_values(table_ld(a), a.pairs));
    if (layout.format == KvFormat::fp16) put_on_grid(into.inputs[1].second);
    if (a.norms) into.inputs.emplace_back(o.norms, random_values(into.graph.tensor(o.norms), random, 2));
  };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  const auto batch = [](uint32_t heads, uint32_t head, uint32_t slots, uint32_t positions, uint32_t rows) {
    return KvShape{heads, head, slots, positions, RowLayout::batch, rows};
  };
  const auto step = [](uint32_t heads, uint32_t head, uint32_t slots, uint32_t positions) {
    return KvShape{heads, head, slots, positions, RowLayout::step, 1};
  };
  const auto shared = [](KvShape kv) {
    kv.group = 3;
    return kv;
  };
  all.push_back(make_case("one row", {batch(1, 2, 1, 1, 1), 1, 1}));
  all.push_back(make_case("sequences", {batch(3, 12, 4, 7, 5), 5, 19}));
  all.push_back(make_case("sequences, heads of odd width", {batch(2, 7, 2, 9, 9), 3, 18}));
  all.push_back(make_case("more positions than the table has rows", {batch(1, 6, 1, 600, 600), 2, 600}));
  all.push_back(make_case("step", {step(4, 16, 6, 9), 8, 6, 4, {}, 7}));
  all.push_back(make_case("step, nothing runs", {step(2, 8, 3, 5), 3, 2, 0, {}, 4}));
  all.push_back(make_case("step far on", {step(2, 12, 3, 700), 5, 3, 3, {}, 650}));
  all.push_back(make_case("step in a ring", {step(4, 16, 6, 9), 8, 6, 4, {}, 31}));
  all.push_back(make_case("step in a ring", {step(4, 16, 6, 9), 8, 6, 4, {}, 31, KvFormat::fp16}));
  all.push_back(make_case("step", {step(4, 16, 6, 9), 8, 6, 4, {}, 7, KvFormat::fp16}));
  all.push_back(make_case("step, heads of odd width", {step(3, 7, 6, 9), 3, 6, 5, {}, 8, KvFormat::fp16}));
  all.push_back(make_case("step far on", {step(2, 12, 3, 700), 5, 3, 3, {}, 650, KvFormat::fp16}));
  all.push_back(make_case("pass", {batch(3, 12, 1, 1, 1), 5, 0, 0, {7, 1, 30, 4}}));
  all.push_back(make_case("pass, heads of odd width", {batch(2, 9, 1, 1, 1), 4, 0, 0, {300, 5}}));
  const auto halves = [&](const char* name, CaseShape shape) {
    shape.halves = true;
    all.push_back(make_case(name, shape));
  };
  halves("sequences, halves", {batch(3, 12, 4, 7, 5), 5, 19});
  halves("pass, halves", {batch(3, 12, 1, 1, 1), 6, 0, 0, {7, 1, 300, 4}});
  halves("pass, halves, more keys than a binding", {batch(2, 64, 1, 1, 1), 32, 0, 0, {150, 40}});
  halves("step, halves", {shared(step(2, 12, 6, 9)), 6, 6, 5, {}, 8});
  halves("step, halves", {shared(step(2, 12, 6, 9)), 6, 6, 5, {}, 8, KvFormat::fp16});
  halves("step, halves, an odd number", {step(2, 10, 6, 9), 5, 6, 4, {}, 8});
  const auto norms = [&](const char* name, CaseShape shape) {
    shape.norms = true;
    halves(name, shape);
  };
  norms("sequences, norms", {shared(batch(2, 12, 4, 7, 5)), 6, 19});
  norms("pass, norms", {shared(batch(2, 12, 1, 1, 1)), 6, 0, 0, {7, 1, 300, 4}});
  norms("pass, norms, more keys than a binding", {batch(2, 64, 1, 1, 1), 32, 0, 0, {150, 40}});
  norms("step, norms", {shared(step(2, 12, 6, 9)), 6, 6, 5, {}, 8});
  norms("step, norms", {shared(step(3, 16, 6, 9)), 8, 6, 5, {}, 8, KvFormat::fp16});
  norms("step, norms, more keys than a binding", {step(3, 64, 5, 40), 32, 5, 5, {}, 33});
  const auto norms_last = [&](const char* name, CaseShape shape) {
    shape.norms_last = true;
    norms(name, shape);
  };
  norms_last("sequences, norms behind", {shared(batch(2, 12, 4, 7, 5)), 6, 19});
  norms_last("step, norms behind", {shared(step(2, 12, 6, 9)), 6, 6, 5, {}, 8});
  norms_last("step, norms behind", {shared(step(3, 16, 6, 9)), 8, 6, 5, {}, 8, KvFormat::fp16});
  all.push_back(make_case("step, shared keys", {shared(step(2, 12, 6, 9)), 5, 6, 5, {}, 8}));
  all.push_back(make_case("pass, shared keys", {shared(batch(2, 12, 1, 1, 1)), 5, 0, 0, {7, 1, 30, 4}}));
  // Split on devices with small bindings: by heads, by cells, and queries by rows.
  all.push_back(make_case("step, more keys than a binding", {step(3, 64, 5, 40), 16, 5, 5, {}, 33}));
  all.push_back(make_case("step, more keys than a binding", {step(3, 64, 5, 80), 16, 5, 5, {}, 70, KvFormat::fp16}));
  all.push_back(make_case("pass, more keys than a binding", {batch(2, 64, 1, 1, 1), 32, 0, 0, {150, 40}}));
  return all;
}

constexpr OpDef op{"rotate", infer, only_variant<Tuned::unfold, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace rotate_impl

constinit const OpDef rotate_op = rotate_impl::op;

void ops::rotate(graph::Graph& g, const std::string& label, const RotateOperands& o,
                 const RotateAttributes& attributes) {
  g.add_node(
      {&rotate_op, label, {o.q, o.kv, o.table, o.step_or_spans, o.norms}, {o.q, o.kv}, graph::Attributes(attributes)});
}

}  // namespace lapilli
