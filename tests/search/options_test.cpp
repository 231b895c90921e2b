// Settings of a model and of a caller are merged, and bad ones are refused by name.
#include "support/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>
#include <set>

#include "search/search_options.hpp"
#include "support/fixtures.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;

class Options : public testing::Test {
 protected:
  void SetUp() override {
    config_.source_vocabulary = config_.target_vocabulary = 50;
    config_.decoder.max_positions = 64;
    model_.decoder_start_token_id = 49;
    model_.pad_token_id = 49;
    model_.eos_token_id = std::vector<int32_t>{0};
  }
  Result<SearchOptions> resolve(uint32_t prefix = 1) {
    return testing_support::options_for(model_, asked_, prefix, config_);
  }
  void refused(const char* what) {
    const auto options = resolve();
    ASSERT_FALSE(options.ok()) << what;
    EXPECT_THAT(options.error().message, HasSubstr(what));
    asked_ = {};
  }
  model::Config config_;
  GenerationConfig model_, asked_;
};

std::vector<std::string> option_names() {
  return {
#define OPTION(TYPE, NAME) #NAME,
#include "formats/search_options.inc"
  };
}

// The page of decoding describes each option, and the public header has a field for it or leaves it to JSON.
TEST(OptionTable, HasItsPageAndItsFields) {
  const std::map<std::string, std::string> fields{{"decoder_start_token_id", "decoder_start_token"},
                                                  {"forced_bos_token_id", "forced_bos_token"},
                                                  {"forced_eos_token_id", "forced_eos_token"},
                                                  {"eos_token_id", "end_tokens"},
                                                  {"bad_words_ids", "bad_words"}};
  const std::set<std::string> by_json{"bos_token_id",
                                      "shortlist",
                                      "new_tokens_per_source_token",
                                      "pad_token_id",
                                      "encoder_repetition_penalty",
                                      "encoder_no_repeat_ngram_size",
                                      "sequence_bias",
                                      "exponential_decay_length_penalty",
                                      "renormalize_logits",
                                      "remove_invalid_values",
                                      "do_sample",
                                      "temperature",
                                      "top_k",
                                      "top_p",
                                      "min_p",
                                      "top_h",
                                      "typical_p",
                                      "epsilon_cutoff",
                                      "eta_cutoff",
                                      "seed",
                                      "return_timestamps",
                                      "no_timestamps_token_id",
                                      "max_initial_timestamp_index"};
  const std::string page = read_file(LAPILLI_SOURCE_DIR "/docs/use/decoding.md");
  const std::string header = read_file(LAPILLI_SOURCE_DIR "/include/lapilli/lapilli.h");
  const std::string options = header.substr(header.find("typedef struct lapilli_options {"));
  for (const std::string& name : option_names()) {
    EXPECT_THAT(page, HasSubstr("`" + name + "`"));
    const auto other = fields.find(name);
    const std::regex field("[ *]" + (other == fields.end() ? name : other->second) + "[,;]");
    EXPECT_NE(std::regex_search(options.substr(0, options.find("} lapilli_options;")), field), by_json.contains(name))
        << name;
  }
}

TEST_F(Options, WhatIsAskedWinsOverTheModel) {
  model_.num_beams = 6;
  model_.max_length = 30;
  asked_.num_beams = 2;
  const auto options = resolve();
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->beams, 2u);
  EXPECT_EQ(options->max_length, 30u);
  EXPECT_EQ(options->candidates(), 4u);
}

TEST_F(Options, LengthsCountAsTheReferenceCounts) {
  auto options = resolve(3);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->max_length, 23u);  // nobody gave one: 20 new ids
  asked_.max_length = 40;
  asked_.max_new_tokens = 7;
  options = resolve(3);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->max_length, 10u);
  asked_ = {};
  asked_.max_new_tokens = 0xffffffffu;
  refused("max_length");
  config_.decoder.max_positions = 0;  // a model without positions has a limit all the same
  asked_.max_new_tokens = 0xffffffffu;
  refused("max_length");
  asked_.max_length = 1;
  refused("leaves nothing");
}

