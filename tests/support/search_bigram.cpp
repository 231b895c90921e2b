// Whole searches on scores from a table.
#include <bit>
#include <cmath>

#include "ops/core/case_util.hpp"
#include "ops/products/embed.hpp"
#include "runtime/check/interpreter.hpp"
#include "runtime/run/session.hpp"
#include "search/inbox.hpp"
#include "search/trace_back.hpp"
#include "support/search_graph.hpp"
#include "support/search_records.hpp"

namespace lapilli::search_records {
namespace {

using nlohmann::json;

constexpr uint32_t kTable = 0, kSteps = 1;  // weights
constexpr uint32_t kMark = 41;              // of the session

ops::SearchTensors search_of(graph::Graph& g, const Bigram& b) {
  return add_search(g, b.shape, b.list_words, b.inbox.size());
}

graph::Graph admit_graph(const Bigram& b) {
  graph::Graph g;
  ops::admit(g, search_of(g, b), {b.shape, b.shape.slots});
  return g;
}

graph::Graph start_graph(const Bigram& b) {
  graph::Graph g;
  ops::advance(g, search_of(g, b), {b.shape, b.shape.rows, 0});
  return g;
}

graph::Graph step_graph(const Bigram& b) {
  graph::Graph g;
  const auto s = search_of(g, b);
  const auto weight = [&](const char* name, uint32_t id, uint64_t rows, uint64_t columns) {
    graph::Tensor t;
    t.name = name;
    t.rows = rows;
    t.cols = columns;
    t.ld = rows == 1 ? columns : round_up<uint64_t>(columns, 4);
    t.space = graph::Space::weight;
    t.id = id;
    return g.add_tensor(std::move(t));
  };
  EmbedAttributes e;
  e.vocabulary = e.d = b.vocabulary;
  e.layout = RowLayout::step;
  e.lineage_beam_slots = b.shape.beam_slots;
  e.lineage_positions = b.shape.positions;
  auto x = ops::embed(g, "scores",
                      {s.lineage, weight("table", kTable, 1, WeightLayout(b.vocabulary, b.vocabulary).words()),
                       weight("steps", kSteps, b.steps.rows, b.vocabulary), s.step, b.shape.rows},
                      e);
  if (b.shape.beams > 1) x = ops::log_softmax(g, "log_softmax", x, s.step);
  x = ops::processors(g, "processors", x, s, {b.shape});
  const uint32_t drawn = b.options.sample ? 1 : 0, k = b.options.candidates();
  if (drawn) x = ops::warp(g, "warp", x, s, {b.shape.beams});
  if (b.options.renormalize) x = ops::log_softmax(g, "renormalize", x, s.step);
  if (b.shape.beams > 1) {
    const auto candidates =
        drawn ? ops::draw_k(g, "draw_k", x, s, {k, 0, b.shape.beams}) : ops::top_k(g, "top_k", x, s.step, k);
    ops::beam_step(g, "beam_step", candidates, s, {b.shape, k, 1, drawn});
  } else {
    const auto best = drawn ? ops::draw_one(g, "draw_one", x, s) : ops::argmax(g, "argmax", x, s.step);
    ops::greedy_step(g, "greedy_step", best, s, {b.shape, 1, 1, drawn});
  }
  ops::advance(g, s, {b.shape, b.shape.rows, 1});
  return g;
}

std::vector<float> packed_table(const Bigram& b) {
  std::vector<float> all(WeightLayout(b.vocabulary, b.vocabulary).words(), 0.0f);
  for (uint32_t id = 0; id < b.vocabulary; ++id)
    for (uint32_t k = 0; k < b.vocabulary; ++k)
      all[WeightLayout(b.vocabulary, b.vocabulary).word(id, k)] = b.table.values[uint64_t{id} * b.vocabulary + k];
  return all;
}

std::vector<float> padded_steps(const Bigram& b) {
  const uint64_t ld = round_up<uint64_t>(b.vocabulary, 4);
  std::vector<float> all(b.steps.rows * ld, 0.0f);
  for (uint64_t i = 0; i < b.steps.values.size(); ++i)
    all[i / b.vocabulary * ld + i % b.vocabulary] = b.steps.values[i];
  return all;
}

}  // namespace

// The prompt ids' scores are what the table has for the last of them: nothing is computed for those before.
void finish(Bigram& b) {
  // Room for one sentence more than there are, and for some more ids.
  const auto sentences = static_cast<uint32_t>(b.prompts.size());
  const uint32_t slots = sentences + 1, positions = b.options.max_length + 2;
  b.shape = {slots * b.options.beams, positions, b.options.beams, slots, sentences * b.options.beams,
             std::bit_ceil(positions)};
  b.sentences.clear();
  InboxRoom room{slots, 0, 0, 0};
  for (uint32_t i = 0; i < sentences; ++i) {
    Sentence& s = b.sentences.emplace_back();
    s.source = s.prompt = b.prompts[i];
    s.options = b.options;
    s.words = encode_options(b.options, static_cast<uint32_t>(s.prompt.size()), s.source, i);
    s.mark = i + 1;
    s.log.beams = b.options.beams;
    s.log.prompt_ids = static_cast<uint32_t>(s.prompt.size());
    room.prompt_ids += s.log.prompt_ids;
    room.list_words += static_cast<uint32_t>(s.words.lists.size());
  }
  b.list_words = room.list_words;
  b.inbox.assign(inbox_words(room), 0);
  InboxWriter inbox(b.inbox, slots);
  uint32_t lists = 0;
  for (uint32_t i = 0; i < sentences; ++i) {
    inbox.enter(b.sentences[i], i, lists, true);
    lists += static_cast<uint32_t>(b.sentences[i].words.lists.size());
  }
  inbox.finish(kMark, {});
}

Result<Bigram> make_bigram(const Recorded& recorded, const json& c) {
  Bigram b;
  b.vocabulary = recorded.info.at("vocab_size");
  LAPILLI_TRY(b.prompts, recorded.ids(c.at("inputs").at("input_ids")));
  LAPILLI_TRY(b.options, options_of(recorded, c.at("args"), static_cast<uint32_t>(b.prompts.at(0).size())));
  LAPILLI_TRY(b.table, recorded.matrix("table"));
  LAPILLI_TRY(b.steps, recorded.matrix("steps"));
  finish(b);
  if (b.table.rows != b.vocabulary || b.table.columns != b.vocabulary || b.steps.columns != b.vocabulary)
    return fail(ErrorCode::invalid_data, "table or steps do not fit the vocabulary of %u", b.vocabulary);
  return b;
}

SearchEnd interpret(const Bigram& b) {
  Interpreter run;
  const auto widen = [](const std::vector<float>& v) {
    HostTensor t;
    t.f.assign(v.begin(), v.end());
    return t;
  };
  run.weights[kTable] = widen(packed_table(b));
  run.weights[kSteps] = widen(padded_steps(b));
  run.states[state_id(StateKind::inbox)] = words_of(b.inbox);
  run.run(admit_graph(b));
  run.run(start_graph(b));
  const auto graph = step_graph(b);
  for (uint32_t t = 0; t < b.shape.ticks; ++t) run.run(graph);  // longer than needed
  return {run.states[state_id(StateKind::step)].u, run.states[state_id(StateKind::search)].u,
          run.states[state_id(StateKind::log)].u};
}

// Several steps a submission, also behind the end.
Result<SearchEnd> run_on(const std::shared_ptr<vulkan::Device>& device, const Bigram& b) {
  LAPILLI_TRY(const auto admit, compile(admit_graph(b), device->caps()));
  LAPILLI_TRY(const auto start, compile(start_graph(b), device->caps()));
  LAPILLI_TRY(const auto step, compile(step_graph(b), device->caps()));
  LAPILLI_TRY(auto session, Session::create(device));
  session->require(*admit);
  session->require(*step);
  LAPILLI_CHECK(session->allocate());
  std::vector<vulkan::Buffer> weights(2);
  const std::vector<float> values[] = {packed_table(b), padded_steps(b)};
  for (size_t i = 0; i < 2; ++i) {
    LAPILLI_TRY(weights[i], device->make_buffer(values[i].size() * 4, vulkan::MemoryUse::device, "weight"));
    LAPILLI_CHECK(device->write(weights[i], 0, std::as_bytes(std::span(values[i]))));
  }
  const auto memory = session->memory([&](graph::Space, uint32_t id) {
    return BufferRef{&weights[id], 0, weights[id].size()};
  });
  LAPILLI_CHECK(session->write(StateKind::grids, grid_words(step->grids, step->max_group_x)));
  LAPILLI_CHECK(session->write(StateKind::inbox, b.inbox));
  for (const StateKind kind : {StateKind::step, StateKind::search})
    LAPILLI_CHECK(device->zero(*session->state(kind).buffer));
  constexpr uint32_t at_once = 4;
  LAPILLI_TRY(const auto admission, BoundPlan::bind(device, admit, memory));
  LAPILLI_TRY(const auto first, BoundPlan::bind(device, start, memory));
  LAPILLI_TRY(const auto steps, BoundPlan::bind(device, step, memory, {.repeats = at_once}));
  LAPILLI_CHECK(admission.run());
  LAPILLI_CHECK(first.run());
  for (uint32_t t = 0; t + at_once <= b.shape.ticks; t += at_once) LAPILLI_CHECK(steps.run());
  SearchEnd out;
  for (const auto& [kind, words] :
       {std::pair{StateKind::step, &out.step}, {StateKind::search, &out.search}, {StateKind::log, &out.log}}) {
    const auto ref = session->state(kind);
    words->resize(ref.size / 4);
    LAPILLI_CHECK(session->read(ref, 0, std::as_writable_bytes(std::span(*words))));
  }
  return out;
}

namespace {

Status read_row(const SearchShape& shape, const uint32_t* e, std::vector<Sentence>& sentences) {
  const uint32_t beam = state::beam_slot_of(e[state::LOG_ROW]) % shape.beams;
  Sentence& s = sentences.at(state::beam_slot_of(e[state::LOG_ROW]) / shape.beams);
  if (s.ended || e[state::LOG_OCCUPANT] != s.mark) return fail(ErrorCode::internal, "a row of another sentence");
  s.log.entries.push_back({static_cast<int32_t>(e[state::LOG_TOKEN]), e[state::LOG_PARENT],
                           std::bit_cast<float>(e[state::LOG_RUNNING]), e[state::LOG_NOTE]});
  const uint32_t note = s.log.at(s.log.steps() - (beam + 1 == shape.beams ? 1 : 0), 0).note;
  if ((note & state::LOG_NOTE_ENDED) == 0) return {};
  const uint32_t* f = e + state::LOG_FINISHED;
  if (beam < note >> state::LOG_NOTE_COUNT_SHIFT)
    s.finished.push_back({std::bit_cast<float>(f[state::FINISHED_SCORE]), f[state::FINISHED_POSITION],
                          f[state::FINISHED_BEAM], static_cast<int32_t>(f[state::FINISHED_TOKEN])});
  s.ended = beam + 1 == shape.beams;
  return {};
}

}  // namespace

Status read_log(const LogRows& log, std::vector<Sentence>& sentences) {
  const uint64_t stride = state::log_stride(log.shape.rows);
  for (uint32_t t = 0; t < log.count; ++t) {
    const uint32_t* row = log.words.data() + (t & (log.shape.ticks - 1)) * stride;
    if (row[state::LOG_TICK] != t || row[state::LOG_MARK] != log.mark) return fail(ErrorCode::internal, "tick %u", t);
    for (uint32_t r = 0; r < row[state::LOG_RAN]; ++r)
      if (auto s = read_row(log.shape, row + state::log_entry_at(r), sentences); !s)
        return std::move(s).error().in("tick " + std::to_string(t));
  }
  return {};
}

Result<std::vector<Sentence>> read_log(const Bigram& b, const SearchEnd& end) {
  auto sentences = b.sentences;
  LAPILLI_CHECK(read_log({end.log, b.shape, kMark, end.step[state::STEP_TICK]}, sentences));
  return sentences;
}

Comparison compare(const Bigram& b, const json& c, const SearchEnd& end) {
  Comparison result;
  const auto problem = [&](std::string what) { result.problems.push_back(std::move(what)); };
  if (end.step[state::STEP_LIVE] != 0) problem("the search has not ended");
  const auto sentences = read_log(b, end);
  if (!sentences) {
    problem(sentences.error().message);
    return result;
  }
  const auto& sequences = c.at("sequences");
  const uint32_t each = b.options.return_sequences;
  if (sequences.size() != b.prompts.size() * each) problem("another number of sequences");
  for (uint32_t i = 0; i < sequences.size() && result.problems.empty(); ++i) {
    auto found = trace_back((*sentences)[i / each], i / each, each);
    if (!found || found->size() != each) {
      problem(found ? format("sentence %u has %zu hypotheses", i / each, found->size()) : found.error().message);
      break;
    }
    auto& h = (*found)[i % each];
    const auto want = sequences[i].get<std::vector<int32_t>>();
    if (h.ids.size() <= want.size()) h.ids.resize(want.size(), b.options.pad);
    if (h.ids != want) problem(format("sequence %u has other ids", i));
    if (!c.contains("sequences_scores")) continue;
    const double score = c.at("sequences_scores")[i];
    result.number(std::abs(static_cast<double>(h.score) - score), c.at("scores_atol_fp32").get<double>(),
                  format("score %u", i));
    const auto beams = c.at("beam_indices")[i].get<std::vector<int32_t>>();
    if (h.beam_indices.size() <= beams.size()) h.beam_indices.resize(beams.size(), -1);
    if (h.beam_indices != beams) problem(format("sequence %u came through other beams", i));
  }
  return result;
}

}  // namespace lapilli::search_records
