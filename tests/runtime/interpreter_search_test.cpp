// Whole searches on the CPU references alone, no device: the published network must give the reference's ids.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "generate/trace_back.hpp"
#include "support/fixtures.hpp"
#include "support/golden.hpp"
#include "support/network_rig.hpp"

namespace lapilli {
namespace {

using testing_support::Golden;
using testing_support::SearchInput;

// Every step's log row and, at the end, the search state.
struct Searched {
  std::vector<uint32_t> log, search;
  uint32_t steps = 0;
};

Result<Searched> search(const model::Network& network, const WorkspaceKey& key, const SearchInput& input) {
  LAPILLI_TRY(auto interpreter, testing_support::make_interpreter(network, key, input));
  interpreter.run(encode_graph(network, key.shape));
  interpreter.run(init_graph(network, key.shape));
  const graph::Graph step = step_graph(network, key).graph;
  Searched out;
  for (; out.steps < input.options.max_length; ++out.steps) {
    if (interpreter.states[state_id(StateKind::step)].u[StepWords::done]) break;
    interpreter.run(step);
  }
  out.log = interpreter.states[state_id(StateKind::log)].u;
  out.search = interpreter.states[state_id(StateKind::search)].u;
  return out;
}

void expect_golden(const std::string& name, const std::string& case_name) {
  LAPILLI_ASSERT_VALUE(const Golden golden, Golden::open(name));
  LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::load_network(golden.model_directory()));
  LAPILLI_ASSERT_VALUE(const auto c, golden.generate_case(case_name));
  SearchInput input;
  input.sources = c.sources;
  LAPILLI_ASSERT_VALUE(input.options, resolve_options(golden.generation(), c.arguments, 1, loaded.network.config));
  const WorkspaceKey key = testing_support::exact_key(input);
  LAPILLI_ASSERT_VALUE(const auto searched, search(loaded.network, key, input));
  const SearchRecord record{key.shape, 1, searched.steps, searched.log, searched.search};
  const std::vector<int32_t> prefix{input.options.decoder_start};
  size_t row = 0;
  for (uint32_t i = 0; i < input.sources.size(); ++i) {
    LAPILLI_ASSERT_VALUE(const auto found, trace_back(record, i, prefix, input.options.return_sequences));
    ASSERT_EQ(found.size(), input.options.return_sequences);
    for (const auto& h : found) {
      EXPECT_EQ(h.ids, c.sequences[row]) << name << " " << case_name << " row " << row;
      if (!c.scores.empty()) {
        EXPECT_NEAR(h.score, c.scores[row], c.scores_tolerance) << case_name << " row " << row;
      }
      ++row;
    }
  }
  EXPECT_EQ(row, c.sequences.size());
}

TEST(InterpreterSearch, GreedyEqualsTheReference) {
  expect_golden("marian", "greedy_single");
  expect_golden("marian", "greedy_batch");
  expect_golden("marian-separate-vocab", "greedy_single");
}

TEST(InterpreterSearch, BeamsEqualTheReference) {
  expect_golden("marian", "beam4_lp1");
  expect_golden("marian", "beam4_lp2_early");
  expect_golden("marian", "default");
}

TEST(InterpreterSearch, ProcessorsEqualTheReference) {
  expect_golden("marian", "greedy_no_repeat_ngram2");
  expect_golden("marian", "greedy_repetition_1.5");
  expect_golden("marian", "beam4_repetition_1.3");
}

}  // namespace
}  // namespace lapilli
