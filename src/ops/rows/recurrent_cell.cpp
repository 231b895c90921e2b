// "recurrent_cell": see recurrent_cell.hpp.
#include "ops/rows/recurrent_cell.hpp"

#include <algorithm>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli {
namespace recurrent_cell_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, blocks, first_row, rows, run, ld4, gates_ld4, x_begin, gates_begin, beam_slots,
               positions;)
};

enum Input : size_t { kX, kGates, kCells, kLineage, kStep };

// llvmpipe counts iterations (docs/inside/adding-an-op.md), and an invocation goes through all rows of a run.
constexpr uint64_t kMostRows = 50000;

bool in_step(const RecurrentCellAttributes& a) { return a.layout == RowLayout::step; }

Status infer_step(const graph::Graph& g, const graph::Node& node, const RecurrentCellAttributes& a) {
  const auto& x = g.tensor(node.inputs[kX]);
  const uint64_t beam_slots = a.beam_slots, positions = a.positions;
  LAPILLI_CHECK(expect_input(g, node, kCells, {"cells", 2 * beam_slots, x.cols}));
  if (g.tensor(node.inputs[kCells]).ld != x.ld) return node_error(node, "cells and rows have two widths");
  LAPILLI_CHECK(
      expect_words(g, node, operand(node.inputs, kLineage), "lineage", state::lineage_words(beam_slots, positions)));
  LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, kStep), "step", state::STEP_QUEUE));
  const bool in_place = node.outputs.size() == 2 && g.root(node.outputs[1]) == g.root(node.inputs[kCells]);
  return in_place ? Status() : node_error(node, "cells are not updated in place");
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<RecurrentCellAttributes>();
  LAPILLI_CHECK(expect_input(g, node, kX, {"x"}));
  const auto& x = g.tensor(node.inputs[kX]);
  const auto d = static_cast<uint32_t>(x.cols);
  LAPILLI_CHECK(expect_input(g, node, kGates, {"gates", x.rows, cell_columns(d)}));
  if (x.ld != cell_values(d)) return node_error(node, "rows are not whole vectors");
  if (node.outputs.empty() || g.root(node.outputs[0]) != g.root(node.inputs[kX]))
    return node_error(node, "rows are not updated in place");
  if (a.layout == RowLayout::spans || a.run == 0 || a.run > kMostRows || x.rows % a.run != 0)
    return node_error(node, "%u rows of sentences with %u", x.rows, a.run);
  return in_step(a) ? infer_step(g, node, a) : Status();
}

Status bind_state(const LowerContext& context, const graph::Node& node, Dispatch& d) {
  LAPILLI_TRY(const auto cells, bind_whole(context, 2, node.inputs[kCells], graph::Access::read_write));
  LAPILLI_TRY(const auto lineage, bind_whole(context, 3, node.inputs[kLineage], graph::Access::read));
  LAPILLI_TRY(const auto step, bind_whole(context, 4, node.inputs[kStep], graph::Access::read));
  d.operands.insert(d.operands.end(), {cells, lineage, step});
  return {};
}

// Rows and gates of a slice.
void bind_rows(const LowerContext& context, const graph::Node& node, const RowSlice& rows, Dispatch& d, Push& push) {
  const auto &x = context.graph.tensor(node.inputs[kX]), &gates = context.graph.tensor(node.inputs[kGates]);
  uint32_t dx = 0, dg = 0;
  const auto range = [&](const graph::Tensor& t, graph::TensorId id, graph::Access access) {
    return ByteSpan{id, rows.begin * t.ld * 4, rows.end * t.ld * 4, access};
  };
  d.operands.push_back(bind_range(context, 0, range(x, node.inputs[kX], graph::Access::read_write), dx));
  d.operands.push_back(bind_range(context, 1, range(gates, node.inputs[kGates], graph::Access::read), dg));
  push.first_row = static_cast<uint32_t>(rows.begin);
  push.rows = static_cast<uint32_t>(rows.end - rows.begin);
  push.ld4 = static_cast<uint32_t>(x.ld / 4);
  push.gates_ld4 = static_cast<uint32_t>(gates.ld / 4);
  push.x_begin = dx / 4;
  push.gates_begin = dg / 4;
}

Status lower(const LowerContext& context, const graph::Node& node, Variant v, std::vector<Dispatch>& out) {
  LAPILLI_CHECK(check_numbers(context, node, v.numbers, {}));
  const auto a = node.attributes.as<RecurrentCellAttributes>();
  const auto &x = context.graph.tensor(node.inputs[kX]), &gates = context.graph.tensor(node.inputs[kGates]);
  const uint64_t blocks = div_up<uint64_t>(x.ld / 4, v.numbers.local);
  LAPILLI_TRY(const auto slices, row_slices(context, node, x.rows, {gates.ld * 4, blocks}, a.run));
  for (const RowSlice& slice : slices) {
    Dispatch d;
    d.shader = in_step(a) ? ShaderId::recurrent_cell_step : ShaderId::recurrent_cell;
    d.constants = {v.numbers.local};
    d.groups = (slice.end - slice.begin) / a.run * blocks;
    if (x.live_rows && slices.size() == 1) follow_live_rows(d, static_cast<uint32_t>(blocks), 1);
    Push push{static_cast<uint32_t>(d.groups),
              static_cast<uint32_t>(blocks),
              0,
              0,
              a.run,
              0,
              0,
              0,
              0,
              a.beam_slots,
              a.positions};
    bind_rows(context, node, slice, d, push);
    if (in_step(a)) LAPILLI_CHECK(bind_state(context, node, d));
    d.set_push(push);
    d.cost = 16.0 * static_cast<double>((slice.end - slice.begin) * x.ld);
    out.push_back(std::move(d));
  }
  return {};
}

