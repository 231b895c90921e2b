// "advance": see search.hpp.
#include <algorithm>

#include "ops/core/registry.hpp"
#include "ops/search/search_util.hpp"

namespace lapilli {
namespace advance_impl {
namespace {

struct Push {
  LAPILLI_PUSH(uint32_t groups, positions, beams, slots, rows, log_rows, ticks, counts;)
};

enum Input : size_t { kStep, kSearch, kLog, kGrids, kInputs };

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<AdvanceAttributes>();
  if (node.inputs.size() != kInputs || node.outputs.size() != kInputs) return node_error(node, "operands are missing");
  ops::SearchTensors state;
  state.step = node.inputs[kStep];
  state.search = node.inputs[kSearch];
  state.log = node.inputs[kLog];
  state.grids = node.inputs[kGrids];
  if (a.rows < a.shape.beams || a.rows > a.shape.rows)
    return node_error(node, "%u rows of %u beams; the log has %u", a.rows, a.shape.beams, a.shape.rows);
  return search::expect_state(g, node, state, a.shape);
}

std::vector<Variant> variants(const Capabilities&, const graph::Graph&, const graph::Node&) { return {{0, "floor"}}; }

Status lower(const LowerContext& context, const graph::Node& node, Variant, std::vector<Dispatch>& out) {
  const auto a = node.attributes.as<AdvanceAttributes>();
  const SearchShape& s = a.shape;
  using graph::Access;
  LAPILLI_TRY(const auto step, bind_whole(context, 0, node.inputs[kStep], Access::read_write));
  LAPILLI_TRY(const auto search, bind_whole(context, 1, node.inputs[kSearch], Access::read_write));
  LAPILLI_TRY(auto log, bind_whole(context, 2, node.inputs[kLog], Access::write));
  log.step_stride = state::log_stride(s.rows) * 4;
  log.used = a.counts != 0;
  LAPILLI_TRY(const auto grids, bind_whole(context, 3, node.inputs[kGrids], Access::read_write));
  Dispatch d;
  d.shader = ShaderId::advance;
  d.operands = {step, search, log, grids};
  d.set_push(Push{1, s.positions, s.beams, s.slots, a.rows, s.rows, s.ticks, a.counts});
  d.cost = s.beam_slots + 64.0;
  out.push_back(std::move(d));
  return {};
}

class Advance {
 public:
  Advance(const graph::Node& node, HostTensors& values)
      : a_(node.attributes.as<AdvanceAttributes>()),
        step_(values.at(node.inputs[kStep]).u),
        search_(values.at(node.inputs[kSearch]).u),
        log_(values.at(node.inputs[kLog]).u),
        grids_(values.at(node.inputs[kGrids]).u) {}

  void run() {
    const uint32_t ran = step_[state::STEP_LIVE];
    std::vector<uint32_t> slots;
    uint32_t held = 0;
    for (uint32_t p = 0; p < a_.shape.slots; ++p) {
      if (status(p) != SentenceStatus::running && status(p) != SentenceStatus::full) continue;
      if (status(p) == SentenceStatus::running) word(p, state::SEARCH_POSITION) += a_.counts;
      if (go_on(p))
        slots.push_back(p);
      else
        ++held;
    }
    const uint32_t queued = step_[state::STEP_QUEUED] + step_[state::STEP_ADMITTED];
    uint32_t& started = step_[state::STEP_STARTED];
    for (; started != queued && slots.size() + held < a_.rows / a_.shape.beams; ++started) {
      const uint32_t p = step_[state::step_queue_word(started)];
      if (p >= a_.shape.slots || status(p) != SentenceStatus::waiting) continue;
      if (go_on(p))
        slots.push_back(p);
      else
        ++held;
    }
    step_[state::STEP_QUEUED] = queued;
    step_[state::STEP_ADMITTED] = 0;
    pack(slots);
    if (a_.counts != 0) count(ran);
  }

