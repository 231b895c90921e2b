// "embed": see embed.hpp.
#include "ops/products/embed.hpp"

#include <algorithm>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"
#include "ops/core/tuning.hpp"
#include "ops/products/matmul_cases.hpp"

namespace lapilli {
namespace embed_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, d, ld, first_id, end_id, vocabulary, panel, ids_begin, x_begin, first_row,
               rows_per_slot, position_offset, position_ld, positions_begin, position_begin, position_end,
               position_rows, lineage_beam_slots, lineage_positions, uncounted_id, id_begin;
               float scale;)
};

constexpr uint32_t kNoId = ~0u;

// inputs: ids or lineage, table, position table, step or spans
enum Input : size_t { kIds, kTable, kPositions, kRowState };

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<EmbedAttributes>();
  LAPILLI_CHECK(expect_output(g, node, 0, {"x", 0, a.d}));
  const auto& x = g.tensor(node.outputs[0]);
  LAPILLI_CHECK(
      expect_weight(g, node, operand(node.inputs, kTable), {"table", uint64_t{a.vocabulary} + a.beyond, a.d}));
  if (a.layout == RowLayout::step) {
    LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kIds), "lineage",
                               state::lineage_words(a.lineage_beam_slots, a.lineage_positions)));
    LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kRowState), "step", state::STEP_QUEUE));
  } else {
    if (a.rows_per_slot == 0) return node_error(node, "rows_per_slot is 0");
    if (a.layout == RowLayout::spans)
      LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kRowState), "spans", state::SPAN_WORDS));
    else if (a.uncounted_id != kNoId && x.rows % a.rows_per_slot != 0)
      return node_error(node, "rows are not whole sentences");
    LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kIds), "ids", x.rows));
  }
  if (a.uncounted_id != kNoId && a.first_id != 0) return node_error(node, "uncounted_id in a part of a vocabulary");
  if (a.uncounted_id != kNoId && a.position_offset == 0)
    return node_error(node, "uncounted_id without a row before the first");
  const auto positions = operand(node.inputs, kPositions);
  if (positions != graph::kNone && g.tensor(positions).cols != a.d)
    return node_error(node, "the position table is not %u wide", a.d);
  return {};
}

WeightLayout table_layout(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<EmbedAttributes>();
  return {a.vocabulary + a.beyond, a.d, g.tensor(node.inputs[kTable])};
}

// Ids [first, end) whose panels fit one binding.
struct IdSlice {
  uint32_t first, end;
};
Result<std::vector<IdSlice>> id_slices(const LowerContext& context, const graph::Node& node, const EmbedAttributes& a) {
  const uint64_t panel_bytes = table_layout(context.graph, node).panel_words() * 4,
                 panels = packed::panels(a.vocabulary);
  // A panel's size is a multiple of every device alignment, so slices start aligned.
  const uint64_t fit = std::min(panels, context.caps.max_storage_range / panel_bytes);
  if (fit == 0)
    return node_error(node, "%u words of the table exceed this device's binding limit",
                      static_cast<unsigned>(packed::kPanel));
  std::vector<IdSlice> slices;
  for (uint64_t first = 0; first < panels; first += fit)
    slices.push_back({static_cast<uint32_t>(first * packed::kPanel),
                      static_cast<uint32_t>(std::min<uint64_t>((first + fit) * packed::kPanel, a.vocabulary))});
  return slices;
}

// Rows of the position table that sequences of this plan can reach; the table may be longer.
uint64_t positions_reached(const LowerContext& context, const graph::Node& node, const EmbedAttributes& a) {
  const auto positions = operand(node.inputs, kPositions);
  if (positions == graph::kNone) return 0;
  const uint64_t longest = a.layout == RowLayout::step ? a.lineage_positions : a.rows_per_slot;
  return std::min<uint64_t>(context.graph.tensor(positions).rows, a.position_offset + longest);
}

// The part of one dispatch: rows whose ids and positions are in these slices of the tables.
struct Part {
  IdSlice ids;
  RowSlice positions, rows;
};

// Binds the ids; those of these rows begin `offset` words after the start of the binding.
Result<Operand> bind_ids(const LowerContext& context, const graph::Node& node, const EmbedAttributes& a,
                         const RowSlice& rows, uint32_t& offset) {
  if (a.layout == RowLayout::step) return bind_whole(context, 0, node.inputs[kIds], graph::Access::read);
  // Counting starts at the first id of a sentence.
  uint64_t first = rows.begin;
  if (a.uncounted_id != kNoId)
    first = a.layout == RowLayout::spans ? 0 : rows.begin / a.rows_per_slot * a.rows_per_slot;
  Operand ids = bind_range(context, 0, {node.inputs[kIds], first * 4, rows.end * 4, graph::Access::read}, offset);
  offset += static_cast<uint32_t>(rows.begin - first);
  return ids;
}