TEST_F(Options, LengthsFollowSources) {
  model_.max_length = 30;
  model_.new_tokens_per_source_token = 1.5;
  const auto longest = [&](uint64_t source) {
    const auto resolved = resolve_options(model_, asked_, config_);
    const auto options = resolved ? resolved->for_prompt(1, source) : Result<SearchOptions>(resolved.error());
    return options ? options->max_length : 0u;
  };
  EXPECT_EQ(longest(5), 9u);  // 7.5 new ids, rounded up, and the start
  EXPECT_EQ(longest(100), 30u);
  EXPECT_EQ(longest(0), 30u);  // not known
  asked_.max_new_tokens = 20;
  EXPECT_EQ(longest(5), 21u);
  asked_ = {};
  asked_.new_tokens_per_source_token = 0;
  refused("new_tokens_per_source_token");
}

TEST_F(Options, NumbersThatAreNone) {
  asked_.length_penalty = std::nan("");
  refused("length_penalty");
  asked_.length_penalty = 1e300;
  refused("length_penalty");
  asked_.repetition_penalty = HUGE_VAL;
  refused("repetition_penalty");
  asked_.repetition_penalty = 0.0;
  refused("repetition_penalty");
  asked_.repetition_penalty = 1e-200;  // 0 as a float
  refused("repetition_penalty");
  asked_.encoder_repetition_penalty = -1.0;
  refused("encoder_repetition_penalty");
  asked_.sequence_bias = std::vector<SequenceBias>{{{3}, std::nan("")}};
  refused("sequence_bias");
  asked_.exponential_decay_length_penalty = ExponentialDecay{2, 1e200};
  refused("exponential_decay_length_penalty");
  for (const double factor : {0.0, -1.5, 1e-200}) {
    asked_.exponential_decay_length_penalty = ExponentialDecay{2, factor};
    refused("exponential_decay_length_penalty: the factor must be greater than 0");
  }
}

TEST_F(Options, IdsOutsideTheVocabulary) {
  asked_.eos_token_id = std::vector<int32_t>{50};
  refused("eos_token_id");
  asked_.pad_token_id = 5000;
  refused("pad_token_id");
  asked_.decoder_start_token_id = -3;
  refused("decoder_start_token_id");
  asked_.forced_bos_token_id = 50;
  refused("forced_bos_token_id");
  asked_.suppress_tokens = std::vector<int32_t>{-1};
  refused("suppress_tokens");
  asked_.bad_words_ids = std::vector<std::vector<int32_t>>{{1, 77}};
  refused("bad_words_ids");
  asked_.eos_token_id = std::vector<int32_t>(state::MAX_END_TOKENS + 1, 1);
  refused("eos_token_id");
}

TEST_F(Options, LimitsAreNamed) {
  asked_.num_beams = state::MAX_BEAMS + 1;
  refused("num_beams");
  asked_.num_beams = 0;
  refused("num_beams");
  asked_.num_return_sequences = 2;
  refused("num_return_sequences");
  asked_.modes = {"penalty_alpha"};
  refused("penalty_alpha: not supported; there are greedy search");
  asked_.return_timestamps = true;
  refused("return_timestamps");
  asked_.bad_words_ids = std::vector<std::vector<int32_t>>{std::vector<int32_t>((1u << 20) + 1, 1)};
  refused("bad_words_ids");
}

// A start that lies beyond every length must not wrap around to an early one.
TEST_F(Options, DecayThatNeverBegins) {
  asked_.exponential_decay_length_penalty = ExponentialDecay{0xffffffffu, 1.5};
  const auto options = resolve();
  ASSERT_TRUE(options.ok()) << options.error().message;
  const auto words = encode_options(*options, 1, {1, 0}, 0);
  EXPECT_GE(words.params[state::P_DECAY_START], options->max_length);
}

TEST_F(Options, PaddingFallsBackToTheEnd) {
  model_.pad_token_id.reset();
  model_.eos_token_id = std::vector<int32_t>{7, 8};
  const auto options = resolve();
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->pad, 7);
}