 private:
  uint32_t& word(uint32_t slot, uint32_t i) { return search_[state::search_record(slot, a_.shape.beams) + i]; }
  SentenceStatus status(uint32_t slot) { return static_cast<SentenceStatus>(word(slot, state::SEARCH_STATUS)); }
  bool go_on(uint32_t slot) {
    const bool room = word(slot, state::SEARCH_POSITION) + 1 < a_.shape.positions;
    word(slot, state::SEARCH_STATUS) = static_cast<uint32_t>(room ? SentenceStatus::running : SentenceStatus::full);
    return room;
  }
  void pack(const std::vector<uint32_t>& slots) {
    uint32_t row = 0;
    for (const uint32_t p : slots)
      for (uint32_t b = 0; b < a_.shape.beams; ++b)
        step_[state::STEP_ROWS + row++] = state::row_word_of(p * a_.shape.beams + b, word(p, state::SEARCH_POSITION));
    step_[state::STEP_LIVE] = row;
    for (uint32_t i = 0; i < state::MAX_GRIDS; ++i) search::write_grid(grids_, uint64_t{i} * state::GRID_STRIDE, row);
  }
  void count(uint32_t ran) {
    const uint32_t tick = step_[state::STEP_TICK]++;
    const uint32_t header[] = {step_[state::STEP_LIVE], ran, tick, step_[state::STEP_MARK]};
    std::copy(std::begin(header), std::end(header),
              log_.begin() + static_cast<std::ptrdiff_t>(state::log_row_at(tick, a_.shape.ticks, a_.shape.rows)));
  }