// A declared binding must be valid; without positions the table stands in and is not read.
Operand bind_places(const LowerContext& context, const graph::Node& node, const RowSlice& places, uint32_t& offset) {
  const auto positions = operand(node.inputs, kPositions);
  if (positions == graph::kNone) return {3, node.inputs[kTable], 0, 256, graph::Access::read, 0};
  const uint64_t row = context.graph.tensor(positions).ld * 4;
  return bind_range(context, 3, {positions, places.begin * row, places.end * row, graph::Access::read}, offset);
}

Status lower_part(const LowerContext& context, const graph::Node& node, const Numbers& numbers, const Part& part,
                  std::vector<Dispatch>& out) {
  const auto& [ids, places, rows] = part;
  const auto a = node.attributes.as<EmbedAttributes>();
  const auto& g = context.graph;
  const auto& x = g.tensor(node.outputs[0]);
  const bool step = a.layout == RowLayout::step, spans = a.layout == RowLayout::spans;
  const auto positions = operand(node.inputs, kPositions);
  const uint64_t places_ld = positions == graph::kNone ? 0 : g.tensor(positions).ld;
  Dispatch d;
  d.shader = step ? ShaderId::embed_step : spans ? ShaderId::embed_spans : ShaderId::embed;
  const WeightLayout table = table_layout(g, node);
  d.constants = {numbers.local, static_cast<uint32_t>(table.format)};
  d.groups = rows.end - rows.begin;
  if (x.live_rows && d.groups == x.rows) follow_live_rows(d, 1, 1);
  uint32_t di = 0, dt = 0, dx = 0, dp = 0;
  LAPILLI_TRY(const auto bound_ids, bind_ids(context, node, a, rows, di));
  d.operands.push_back(bound_ids);
  const uint64_t panel = table.panel_words();
  d.operands.push_back(bind_range(context, 1,
                                  {node.inputs[kTable], ids.first / packed::kPanel * panel * 4,
                                   packed::panels(ids.end) * panel * 4, graph::Access::read},
                                  dt));
  if (dt != 0) return node_error(node, "panels are not aligned");
  d.operands.push_back(
      bind_range(context, 2, {node.outputs[0], rows.begin * x.ld * 4, rows.end * x.ld * 4, graph::Access::write}, dx));
  d.operands.push_back(bind_places(context, node, places, dp));
  if (step || spans) {
    LAPILLI_TRY(const auto state, bind_whole(context, 4, node.inputs[kRowState], graph::Access::read));
    d.operands.push_back(state);
  }
  d.set_push(Push{static_cast<uint32_t>(d.groups),
                  a.d,
                  static_cast<uint32_t>(x.ld),
                  ids.first,
                  ids.end,
                  a.vocabulary,
                  static_cast<uint32_t>(panel),
                  di,
                  dx,
                  static_cast<uint32_t>(rows.begin),
                  a.rows_per_slot,
                  a.position_offset,
                  static_cast<uint32_t>(places_ld),
                  dp,
                  static_cast<uint32_t>(places.begin),
                  static_cast<uint32_t>(places.end),
                  static_cast<uint32_t>(positions_reached(context, node, a)),
                  a.lineage_beam_slots,
                  a.lineage_positions,
                  a.uncounted_id,
                  a.first_id,
                  a.scale});
  d.cost = 4.0 * static_cast<double>(d.groups * x.ld);
  out.push_back(std::move(d));
  return {};
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}));
  const auto a = node.attributes.as<EmbedAttributes>();
  const auto& x = context.graph.tensor(node.outputs[0]);
  LAPILLI_TRY(const auto ids, id_slices(context, node, a));
  LAPILLI_TRY(const auto rows, row_slices(context, node, x.rows, {x.ld * 4, 1}));
  std::vector<RowSlice> positions{{0, 0}};
  if (const uint64_t reached = positions_reached(context, node, a); reached > 0) {
    const uint64_t ld = context.graph.tensor(node.inputs[kPositions]).ld;
    LAPILLI_TRY(positions, row_slices(context, node, reached, {ld * 4, 0}));
  }
  if (a.layout == RowLayout::step && rows.size() > 1)
    return node_error(node, "%u rows exceed this device's limits; use a smaller batch", x.rows);
  for (const auto& i : ids)
    for (const auto& p : positions)
      for (const auto& r : rows) LAPILLI_CHECK(lower_part(context, node, v.numbers, {i, p, r}, out));
  return {};
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<EmbedAttributes>();
  const auto& ids = values.at(node.inputs[kIds]).u;
  const HostWeight table(g, node.inputs[kTable], uint64_t{a.vocabulary} + a.beyond, a.d, values);
  const WeightLayout layout(a.vocabulary + a.beyond, a.d);
  const auto positions = operand(node.inputs, kPositions);
  auto& x = values.at(node.outputs[0]).f;
  const auto& t = g.tensor(node.outputs[0]);
  const bool step = a.layout == RowLayout::step;
  const auto* state = step ? values.at(node.inputs[kRowState]).u.data() : nullptr;
  std::vector<uint64_t> places;  // position of each row of a pass
  if (a.layout == RowLayout::spans)
    for (const Span& s : spans_of(values.at(node.inputs[kRowState]).u))
      for (uint32_t i = 0; i < s.ids; ++i) places.push_back(i);
  const uint64_t rows = step ? state[state::STEP_LIVE] : a.layout == RowLayout::spans ? places.size() : t.rows;
  for (uint64_t r = 0; r < rows; ++r) {
    const uint32_t row = step ? state[state::STEP_ROWS + r] : 0;
    const uint64_t position = step ? state::position_of(row) : places.empty() ? r % a.rows_per_slot : places[r];
    const uint64_t word =
        !step ? r
              : state::lineage_word(state::lineage_parity(state::position_of(row)), state::LINEAGE_TOKENS,
                                    state::beam_slot_of(row), position, a.lineage_beam_slots, a.lineage_positions);
    const uint32_t id = ids[word] - a.first_id;
    uint64_t counted = position;
    if (!step && a.uncounted_id != kNoId)
      for (uint64_t i = 1; i <= position; ++i) counted -= ids[r - i] == a.uncounted_id;
    const uint64_t place = id == a.uncounted_id ? a.position_offset - 1 : counted + a.position_offset;
    for (uint64_t i = 0; i < t.ld; ++i) {
      double v = id < a.vocabulary && i < a.d ? a.scale * table.values()[layout.word(id, i)] : 0.0;
      if (positions != graph::kNone && i < a.d && place < g.tensor(positions).rows)
        v += values.at(positions).f[place * g.tensor(positions).ld + i];
      x[r * t.ld + i] = v;
    }
  }
}