TEST_F(Options, SamplingTakesTheReferencesDefaults) {
  asked_.top_k = 7;
  LAPILLI_ASSERT_VALUE(auto options, resolve());
  EXPECT_FALSE(options.sample);
  EXPECT_EQ(options.top_k, 0u);  // without sampling, filters are not even looked at
  asked_ = {};
  model_.do_sample = true;  // the model's word counts
  LAPILLI_ASSERT_VALUE(options, resolve());
  EXPECT_TRUE(options.sample);
  EXPECT_EQ(options.top_k, 50u);
  EXPECT_EQ(options.temperature, 1.0f);
  EXPECT_EQ(options.top_p, 1.0f);
  EXPECT_EQ(options.min_keep(), 1u);
  asked_.num_beams = 3;
  asked_.top_k = 1;
  LAPILLI_ASSERT_VALUE(options, resolve());
  EXPECT_EQ(options.min_keep(), 2u);  // one end token
  EXPECT_EQ(options.top_k, 2u);
  EXPECT_EQ(options.copies(), 1u);
  asked_.eos_token_id = std::vector<int32_t>{};
  LAPILLI_ASSERT_VALUE(options, resolve());
  EXPECT_EQ(options.min_keep(), 2u);
  asked_.eos_token_id = std::vector<int32_t>{0, 2, 3};
  LAPILLI_ASSERT_VALUE(options, resolve());
  EXPECT_EQ(options.min_keep(), 4u);
  asked_.do_sample = false;
  LAPILLI_ASSERT_VALUE(options, resolve());
  EXPECT_FALSE(options.sample);
}

TEST_F(Options, EverySequenceIsDrawnForItselfUnlessThereAreBeams) {
  asked_.do_sample = true;
  asked_.num_return_sequences = 5;
  LAPILLI_ASSERT_VALUE(auto options, resolve());
  EXPECT_EQ(options.copies(), 5u);
  asked_.num_beams = 6;
  LAPILLI_ASSERT_VALUE(options, resolve());
  EXPECT_EQ(options.copies(), 1u);
  asked_.num_beams = 4;
  refused("num_return_sequences");
  asked_.do_sample = true;
  asked_.num_return_sequences = 257;
  refused("num_return_sequences");
}

TEST_F(Options, SamplingRefusesWhatIsOutOfRange) {
  const std::tuple<std::optional<double> GenerationConfig::*, double, const char*> cases[] = {
      {&GenerationConfig::temperature, 0, "temperature"},
      {&GenerationConfig::temperature, -1, "temperature"},
      {&GenerationConfig::temperature, 1e300, "temperature"},
      {&GenerationConfig::top_p, -0.1, "top_p"},
      {&GenerationConfig::top_p, 1.5, "top_p"},
      {&GenerationConfig::min_p, 2, "min_p"},
      {&GenerationConfig::top_h, -1, "top_h"},
      {&GenerationConfig::typical_p, 0, "typical_p"},
      {&GenerationConfig::typical_p, 1.25, "typical_p"},
      {&GenerationConfig::epsilon_cutoff, -0.5, "epsilon_cutoff"},
      {&GenerationConfig::eta_cutoff, 3, "eta_cutoff"},
      {&GenerationConfig::eta_cutoff, std::nan(""), "eta_cutoff"}};
  for (const auto& [member, value, name] : cases) {
    asked_.*member = value;
    EXPECT_TRUE(resolve().ok()) << name;  // it is not sampled
    asked_.do_sample = true;
    refused(name);
  }
}

TEST_F(Options, ListsThatKernelsWalkThroughAreLimited) {
  asked_.bad_words_ids = std::vector<std::vector<int32_t>>(16385, {1, 2});
  refused("bad_words_ids");
}

TEST_F(Options, TimestampsFollowFromOneId) {
  model_.no_timestamps_token_id = 24;
  LAPILLI_ASSERT_VALUE(auto options, resolve());
  EXPECT_FALSE(options.timestamps);
  asked_.return_timestamps = true;
  LAPILLI_ASSERT_VALUE(options, resolve());
  ASSERT_TRUE(options.timestamps);
  EXPECT_EQ(options.timestamps->first, 25u);
  EXPECT_FALSE(options.timestamps->second);
  model_.max_initial_timestamp_index = 4;
  LAPILLI_ASSERT_VALUE(options, resolve());
  EXPECT_EQ(options.timestamps->second, 29u);
}

}  // namespace
}  // namespace lapilli
