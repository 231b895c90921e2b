// Whole searches on the CPU references alone, no device: the published network must give the reference's ids.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "search/trace_back.hpp"
#include "support/fixtures.hpp"
#include "support/golden.hpp"
#include "support/network_rig.hpp"
#include "support/options.hpp"
#include "support/search_records.hpp"

namespace lapilli {
namespace {

using testing_support::Golden;
using testing_support::SearchInput;

// The sentences as the log of their search tells of them.
Result<std::vector<Sentence>> search(const model::Network& network, const WorkspaceKey& key, const SearchInput& input) {
  LAPILLI_TRY(auto interpreter, testing_support::make_interpreter(network, key, input));
  interpreter.run(admit_graph(network, key.shape));
  interpreter.run(encode_graph(network, key));
  interpreter.run(start_graph(network, key.shape));
  const graph::Graph step = step_graph(network, key).graph;
  const auto& words = interpreter.states[state_id(StateKind::step)].u;
  while (words[state::STEP_LIVE] != 0 && words[state::STEP_TICK] < input.options.max_length) interpreter.run(step);
  std::vector<Sentence> sentences(input.sources.size());
  for (uint32_t i = 0; i < sentences.size(); ++i) {
    sentences[i].prompt = {input.options.decoder_start};
    sentences[i].options = input.options;
    sentences[i].mark = i + 1;
    sentences[i].log.beams = key.shape.beams;
  }
  LAPILLI_CHECK(search_records::read_log({interpreter.states[state_id(StateKind::log)].u, search_shape(key.shape),
                                          testing_support::kSessionMark, words[state::STEP_TICK]},
                                         sentences));
  return sentences;
}

void expect_golden(const std::string& name, const std::string& case_name) {
  LAPILLI_ASSERT_VALUE(const Golden golden, Golden::open(name));
  LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::load_network(golden.model_directory()));
  LAPILLI_ASSERT_VALUE(const auto c, golden.generate_case(case_name));
  SearchInput input;
  input.sources = c.sources;
  LAPILLI_ASSERT_VALUE(input.options,
                       testing_support::options_for(golden.generation(), c.arguments, 1, loaded.network.config));
  const WorkspaceKey key = testing_support::exact_key(input);
  LAPILLI_ASSERT_VALUE(const auto sentences, search(loaded.network, key, input));
  size_t row = 0;
  for (uint32_t i = 0; i < input.sources.size(); ++i) {
    ASSERT_TRUE(sentences[i].ended) << name << " " << case_name << " sentence " << i;
    LAPILLI_ASSERT_VALUE(const auto found, trace_back(sentences[i], i, input.options.return_sequences));
    ASSERT_EQ(found.size(), input.options.return_sequences);
    for (const auto& h : found) {
      // The recorded rows of a batch are as long as the longest one.
      auto ids = h.ids;
      if (ids.size() < c.sequences[row].size()) ids.resize(c.sequences[row].size(), input.options.pad);
      EXPECT_EQ(ids, c.sequences[row]) << name << " " << case_name << " row " << row;
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