// Makes a row of x, and the cell behind it, which is before it when this begins.
void run_row(const graph::Graph& g, const graph::Node& node, uint64_t row, double* cell, HostTensors& values) {
  const auto &x = g.tensor(node.inputs[kX]), &t = g.tensor(node.inputs[kGates]);
  const double* gates = values.at(node.inputs[kGates]).f.data() + row * t.ld;
  for (uint64_t c = 0; c < x.cols; ++c) {
    const double keep = 1 / (1 + std::exp(-gates[c]));
    cell[c] = keep * cell[c] + (1 - keep) * gates[x.ld + c];
    values.at(node.inputs[kX]).f[row * x.ld + c] += std::max(cell[c], 0.0);
  }
}

// Each row as a step of its own.
void step_reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<RecurrentCellAttributes>();
  const uint64_t ld = g.tensor(node.inputs[kX]).ld;
  const auto& step = values.at(node.inputs[kStep]).u;
  const auto& lineage = values.at(node.inputs[kLineage]).u;
  double* cells = values.at(node.inputs[kCells]).f.data();
  for (uint32_t r = 0; r < step[state::STEP_LIVE]; ++r) {
    const uint32_t word = step[state::STEP_ROWS + r], slot = state::beam_slot_of(word), at = state::position_of(word);
    std::vector<double> cell(ld, 0.0);
    if (at > 0) {
      const uint64_t parent =
          lineage[state::lineage_word(at & 1, state::LINEAGE_ANCESTRY, slot, at - 1, a.beam_slots, a.positions)];
      std::copy_n(cells + (uint64_t{(at - 1) & 1} * a.beam_slots + parent) * ld, ld, cell.begin());
    }
    run_row(g, node, r, cell.data(), values);
    std::ranges::copy(cell, cells + (uint64_t{at & 1} * a.beam_slots + slot) * ld);
  }
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<RecurrentCellAttributes>();
  if (in_step(a)) return step_reference(g, node, values);
  const auto& x = g.tensor(node.inputs[kX]);
  std::vector<double> cell(x.ld);
  for (uint64_t r = 0; r < x.rows; ++r) {
    if (r % a.run == 0) std::ranges::fill(cell, 0.0);
    run_row(g, node, r, cell.data(), values);
  }
}

struct Tensors {
  graph::TensorId x, gates;
};
Tensors add_rows(OpCase& c, uint64_t rows, uint32_t d) {
  const Tensors t{c.graph.activation("x", rows, d), c.graph.activation("gates", rows, cell_columns(d))};
  c.prepare = [t, d](OpCase& into) {
    CaseRandom random(into.graph.tensor(t.x).rows * 131 + d);
    into.inputs.emplace_back(t.x, random_values(into.graph.tensor(t.x), random, 2));
    HostTensor gates = random_values(into.graph.tensor(t.gates), random, 3);
    const auto& of = into.graph.tensor(t.gates);
    for (uint64_t r = 0; r < of.rows; ++r)
      for (uint64_t i = d; i < cell_values(d); ++i) gates.f[r * of.ld + i] = 0;
    into.inputs.emplace_back(t.gates, std::move(gates));
  };
  return t;
}

OpCase sentences_case(uint32_t sentences, uint32_t run, uint32_t d) {
  OpCase c;
  c.name = format("%u sentences of %u, %u columns", sentences, run, d);
  const Tensors t = add_rows(c, uint64_t{sentences} * run, d);
  ops::recurrent_cell(c.graph, c.name, {t.x, t.gates}, {RowLayout::batch, run});
  return c;
}

// Rows of a step or of prompts.
struct StepCase {
  const char* name;
  std::vector<uint32_t> positions, beam_slots;  // by row
  uint32_t live, d, slots, room;
  bool prompts = false;
};

// Rows of a step come from other beam slots, those of prompts from their own, but for the first ones, whose slots
// nothing writes.
HostTensor lineage_values(const StepCase& s) {
  HostTensor lineage;
  lineage.u.assign(state::lineage_words(s.slots, s.room), 0);
  for (uint32_t parity = 0; parity < 2; ++parity)
    for (uint32_t slot = 0; slot < s.slots; ++slot)
      for (uint32_t at = 0; at < s.room; ++at)
        lineage.u[state::lineage_word(parity, state::LINEAGE_ANCESTRY, slot, at, s.slots, s.room)] =
            s.prompts ? (slot + 1) % s.slots : (slot * 5 + 3) % s.slots;
  for (size_t r = 1; r < s.positions.size(); ++r)
    if (s.beam_slots[r] == s.beam_slots[r - 1])
      lineage.u[state::lineage_word(s.positions[r] & 1, state::LINEAGE_ANCESTRY, s.beam_slots[r], s.positions[r] - 1,
                                    s.slots, s.room)] = s.beam_slots[r];
  return lineage;
}

