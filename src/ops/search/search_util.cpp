#include "ops/search/search_util.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lapilli::search {

float length_divisor(uint32_t n, float penalty) {
  return static_cast<float>(std::pow(static_cast<double>(n), static_cast<double>(penalty)));
}

uint32_t slice_columns(uint64_t columns) {
  constexpr uint64_t most = 4096;
  const uint64_t slices = std::max<uint64_t>(1, div_up(columns, most));
  return static_cast<uint32_t>(round_up<uint64_t>(div_up(columns, slices), 4));
}

std::vector<Candidate> best_columns(const double* row, uint64_t begin, uint64_t end, uint32_t k) {
  std::vector<Candidate> all;
  for (uint64_t c = begin; c < end; ++c)
    all.push_back({static_cast<float>(unless_forbidden(row[c])), static_cast<uint32_t>(c)});
  const auto before = [](const Candidate& a, const Candidate& b) {
    return a.score > b.score || (a.score == b.score && a.id < b.id);
  };
  const auto kept = std::min<size_t>(k, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), before);
  all.resize(k);
  std::fill(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(), Candidate{});
  return all;
}

double Draws::number(uint32_t row, uint32_t id) const {
  const uint32_t beam_slot = step_.beam_slot(row);
  const ParamView p(search_, beam_slot, beams_);
  const draw::Place place{(uint64_t{p[state::P_SEED + 1]} << 32) | p[state::P_SEED], step_.position(row),
                          p[state::P_SEQUENCE], beam_slot % beams_};
  return draw::gumbel_at(place, id);
}

bool ParamView::is_end(uint32_t id) const {
  for (uint32_t i = 0; i < words_[state::P_END_COUNT]; ++i)
    if (words_[state::P_END_IDS + i] == id) return true;
  return false;
}

uint64_t log_entry(const SearchShape& shape, uint32_t tick, uint64_t row) {
  return state::log_row_at(tick, shape.ticks, shape.rows) + state::log_entry_at(row);
}

void write_grid(std::span<uint32_t> words, uint64_t at, uint32_t live) {
  const uint64_t per_tile = words[at + state::GRID_GROUPS_PER_TILE];
  if (per_tile == 0) return;  // unused grid
  const uint64_t total = per_tile * div_up<uint64_t>(live, std::max(words[at + state::GRID_ROWS_PER_TILE], 1u));
  const uint64_t limit = words[at + state::GRID_MAX_X] == 0 ? 65535 : words[at + state::GRID_MAX_X];
  const uint64_t x = std::min(total, limit);
  const uint64_t y = total == 0 ? 0 : std::min(div_up(total, x), limit);
  const uint64_t z = total == 0 ? 0 : div_up(div_up(total, x), y);
  words[at + state::GRID_ARGUMENTS] = static_cast<uint32_t>(x);
  words[at + state::GRID_ARGUMENTS + 1] = static_cast<uint32_t>(y);
  words[at + state::GRID_ARGUMENTS + 2] = static_cast<uint32_t>(z);
  words[at + state::GRID_ARGUMENTS + 3] = 0;
}

Status expect_state(const graph::Graph& g, const graph::Node& node, const ops::SearchTensors& state,
                    const SearchShape& shape) {
  if (shape.beams == 0 || shape.beams > state::MAX_BEAMS)
    return node_error(node, "%u beams; 1 to %u are supported", shape.beams, state::MAX_BEAMS);
  if (shape.slots == 0 || shape.positions < 2 || shape.beam_slots != uint64_t{shape.slots} * shape.beams ||
      shape.beam_slots > state::MAX_ROWS)
    return node_error(node,
                      "%u slots of %u beams in %u beam slots with %u positions; at most %u beam slots are supported",
                      shape.slots, shape.beams, shape.beam_slots, shape.positions, state::MAX_ROWS);
  if (shape.rows == 0 || shape.rows > shape.beam_slots || !std::has_single_bit(shape.ticks))
    return node_error(node, "%u rows in %u beam slots, and a log of %u ticks, which is no power of two", shape.rows,
                      shape.beam_slots, shape.ticks);
  const std::tuple<graph::TensorId, const char*, uint64_t> wanted[] = {
      {state.step, "step", state::STEP_WORDS},
      {state.lineage, "lineage", state::lineage_words(shape.beam_slots, shape.positions)},
      {state.search, "search", state::search_record(shape.slots, shape.beams)},
      {state.log, "log", shape.ticks * state::log_stride(shape.rows)},
      {state.lists, "lists", 1},
      {state.inbox, "inbox", state::INBOX_HEADER},
      {state.lengths, "lengths", 2 * uint64_t{shape.slots}},
      {state.grids, "grids", uint64_t{state::MAX_GRIDS} * state::GRID_STRIDE}};
  for (const auto& [id, role, words] : wanted)
    if (id != graph::kNone) LAPILLI_CHECK(expect_words(g, node, id, role, words));
  return {};
}

// ---- cases --------------------------------------------------------------------------------------------------------

