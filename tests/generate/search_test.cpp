// Whole searches without a network: the tail on scores from a table, on the device and in the interpreter, against what
// the reference implementation recorded (tests/data/search).
#include "ops/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/checkpoint.hpp"
#include "generate/search_options.hpp"
#include "generate/trace_back.hpp"
#include "ops/basic.hpp"
#include "ops/case_util.hpp"
#include "runtime/interpreter.hpp"
#include "runtime/session.hpp"
#include "support/fixtures.hpp"

namespace lapilli {
namespace {

using nlohmann::json;
using Rows = std::vector<std::vector<int32_t>>;

struct Matrix {
  uint64_t rows = 0, columns = 0;
  std::vector<float> values;
};

class Recorded {
 public:
  explicit Recorded(const std::string& folder)
      : checkpoint_(Checkpoint::open_file(path(folder, "expected.safetensors"))) {
    std::ifstream file(path(folder, "expected.json"));
    info = json::parse(file, nullptr, false);
  }
  json info;
  [[nodiscard]] bool ok() const { return checkpoint_.ok() && info.is_object(); }
  Matrix matrix(const std::string& name) const {
    const auto* t = checkpoint_->find(name);
    EXPECT_TRUE(t) << name;
    if (!t || t->shape.size() != 2) return {};
    auto values = read_floats(*t);
    EXPECT_TRUE(values.ok()) << name;
    return {t->shape[0], t->shape[1], values.ok() ? *values : std::vector<float>(t->elements())};
  }
  Rows ids(const std::string& name) const {
    const auto* t = checkpoint_->find(name);
    EXPECT_TRUE(t) << name;
    if (!t || t->shape.size() != 2) return {};
    const auto values = read_integers(*t);
    Rows rows(t->shape[0]);
    for (size_t i = 0; values.ok() && i < values->size(); ++i)
      rows[i / t->shape[1]].push_back(static_cast<int32_t>((*values)[i]));
    return rows;
  }

 private:
  static std::string path(const std::string& folder, const char* file) {
    return std::string(LAPILLI_TEST_DATA "/search/") + folder + "/" + file;
  }
  Result<Checkpoint> checkpoint_;
};

model::Config config_of(uint32_t vocabulary) {
  model::Config c;
  c.source_vocabulary = c.target_vocabulary = vocabulary;
  return c;
}

// The settings of a recorded case over those of its "model".
Result<SearchOptions> options_of(const json& args, uint32_t vocabulary, uint32_t prefix) {
  GenerationConfig base;
  base.decoder_start_token_id = 0;
  base.pad_token_id = 1;
  if (!args.contains("eos_token_id")) base.eos_token_id = std::vector<int32_t>{2};
  LAPILLI_TRY(const auto asked, parse_generation_config(args, "expected.json"));
  return resolve_options(base, asked, prefix, config_of(vocabulary));
}

// The state of a search in a graph; the same in every graph of a session.
ops::SearchTensors add_search(graph::Graph& g, const SearchShape& s, uint32_t list_words) {
  const auto state = [&](const char* name, StateKind kind, uint64_t words) {
    return add_state(g, name, kind, words, graph::DType::u32);
  };
  ops::SearchTensors t;
  t.step = add_step(g);
  t.params = add_params(g);
  t.lineage = state("lineage", StateKind::lineage, lineage_words(s.slots, s.positions));
  t.search = state("search", StateKind::search, uint64_t{s.sentences} * SearchLayout::stride(s.beams));
  t.log = state("log", StateKind::log, s.positions * LogLayout::stride(s.slots));
  t.lists = state("lists", StateKind::lists, list_words);
  t.grids = state("grids", StateKind::grids, uint64_t{kMaxGrids} * GridWords::stride);
  return t;
}

constexpr uint32_t kTable = 0, kSteps = 1;  // weights

// A search over scores table[last id] + steps[ids - 1], which is what an embedding with positions computes.
struct Bigram {
  SearchShape shape;
  SearchOptions options;
  SearchWords words;
  uint32_t vocabulary = 0, prefix = 1;
  Matrix table, steps;