OpCase step_case(const StepCase& s) {
  OpCase c;
  c.name = format("%s, %u of %u rows, %u columns", s.name, s.live, s.positions.size(), s.d);
  const Tensors t = add_rows(c, s.positions.size(), s.d);
  c.graph.tensor(t.x).live_rows = true;
  graph::Tensor cells;
  cells.name = "cells";
  cells.space = graph::Space::state;
  cells.id = state_id(StateKind::cells);
  cells.rows = uint64_t{2} * s.slots;
  cells.cols = s.d;
  cells.ld = cell_values(s.d);
  const auto state = c.graph.add_tensor(cells);
  const auto lineage =
      add_state(c.graph, "lineage", StateKind::lineage, state::lineage_words(s.slots, s.room), graph::DType::u32);
  const auto step = add_step(c.graph);
  c.inputs.emplace_back(step, step_values(s.positions, s.live, s.beam_slots));
  ops::recurrent_cell(c.graph, c.name, {t.x, t.gates, state, lineage, step}, {RowLayout::step, 1, s.slots, s.room});
  c.live_rows = s.live;
  c.prepare = [s, state, lineage, rows = c.prepare](OpCase& into) {
    rows(into);
    CaseRandom random(s.d * 7 + s.slots);
    into.inputs.emplace_back(state, random_values(into.graph.tensor(state), random, 2));
    into.inputs.emplace_back(lineage, lineage_values(s));
  };
  return c;
}

// Rows of prompts that run at once: so many of each slot, from these positions on.
StepCase prompts(const char* name, std::vector<std::pair<uint32_t, uint32_t>> from_and_count, uint32_t d) {
  StepCase s{name, {}, {}, 0, d, 7, 300, true};
  for (uint32_t i = 0; i < from_and_count.size(); ++i)
    for (uint32_t r = 0; r < from_and_count[i].second; ++r) {
      s.positions.push_back(from_and_count[i].first + r);
      s.beam_slots.push_back(i * 2);
    }
  s.live = static_cast<uint32_t>(s.positions.size());
  return s;
}

std::vector<OpCase> cases() {
  std::vector<OpCase> all;
  all.push_back(sentences_case(1, 1, 1));
  all.push_back(sentences_case(3, 5, 7));
  all.push_back(sentences_case(2, 64, 36));
  all.push_back(sentences_case(5, 13, 260));
  all.push_back(sentences_case(30, 40, 64));  // sliced on devices with small bindings
  all.push_back(step_case({"first step", {0}, {0}, 1, 5, 1, 4}));
  all.push_back(step_case({"step", {6, 6, 6, 4, 4, 4}, {0, 1, 2, 3, 4, 5}, 6, 64, 6, 9}));
  all.push_back(step_case({"step", {6, 6, 6, 4, 4, 4}, {0, 1, 2, 3, 4, 5}, 3, 33, 6, 9}));
  all.push_back(step_case({"step, nothing runs", {4, 4}, {0, 1}, 0, 8, 2, 6}));
  all.push_back(step_case({"step of wide rows", {6, 4, 0, 2}, {3, 2, 1, 0}, 4, 1031, 5, 9}));
  all.push_back(step_case(prompts("prompts", {{0, 5}, {3, 4}, {7, 1}}, 20)));
  all.push_back(step_case(prompts("prompt, a row", {{0, 1}}, 4)));
  all.push_back(step_case(prompts("a long prompt", {{0, 250}}, 64)));
  auto few = prompts("prompts that end early", {{0, 5}, {2, 6}}, 12);
  few.live = 8;
  all.push_back(step_case(few));
  return all;
}

constexpr OpDef op{"recurrent_cell", infer, only_variant<Tuned::unfold, "four columns of a run">, lower,
                   reference,        cases};

}  // namespace
}  // namespace recurrent_cell_impl

constinit const OpDef recurrent_cell_op = recurrent_cell_impl::op;

graph::TensorId ops::recurrent_cell(graph::Graph& g, const std::string& label, const RecurrentCellOperands& o,
                                    const RecurrentCellAttributes& attributes) {
  const auto y = g.updated(label, o.x);
  std::vector<graph::TensorId> inputs{o.x, o.gates}, outputs{y};
  if (attributes.layout == RowLayout::step) {
    inputs.insert(inputs.end(), {o.cells, o.lineage, o.step});
    outputs.push_back(o.cells);
  }
  g.add_node({&recurrent_cell_op, label, std::move(inputs), std::move(outputs), graph::Attributes(attributes)});
  return y;
}

}  // namespace lapilli