StateCase::StateCase(const std::string& name, const SearchShape& of, uint32_t list_words) : shape(of) {
  op_case.name = name;
  auto& g = op_case.graph;
  const auto words = [&](const char* what, StateKind kind, uint64_t n) {
    return add_state(g, what, kind, n, graph::DType::u32);
  };
  tensors.step = add_step(g);
  if (shape.rows == 0) shape.rows = shape.beam_slots;
  if (shape.ticks == 0) shape.ticks = 8;
  const uint64_t searches = state::search_record(shape.slots, shape.beams);
  const uint64_t logs = shape.ticks * state::log_stride(shape.rows);
  tensors.lineage = words("lineage", StateKind::lineage, state::lineage_words(shape.beam_slots, shape.positions));
  tensors.search = words("search", StateKind::search, searches);
  tensors.log = words("log", StateKind::log, logs);
  tensors.lists = words("lists", StateKind::lists, list_words);
  tensors.grids = words("grids", StateKind::grids, uint64_t{state::MAX_GRIDS} * state::GRID_STRIDE);
  tensors.inbox = words("inbox", StateKind::inbox, list_words);
  tensors.lengths = add_lengths(g);
  inbox.assign(list_words, 0);
  lengths.assign(2 * state::MAX_ROWS, 0);
  lineage.assign(state::lineage_words(shape.beam_slots, shape.positions), 7);
  search.assign(searches, 0);
  log.assign(logs, 11);
  lists.assign(list_words, 0);
  grids.assign(uint64_t{state::MAX_GRIDS} * state::GRID_STRIDE, 0);
  set_step(0, shape.beam_slots);

  fresh_search();
  set_param(state::P_MARK, 0x5151u);
  set_param(state::P_MAX_LENGTH, shape.positions);
  set_param(state::P_PREFIX, 1);
  for (const uint32_t w : {state::P_LENGTH_PENALTY, state::P_REPETITION_PENALTY, state::P_ENCODER_REPETITION_PENALTY,
                           state::P_DECAY_FACTOR, state::P_TEMPERATURE, state::P_TOP_P, state::P_TYPICAL_P})
    set_param(w, 1.0f);
  set_param(state::P_PAD, 1);
  set_ends({2});
}

void StateCase::set_step(uint32_t t, uint32_t live, const std::vector<uint32_t>& beam_slots) {
  step = step_values({t}, live, beam_slots).u;
}

void StateCase::set_ends(const std::vector<uint32_t>& ids) {
  set_param(state::P_END_COUNT, static_cast<uint32_t>(ids.size()));
  for (uint32_t i = 0; i < ids.size(); ++i) set_param(state::P_END_IDS + i, ids[i]);
}

void StateCase::random_lineage(uint32_t t, uint32_t vocabulary, CaseRandom& random) {
  const uint32_t end = std::min(t + 1, shape.positions);  // a case may be at the end of the capacity
  for (uint32_t beam_slot = 0; beam_slot < shape.beam_slots; ++beam_slot)
    for (uint32_t position = 0; position < end; ++position) {
      const uint32_t ancestor = beam_slot / shape.beams * shape.beams + random.below(shape.beams);
      const uint32_t token = random.below(vocabulary);
      for (const uint32_t parity : {0u, 1u}) {
        lineage[state::lineage_word(parity, state::LINEAGE_ANCESTRY, beam_slot, position, shape.beam_slots,
                                    shape.positions)] = ancestor;
        lineage[state::lineage_word(parity, state::LINEAGE_TOKENS, beam_slot, position, shape.beam_slots,
                                    shape.positions)] = token;
      }
    }
}

void StateCase::fresh_search() {
  for (uint32_t s = 0; s < shape.slots; ++s) {
    for (uint32_t w = state::PARAM_WORDS; w < state::search_stride(shape.beams); ++w) search[search_word(s, w)] = 0;
    param(s, state::SEARCH_STATUS) = static_cast<uint32_t>(SentenceStatus::running);
    for (uint32_t b = 0; b < shape.beams; ++b) {
      search[search_word(s, state::search_running(b))] = as_word(b == 0 ? 0.0f : state::NO_SCORE);
      search[search_word(s, state::search_finished_entry(shape.beams, b))] = as_word(state::NO_SCORE);
    }
  }
}

OpCase StateCase::finish() {
  const std::pair<graph::TensorId, const std::vector<uint32_t>*> all[] = {
      {tensors.step, &step},   {tensors.lineage, &lineage}, {tensors.search, &search}, {tensors.log, &log},
      {tensors.lists, &lists}, {tensors.grids, &grids},     {tensors.inbox, &inbox},   {tensors.lengths, &lengths}};
  for (const auto& [id, words] : all)
    if (is_read(op_case.graph, op_case.graph.node(0), id)) op_case.inputs.emplace_back(id, words_of(*words));
  const uint32_t beams = shape.beams;
  const uint64_t log_stride = state::log_stride(shape.rows);
  op_case.float_word = [search_id = tensors.search, log_id = tensors.log, beams, log_stride](graph::TensorId id,
                                                                                             uint64_t word) {
    if (id == log_id) {
      const uint64_t in_row = word % log_stride;
      if (in_row < state::LOG_HEADER) return false;
      const uint64_t in_entry = (in_row - state::LOG_HEADER) % state::LOG_ENTRY;
      return in_entry == state::LOG_RUNNING || in_entry == state::LOG_FINISHED;
    }
    if (id != search_id) return false;
    const auto w = static_cast<uint32_t>(word % state::search_stride(beams));
    if (w < state::SEARCH_HEADER) return false;
    const uint32_t finished = state::search_finished_entry(beams, 0);
    return w < finished || (w - finished) % state::FINISHED_WORDS == state::FINISHED_SCORE;
  };
  return op_case;
}

}  // namespace lapilli::search