struct CaseShape {
  uint32_t vocabulary, d, rows, rows_per_slot;
  bool positions = true, step = false;
  uint32_t offset = 0;
  bool slow = false;
  bool uncounted = false;
  std::vector<uint32_t> lengths = {};  // for a pass; may have more rows than their sum
  uint32_t places = 32;                // rows of the position table
  WeightFormat format = WeightFormat::fp32;
  uint32_t first_id = 0;
};

OpCase make_case(const std::string& name, const CaseShape& s) {
  OpCase c;
  c.name = name;
  c.slow = s.slow;
  EmbedAttributes a;
  a.vocabulary = s.vocabulary;
  a.d = s.d;
  a.scale = 5.5f;
  a.layout = s.step ? RowLayout::step : RowLayout::batch;
  a.rows_per_slot = s.rows_per_slot;
  a.position_offset = s.offset;
  a.first_id = s.first_id;
  if (s.uncounted) a.uncounted_id = s.vocabulary - 1;  // every third id and more
  a.lineage_beam_slots = s.rows + 2;
  a.lineage_positions = std::max(16u, s.rows_per_slot);
  const uint64_t ids_words = s.step ? state::lineage_words(a.lineage_beam_slots, a.lineage_positions) : s.rows;
  const auto ids =
      add_state(c.graph, "ids", s.step ? StateKind::lineage : StateKind::source_ids, ids_words, graph::DType::u32);
  const auto table = add_packed(c.graph, "table", {s.vocabulary, s.d, s.format});
  auto positions = graph::kNone, step = graph::kNone;
  if (s.positions) positions = c.graph.activation("positions", s.places, s.d);
  if (s.step) {
    step = add_step(c.graph);
    std::vector<uint32_t> at{7, 3, 0, 8};
    if (s.rows_per_slot > 1) at = {s.rows_per_slot - 1, 63, 64, 0};
    c.inputs.emplace_back(step, step_values(at, s.rows - 1, {2, 1, 4}));
    c.live_rows = s.rows - 1;
  }
  if (!s.lengths.empty()) {
    a.layout = RowLayout::spans;
    step = add_spans(c, s.lengths);
  }
  ops::embed(c.graph, name, {ids, table, positions, step, s.rows}, a);
  c.prepare = [s, ids, ids_words, table, positions](OpCase& into) {
    CaseRandom random(s.vocabulary * 31 + s.d);
    if (positions != graph::kNone)
      into.inputs.emplace_back(positions, random_values(into.graph.tensor(positions), random));
    std::vector<uint32_t> words(ids_words);
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = i == 1 ? s.vocabulary + 5 : i % 3 == 0 ? s.vocabulary - 1 : random.below(s.vocabulary);
    into.inputs.emplace_back(ids, words_of(words));
    into.inputs.emplace_back(table, s.format == WeightFormat::fp32
                                        ? random_values(into.graph.tensor(table), random)
                                        : packed_values({s.vocabulary, s.d, s.format}, random, 1));
  };
  return c;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(make_case("one row", {37, 8, 1, 1}));
  all.push_back(make_case("257 words", {257, 32, 36, 12}));
  all.push_back(make_case("width 50", {101, 50, 14, 7}));
  all.push_back(make_case("width 7, no positions", {33, 7, 5, 5, false}));
  all.push_back(make_case("offset 2", {64, 12, 9, 9, true, false, 2}));
  all.push_back(make_case("beyond the position table", {64, 12, 40, 40}));
  all.push_back(make_case("an id that is not counted", {64, 12, 27, 9, true, false, 2, false, true}));
  all.push_back(make_case("an id that is not counted, step", {64, 12, 7, 1, true, true, 2, false, true}));
  // Sentences that span several row slices on devices with small bindings.
  all.push_back(make_case("an id that is not counted, 50 sentences", {64, 32, 700, 14, true, false, 2, false, true}));
  const auto pass = [&](const std::string& name, CaseShape shape, std::vector<uint32_t> lengths) {
    shape.lengths = std::move(lengths);
    all.push_back(make_case(name, shape));
  };
  pass("pass of one", {257, 32, 3, 3}, {3});
  pass("pass of six", {257, 32, 56, 33}, {1, 3, 4, 5, 33, 1});
  pass("pass of five, width 7, no positions", {33, 7, 56, 33, false}, {5, 1, 33, 3, 4});
  pass("pass of four, an id that is not counted", {64, 12, 45, 30, true, false, 2, false, true}, {9, 1, 20, 5});
  // Sentences that span several row slices on devices with small bindings.
  pass("pass of nine, an id that is not counted", {64, 32, 700, 300, true, false, 2, false, true},
       {30, 1, 30, 29, 30, 3, 30, 300, 30});
  pass("pass of as many as there can be", {37, 8, 1040, 1}, std::vector<uint32_t>(state::MAX_ROWS, 1));
  all.push_back(make_case("step", {257, 32, 5, 1, true, true}));
  all.push_back(
      make_case("ids from 60 on", {101, 32, 36, 12, false, false, 0, false, false, {}, 32, WeightFormat::fp32, 60}));
  all.push_back(
      make_case("ids from 60 on, step", {101, 32, 5, 1, false, true, 0, false, false, {}, 32, WeightFormat::fp32, 60}));
  all.push_back(make_case("step, many slices", {8001, 64, 4, 1, true, true}));
  // Position tables sliced on devices with small bindings; some positions exceed the tables.
  all.push_back(make_case("150 positions", {64, 256, 150, 150, true, false, 2, false, false, {}, 149}));
  all.push_back(make_case("150 positions, step", {64, 256, 7, 150, true, true, 2, false, false, {}, 151}));
  pass("pass with 150 positions", {64, 256, 160, 150, true, false, 2, false, true, {}, 152}, {5, 150});
  for (const auto f : kNarrowFormats) {
    const auto of = [&](const char* what) { return std::string(what) + " " + name(f); };
    const auto add = [&](const char* what, CaseShape shape) {
      shape.format = f;
      all.push_back(make_case(of(what), shape));
    };
    add("257 words", {257, 32, 36, 12});
    add("width 7, no positions", {33, 7, 5, 5, false});
    add("step", {257, 50, 5, 1, true, true});
    add("step, many slices", {16001, 64, 4, 1, true, true});
    add("pass of six", {257, 32, 56, 33, true, false, 0, false, false, {1, 3, 4, 5, 33, 1}});
  }
  all.push_back(make_case("table above 128 MiB", {70001, 512, 6, 3, true, false, 0, true}));
  return all;
}

constexpr OpDef op{"embed", infer, only_variant<Tuned::embed, "workgroup a row">, lower, reference, cases};

}  // namespace
}  // namespace embed_impl

constinit const OpDef embed_op = embed_impl::op;

graph::TensorId ops::embed(graph::Graph& g, const std::string& label, const EmbedOperands& o,
                           const EmbedAttributes& attributes) {
  const auto x = g.activation(label, o.rows, attributes.d);
  g.tensor(x).live_rows = attributes.layout != RowLayout::batch;
  g.add_node({&embed_op, label, {o.ids, o.table, o.positions, o.step_or_spans}, {x}, graph::Attributes(attributes)});
  return x;
}

}  // namespace lapilli
