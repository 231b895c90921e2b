// generation_config.json and config.json with bytes changed at random, all the way to what a search would start from:
// each is taken or refused with a message, and nothing else happens.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "search/search_options.hpp"
#include "support/options.hpp"

namespace lapilli {
namespace {

constexpr int kMutants = 10000;  // of each kind of file

std::string mutated(std::string s, std::mt19937& random) {
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  static constexpr const char* values[] = {"null", "true",  "-1",  "0",    "4294967296", "1e308", "-0.5", "[]",
                                           "{}",   "\"x\"", "[1]", "[[]]", "2147483647", "1e-30", "1",    "[[1,2]]"};
  for (size_t changes = 1 + pick(3); changes > 0 && !s.empty(); --changes) {
    const size_t at = pick(s.size());
    if (pick(3) > 0) {  // another value behind some key
      const size_t colon = s.find(':', at);
      if (colon == std::string::npos) continue;
      size_t end = colon + 1, depth = 0;
      for (; end < s.size() && (depth > 0 || (s[end] != ',' && s[end] != '}')); ++end)
        depth += s[end] == '[' || s[end] == '{' ? 1 : (s[end] == ']' || s[end] == '}') && depth > 0 ? -1 : 0;
      s.replace(colon + 1, end - colon - 1, values[pick(std::size(values))]);
    } else if (pick(2) == 0) {
      s[at] = static_cast<char>(pick(256));
    } else if (pick(2) == 0) {
      s.erase(at, 1 + pick(12));
    } else {
      s.insert(at, s.substr(pick(s.size()), 1 + pick(24)));
    }
  }
  return s;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

model::Config small_config() {
  model::Config c;
  c.source_vocabulary = c.target_vocabulary = 300;
  c.decoder.max_positions = c.encoder.max_positions = 64;
  return c;
}

TEST(ConfigMutation, GenerationConfigs) {
  const std::string good[] = {
      R"({"max_length": 24, "num_beams": 6, "eos_token_id": [0, 2], "bad_words_ids": [[256], [1, 2]],
        "early_stopping": "never", "length_penalty": 0.6, "sequence_bias": [[[1], 2.5]], "decoder_start_token_id": 5,
        "exponential_decay_length_penalty": [4, 1.3], "suppress_tokens": [3, 4], "begin_suppress_tokens": [5],
        "forced_bos_token_id": 7, "forced_eos_token_id": [0], "no_repeat_ngram_size": 3, "repetition_penalty": 1.2})",
      R"({"do_sample": true, "temperature": 0.7, "top_k": 40, "top_p": 0.9, "min_p": 0.01, "typical_p": 0.9,
        "epsilon_cutoff": 0.001, "eta_cutoff": 0.002, "top_h": 0.9, "seed": 7, "num_return_sequences": 3,
        "decoder_start_token_id": 5, "eos_token_id": 2, "pad_token_id": 1, "renormalize_logits": true,
        "encoder_repetition_penalty": 1.5, "encoder_no_repeat_ngram_size": 2, "max_new_tokens": 9, "min_length": 3})",
      R"({"return_timestamps": true, "no_timestamps_token_id": 250, "max_initial_timestamp_index": 20,
        "decoder_start_token_id": 249, "eos_token_id": 248, "max_length": 40, "min_new_tokens": 2, "penalty_alpha": 0,
        "num_beam_groups": 1, "diversity_penalty": 0.0, "guidance_scale": null})"};
  std::mt19937 random(17);
  const auto config = small_config();
  int taken = 0, refused = 0;
  for (int i = 0; i < kMutants; ++i) {
    const auto json = parse_json(mutated(good[i % std::size(good)], random), "generation_config.json");
    if (!json) {
      EXPECT_FALSE(json.error().message.empty());
      continue;
    }
    const auto parsed = parse_generation_config(*json, "generation_config.json");
    if (!parsed) {
      EXPECT_FALSE(parsed.error().message.empty());
      continue;
    }
    const auto options = testing_support::options_for(*parsed, {}, 1, config);
    if (!options) {
      EXPECT_FALSE(options.error().message.empty());
      ++refused;
      continue;
    }
    ++taken;
    ASSERT_LE(options->max_length, config.decoder.max_positions + 1);
    ASSERT_LE(options->candidates(), state::MAX_CANDIDATES);
    const auto words = encode_options(*options, 1, {1, 2, 3}, 0);
    ASSERT_EQ(words.params.size(), state::PARAM_WORDS);
    ASSERT_LE(words.params[state::P_BIAS_OFFSET], words.lists.size());
  }
  EXPECT_GT(taken, kMutants / 20);
  EXPECT_GT(refused, kMutants / 20);
}

// Every family that the tests hold a model of.
TEST(ConfigMutation, ModelConfigs) {
  std::vector<std::string> good;
  for (const auto& folder : std::filesystem::directory_iterator(LAPILLI_TEST_DATA "/models"))
    if (auto text = read_file(folder.path() / "model" / "config.json"); !text.empty()) good.push_back(std::move(text));
  ASSERT_GE(good.size(), 3u);
  std::mt19937 random(18);
  int taken = 0, refused = 0;
  for (int i = 0; i < kMutants; ++i) {
    const auto json = parse_json(mutated(good[static_cast<size_t>(i) % good.size()], random), "config.json");
    if (!json) continue;
    const auto type = get_string({*json, "config.json"}, "model_type", "");
    const auto* family = type ? model::find_family(*type) : nullptr;
    if (!family) continue;
    const auto config = family->config(*json, "config.json");
    if (!config) {
      EXPECT_FALSE(config.error().message.empty());
      ++refused;
      continue;
    }
    ++taken;
    const model::Reads reads = config->kind().reads;
    const bool ids = reads == model::Reads::ids;
    const auto names = family->names(*config);
    const model::StackNames& first = reads == model::Reads::nothing ? names.decoder : names.encoder;
    const bool numbers = config->features.width > 0;
    EXPECT_TRUE(numbers ? !first.input.empty() : !first.embedding.empty() || !config->clusters.empty());
    EXPECT_EQ(config->source_vocabulary > 0, ids);
    EXPECT_TRUE(config->target_vocabulary > 0 || !config->head(model::HeadKind::tokens));
    EXPECT_TRUE(config->head(model::HeadKind::tokens) || config->heads.size() == names.heads.size());
  }
  EXPECT_GT(taken, kMutants / 20);
  EXPECT_GT(refused, kMutants / 50);
}

}  // namespace
}  // namespace lapilli