  [[nodiscard]] graph::Graph init() const {
    graph::Graph g;
    ops::search_init(g, add_search(g, shape, static_cast<uint32_t>(words.lists.size())), shape);
    return g;
  }
  [[nodiscard]] graph::Graph step() const {
    graph::Graph g;
    const auto s = add_search(g, shape, static_cast<uint32_t>(words.lists.size()));
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
    e.vocabulary = e.d = vocabulary;
    e.place = Place::step;
    e.lineage_slots = shape.slots;
    e.lineage_positions = shape.positions;
    auto x = ops::embed(g, "scores", s.lineage, weight("table", kTable, 1, packed::words(vocabulary, vocabulary)),
                        weight("steps", kSteps, steps.rows, vocabulary), s.step, shape.slots, e);
    if (shape.beams > 1) x = ops::log_softmax(g, "log_softmax", x, s.step, s.params, {1, 0});
    x = ops::processors(g, "processors", x, s, shape);
    x = ops::log_softmax(g, "renormalize", x, s.step, s.params, {1, 1});
    if (shape.beams > 1) {
      const auto candidates = ops::top_k(g, "top_k", x, s.step, options.candidates());
      ops::beam_step(g, "beam_step", candidates, options.candidates(), s, shape);
    } else {
      ops::greedy_step(g, "greedy_step", ops::argmax(g, "argmax", x, s.step), s, shape);
    }
    ops::advance(g, s, shape);
    return g;
  }
  [[nodiscard]] std::vector<float> packed_table() const {
    std::vector<float> all(packed::words(vocabulary, vocabulary), 0.0f);
    for (uint32_t id = 0; id < vocabulary; ++id)
      for (uint32_t k = 0; k < vocabulary; ++k)
        all[packed::word(id, k, vocabulary)] = table.values[uint64_t{id} * vocabulary + k];
    return all;
  }
  [[nodiscard]] std::vector<float> padded_steps() const {
    const uint64_t ld = round_up<uint64_t>(vocabulary, 4);
    std::vector<float> all(steps.rows * ld, 0.0f);
    for (uint64_t i = 0; i < steps.values.size(); ++i) all[i / vocabulary * ld + i % vocabulary] = steps.values[i];
    return all;
  }
};

// What is left of a search when it has ended.
struct Outcome {
  std::vector<uint32_t> step, search, log;
};

Outcome interpret(const Bigram& b) {
  Interpreter run;
  const auto widen = [](const std::vector<float>& v) {
    HostTensor t;
    t.f.assign(v.begin(), v.end());
    return t;
  };
  run.weights[kTable] = widen(b.packed_table());
  run.weights[kSteps] = widen(b.padded_steps());
  run.states[state_id(StateKind::params)] = words_of(b.words.params);
  run.states[state_id(StateKind::lists)] = words_of(b.words.lists);
  run.run(b.init());
  const auto graph = b.step();
  for (uint32_t t = 0; t < b.shape.positions + 2; ++t) run.run(graph);  // longer than needed: nothing changes any more
  return {run.states[state_id(StateKind::step)].u, run.states[state_id(StateKind::search)].u,
          run.states[state_id(StateKind::log)].u};
}

// Several steps a submission, also behind the end.
Result<Outcome> run_on(const std::shared_ptr<vulkan::Device>& device, const Bigram& b) {
  LAPILLI_TRY(const auto init, compile(b.init(), device->caps()));
  LAPILLI_TRY(const auto step, compile(b.step(), device->caps()));
  LAPILLI_TRY(auto session, Session::create(device));
  session->require(*init);
  session->require(*step);
  LAPILLI_CHECK(session->allocate());
  std::vector<vulkan::Buffer> weights(2);
  const std::vector<float> values[] = {b.packed_table(), b.padded_steps()};
  for (size_t i = 0; i < 2; ++i) {
    LAPILLI_TRY(weights[i], device->make_buffer(values[i].size() * 4, vulkan::MemoryUse::device, "weight"));
    LAPILLI_CHECK(device->write(weights[i], 0, std::as_bytes(std::span(values[i]))));
  }
  const auto memory = session->memory([&](graph::Space, uint32_t id) {
    return BufferRef{&weights[id], 0, weights[id].size()};
  });
  LAPILLI_CHECK(write_grids(*device, *step, session->state(StateKind::grids)));
  LAPILLI_CHECK(session->write(StateKind::params, b.words.params));
  LAPILLI_CHECK(session->write(StateKind::lists, b.words.lists));
  constexpr uint32_t at_once = 3;
  LAPILLI_TRY(const auto first, BoundPlan::bind(device, init, memory));
  LAPILLI_TRY(const auto steps, BoundPlan::bind(device, step, memory, {.repeats = at_once}));
  LAPILLI_CHECK(first.run());
  for (uint32_t t = 0; t < b.shape.positions + at_once; t += at_once) LAPILLI_CHECK(steps.run());
  Outcome out;
  for (const auto& [kind, words] :
       {std::pair{StateKind::step, &out.step}, {StateKind::search, &out.search}, {StateKind::log, &out.log}}) {
    const auto ref = session->state(kind);
    words->resize(ref.size / 4);
    LAPILLI_CHECK(session->read(ref, 0, std::as_writable_bytes(std::span(*words))));
  }
  return out;
}

Result<Bigram> make_bigram(const Recorded& recorded, const json& c) {
  Bigram b;
  b.vocabulary = recorded.info["vocab_size"];
  const auto prompts = recorded.ids(c["inputs"]["input_ids"]);
  b.prefix = static_cast<uint32_t>(prompts.at(0).size());
  LAPILLI_TRY(b.options, options_of(c["args"], b.vocabulary, b.prefix));
  b.words = encode_options(b.options, config_of(b.vocabulary), prompts, prompts);
  // Room for one sentence more than there are, and for some more ids.
  const auto sentences = static_cast<uint32_t>(prompts.size()) + 1;
  b.shape = {sentences * b.options.beams, b.options.max_length + 2, b.options.beams, sentences};
  b.table = recorded.matrix("table");
  b.steps = recorded.matrix("steps");
  return b;
}

void compare(const Bigram& b, const Recorded& recorded, const json& c, const Outcome& out) {
  EXPECT_EQ(out.step[StepWords::done], 1u);
  EXPECT_EQ(out.step[StepWords::live], 0u);
  const uint32_t steps = out.step[StepWords::step];
  ASSERT_LE(steps + 1, b.options.max_length);
  const uint64_t stride = LogLayout::stride(b.shape.slots);
  for (uint32_t t = 0; t < steps; ++t) EXPECT_EQ(out.log[t * stride + 1], t + 1 == steps ? 1u : 0u) << "step " << t;
  SearchRecord record;
  record.shape.sentences = b.shape.sentences;
  record.shape.beams = b.shape.beams;
  record.shape.target_positions = b.shape.positions;
  record.prefix = b.prefix;
  record.steps = steps;
  record.log = out.log;
  record.search = out.search;
  const auto prompts = recorded.ids(c["inputs"]["input_ids"]);
  const auto& sequences = c["sequences"];
  const uint32_t each = b.options.return_sequences;
  ASSERT_EQ(sequences.size(), prompts.size() * each);
  for (uint32_t s = 0; s < prompts.size(); ++s) {
    LAPILLI_ASSERT_VALUE(auto found, trace_back(record, s, prompts[s], each));
    ASSERT_EQ(found.size(), each) << "sentence " << s;
    for (uint32_t i = 0; i < each; ++i) {
      SCOPED_TRACE(format("sentence %u, hypothesis %u", s, i));
      const auto& want = sequences[s * each + i];
      auto& h = found[i];
      ASSERT_LE(h.ids.size(), want.size());
      h.ids.resize(want.size(), b.options.pad);
      EXPECT_EQ(h.ids, want.get<std::vector<int32_t>>());
      if (!c.contains("sequences_scores")) continue;
      const double score = c["sequences_scores"][s * each + i];
      EXPECT_NEAR(static_cast<double>(h.score), score, c["scores_atol_fp32"].get<double>());
      const auto beams = c["beam_indices"][s * each + i].get<std::vector<int32_t>>();
      h.beam_indices.resize(beams.size(), -1);
      EXPECT_EQ(h.beam_indices, beams);
    }
  }
}

TEST(Search, FindsWhatTheReferenceFinds) {
  const Recorded recorded("bigram");
  ASSERT_TRUE(recorded.ok());
  for (const auto& c : recorded.info["cases"]) {
    SCOPED_TRACE(c["name"].get<std::string>());
    LAPILLI_ASSERT_VALUE(const auto b, make_bigram(recorded, c));
    compare(b, recorded, c, interpret(b));
    if (HasFatalFailure()) return;
  }
}

class DeviceSearch : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    vulkan::DeviceOptions options;
    options.mask = GetParam();
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
  }
  std::shared_ptr<vulkan::Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Masks, DeviceSearch, testing::Values("full", "no-indirect", "small-bindings"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(DeviceSearch, FindsWhatTheReferenceFinds) {
  const Recorded recorded("bigram");
  ASSERT_TRUE(recorded.ok());
  // Under the masks, a part will do: prime to the number of ways to stop, so that each has its turn.
  const size_t stride = std::string(GetParam()) == "full" ? 1 : 7;
  for (size_t i = 0; i < recorded.info["cases"].size(); i += stride) {
    const auto& c = recorded.info["cases"][i];
    SCOPED_TRACE(c["name"].get<std::string>());
    LAPILLI_ASSERT_VALUE(const auto b, make_bigram(recorded, c));
    LAPILLI_ASSERT_VALUE(const auto out, run_on(device_, b));
    compare(b, recorded, c, out);
    if (HasFatalFailure()) return;
  }
}

// ---- processors on given ids and scores ---------------------------------------------------------------------------

struct Processed {
  graph::Graph graph;
  graph::TensorId scores = graph::kNone;
  std::map<uint32_t, std::vector<uint32_t>> states;
  std::vector<float> in, want;  // rows padded to vectors
  double tolerance = 0;
};

bool is_sampling_or_whisper(const json& c) { return c["kind"] != "processors" || c["args"].value("do_sample", false); }

Result<Processed> make_processed(const Recorded& recorded, const json& c) {
  const uint32_t vocabulary = recorded.info["vocab_size"];
  const auto& names = c["inputs"];
  const Rows history = recorded.ids(names["ids"]), sources = recorded.ids(names["encoder_input_ids"]);
  const auto scores = recorded.matrix(names["scores"]), want = recorded.matrix(c["output"]);
  const uint32_t rows = static_cast<uint32_t>(history.size()), count = static_cast<uint32_t>(history[0].size());
  const uint32_t prefix = c["prompt_length"];
  Rows given;
  for (const auto& ids : history) given.emplace_back(ids.begin(), ids.begin() + prefix);
  json args = c["args"];
  args.erase("remove_invalid_values");  // forbidden scores are finite here anyhow
  LAPILLI_TRY(const auto options, options_of(args, vocabulary, prefix));
  const auto words = encode_options(options, config_of(vocabulary), given, sources);
  Processed p;
  const SearchShape shape{rows, 24, 1, rows};
  const auto s = add_search(p.graph, shape, static_cast<uint32_t>(words.lists.size()));
  const auto x = p.graph.activation("scores", rows, vocabulary);
  // The scores come in as the session's, so that a plan has a writer for them.
  const uint64_t ld = p.graph.tensor(x).ld;
  p.graph.tensor(x).space = graph::Space::state;
  p.graph.tensor(x).id = state_id(StateKind::self_kv);
  p.scores = ops::processors(p.graph, "processors", x, s, shape);
  p.scores = ops::log_softmax(p.graph, "renormalize", p.scores, s.step, s.params, {1, 1});
  p.states[state_id(StateKind::params)] = words.params;
  p.states[state_id(StateKind::lists)] = words.lists;
  p.states[state_id(StateKind::step)] = step_values(count - 1, rows).u;
  std::vector<uint32_t> lineage(lineage_words(rows, 24), 0);
  for (uint32_t r = 0; r < rows; ++r)
    for (uint32_t i = 0; i < count; ++i)
      lineage[lineage_word((count - 1) & 1, 1, r, i, rows, 24)] = static_cast<uint32_t>(history[r][i]);
  p.states[state_id(StateKind::lineage)] = std::move(lineage);
  p.in.assign(rows * ld, 0.0f);
  p.want.assign(rows * ld, 0.0f);
  for (uint64_t i = 0; i < scores.values.size(); ++i) {
    p.in[i / vocabulary * ld + i % vocabulary] = scores.values[i];
    p.want[i / vocabulary * ld + i % vocabulary] = want.values[i];
  }
  p.tolerance = c["atol_fp32"];
  return p;
}

void compare(const Processed& p, const std::vector<double>& got) {
  ASSERT_EQ(got.size(), p.want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    // Minus infinity, or what its removal makes of it; the reference's decay makes no number of a forbidden end token.
    if (p.want[i] <= kForbidden || std::isnan(p.want[i]))
      EXPECT_LE(got[i], static_cast<double>(kForbidden)) << "element " << i;
    else
      EXPECT_NEAR(got[i], static_cast<double>(p.want[i]), p.tolerance) << "element " << i;
  }
}

TEST(Search, ProcessesAsTheReferenceDoes) {
  const Recorded recorded("processors");
  ASSERT_TRUE(recorded.ok());
  uint32_t count = 0;
  for (const auto& c : recorded.info["cases"]) {
    if (is_sampling_or_whisper(c)) continue;
    SCOPED_TRACE(c["name"].get<std::string>());
    LAPILLI_ASSERT_VALUE(const auto p, make_processed(recorded, c));
    Interpreter run;
    for (const auto& [id, words] : p.states) run.states[id] = words_of(words);
    run.states[state_id(StateKind::self_kv)].f.assign(p.in.begin(), p.in.end());
    run.run(p.graph);
    compare(p, run.states[state_id(StateKind::self_kv)].f);
    ++count;
  }
  EXPECT_GE(count, 30u);
}

TEST_P(DeviceSearch, ProcessesAsTheReferenceDoes) {
  const Recorded recorded("processors");
  ASSERT_TRUE(recorded.ok());
  for (const auto& c : recorded.info["cases"]) {
    if (is_sampling_or_whisper(c)) continue;
    SCOPED_TRACE(c["name"].get<std::string>());
    LAPILLI_ASSERT_VALUE(const auto p, make_processed(recorded, c));
    LAPILLI_ASSERT_VALUE(const auto plan, compile(p.graph, device_->caps()));
    LAPILLI_ASSERT_VALUE(auto session, Session::create(device_));
    session->require(*plan);
    session->require_state(state_id(StateKind::grids), uint64_t{kMaxGrids} * GridWords::stride * 4);
    LAPILLI_ASSERT_OK(session->allocate());
    for (const auto& [id, words] : p.states) LAPILLI_ASSERT_OK(session->write(state_kind(id), words));
    const auto scores = session->state(StateKind::self_kv);
    LAPILLI_ASSERT_OK(device_->write(*scores.buffer, 0, std::as_bytes(std::span(p.in))));
    // No step has written the grids: their arguments for all rows.
    std::vector<uint32_t> grids(uint64_t{kMaxGrids} * GridWords::stride, 0);
    for (size_t i = 0; i < plan->grids.size(); ++i) {
      grids[i * GridWords::stride + GridWords::arguments] =
          plan->grids[i].groups_per_tile * p.states.at(state_id(StateKind::step))[StepWords::live];
      grids[i * GridWords::stride + GridWords::arguments + 1] =
          grids[i * GridWords::stride + GridWords::arguments + 2] = 1;
    }
    LAPILLI_ASSERT_OK(session->write(StateKind::grids, grids));
    LAPILLI_ASSERT_VALUE(const auto bound, BoundPlan::bind(device_, plan, session->memory({})));
    LAPILLI_ASSERT_OK(bound.run());
    std::vector<float> got(p.in.size());
    LAPILLI_ASSERT_OK(session->read(scores, 0, std::as_writable_bytes(std::span(got))));
    compare(p, {got.begin(), got.end()});
  }
}

}  // namespace
}  // namespace lapilli