  AdvanceAttributes a_;
  std::vector<uint32_t>&step_, &search_, &log_, &grids_;
};

void reference(const graph::Graph&, const graph::Node& node, HostTensors& values) { Advance(node, values).run(); }

// ---- cases --------------------------------------------------------------------------------------------------------

struct Build {
  SearchShape shape;
  std::vector<std::pair<SentenceStatus, uint32_t>> slots = {};  // status and position of the first slots
  std::vector<uint32_t> queue = {};                             // slots
  uint32_t rows = 0;                                            // of the plan; 0: the log's
  uint32_t counts = 1;
  uint32_t before = 40;  // slots that already left the queue
  uint32_t admitted = 0;
};

OpCase make_case(const std::string& name, const Build& b) {
  search::StateCase c(name, b.shape);
  c.set_step(3, 5);
  for (uint32_t p = 0; p < b.shape.slots; ++p) {
    const auto [status, position] = p < b.slots.size() ? b.slots[p] : std::pair{SentenceStatus::none, 0u};
    c.param(p, state::SEARCH_STATUS) = static_cast<uint32_t>(status);
    c.param(p, state::SEARCH_POSITION) = position;
  }
  c.step[state::STEP_STARTED] = b.before;
  c.step[state::STEP_QUEUED] = b.before + static_cast<uint32_t>(b.queue.size()) - b.admitted;
  c.step[state::STEP_ADMITTED] = b.admitted;
  for (uint32_t i = 0; i < b.queue.size(); ++i)
    c.step[state::STEP_QUEUE + (b.before + i) % state::MAX_ROWS] = b.queue[i];
  for (uint32_t i = 0; i < state::MAX_GRIDS; ++i) {
    const uint32_t tiles[] = {1, 16, 0, 509, 70000}, rows[] = {1, 8, 4, 3}, most[] = {65535, 7, 0};
    c.grids[i * state::GRID_STRIDE + state::GRID_GROUPS_PER_TILE] = tiles[i % 5];
    c.grids[i * state::GRID_STRIDE + state::GRID_ROWS_PER_TILE] = rows[(i / 2) % 4];
    c.grids[i * state::GRID_STRIDE + state::GRID_MAX_X] = most[i % 3];
    c.grids[i * state::GRID_STRIDE + state::GRID_ARGUMENTS] = 999;
  }
  ops::advance(c.op_case.graph, c.tensors, {b.shape, b.rows ? b.rows : b.shape.rows, b.counts});
  return c.finish();
}

std::vector<OpCase> cases() {
  using enum SentenceStatus;
  std::vector<OpCase> all;
  all.push_back(make_case("one greedy", {{1, 16, 1, 1, 1, 8}, {{running, 0}}}));
  all.push_back(make_case(
      "some have ended",
      {{28, 16, 4, 7, 28, 8}, {{ended, 3}, {running, 3}, {running, 9}, {ended, 1}, {none, 0}, {running, 0}}}));
  all.push_back(make_case("all have ended", {{12, 16, 4, 3, 12, 8}, {{ended, 5}, {ended, 6}, {ended, 7}}}));
  all.push_back(make_case("full", {{12, 16, 4, 3, 12, 8}, {{running, 14}, {running, 13}, {full, 15}}}));
  all.push_back(make_case("room for those that were full",
                          {{12, 32, 4, 3, 12, 8}, {{full, 15}, {running, 13}, {ended, 3}}, {}, 0, 0}));
  all.push_back(make_case(
      "others start",
      {{32, 16, 4, 8, 16, 8},
       {{ended, 3}, {running, 3}, {waiting, 2}, {ended, 4}, {waiting, 0}, {waiting, 1}, {running, 9}, {waiting, 0}},
       {7, 2, 5, 4}}));
  all.push_back(make_case(
      "fewer start than wait, in a narrow plan",
      {{32, 16, 4, 8, 32, 8}, {{running, 3}, {waiting, 2}, {full, 15}, {waiting, 0}, {waiting, 1}}, {4, 3, 1}, 12}));
  all.push_back(
      make_case("left and taken again while queued",
                {{8, 16, 1, 8, 8, 8}, {{waiting, 2}, {none, 0}, {running, 4}, {waiting, 0}}, {1, 0, 2, 0, 3}}));
  all.push_back(
      make_case("admitted", {{8, 16, 2, 4, 4, 8}, {{waiting, 0}, {waiting, 5}, {waiting, 0}}, {0, 1, 2}, 0, 0, 40, 3}));
  all.push_back(make_case("starts without room", {{4, 16, 2, 2, 4, 8}, {{waiting, 15}, {waiting, 3}}, {0, 1}}));
  all.push_back(
      make_case("most beams", {{96, 8, state::MAX_BEAMS, 3, 96, 8}, {{running, 1}, {ended, 1}, {running, 2}}}));
  // Counters that wrap partway.
  all.push_back(make_case("counters wrap", {{8, 16, 1, 8, 8, 8},
                                            {{waiting, 2}, {waiting, 0}, {running, 4}, {waiting, 0}},
                                            {1, 0, 3},
                                            0,
                                            1,
                                            ~uint32_t{0} - 1,
                                            1}));
  {
    Build b{{state::MAX_ROWS, 8, 1, state::MAX_ROWS, state::MAX_ROWS, 8}};
    for (uint32_t s = 0; s < state::MAX_ROWS; ++s)
      b.slots.emplace_back(s % 3 == 1 || s > 1000 ? ended : running, s % 5);
    all.push_back(make_case("most rows", b));
    for (uint32_t s = 0; s < state::MAX_ROWS; ++s) {
      b.slots[s] = {waiting, s % 4};
      b.queue.push_back((s * 7) % state::MAX_ROWS);
    }
    all.push_back(make_case("most start", b));
  }
  {
    auto c = make_case("the tick wraps", {{2, 16, 1, 2, 2, 8}, {{running, 0}, {running, 7}}});
    for (auto& [id, value] : c.inputs)
      if (c.graph.tensor(id).name == "step") value.u[state::STEP_TICK] = ~uint32_t{0};
    all.push_back(std::move(c));
  }
  return all;
}

constexpr OpDef op{"advance", infer, variants, lower, reference, cases};

}  // namespace
}  // namespace advance_impl

constinit const OpDef advance_op = advance_impl::op;

void ops::advance(graph::Graph& g, const SearchTensors& state, const AdvanceAttributes& attributes) {
  g.add_node({&advance_op,
              attributes.counts ? "advance" : "start",
              {state.step, state.search, state.log, state.grids},
              {state.step, state.search, state.log, state.grids},
              graph::Attributes(attributes)});
}

}  // namespace lapilli
