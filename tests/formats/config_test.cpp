#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "formats/hf_config.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

nlohmann::json object(const char* text) { return nlohmann::json::parse(text); }

GenerationConfig parsed(const char* text) {
  auto c = parse_generation_config(object(text), "options");
  EXPECT_TRUE(c.ok()) << (c ? "" : c.error().message);
  return c ? *c : GenerationConfig{};
}

std::string refusal(const char* text) {
  auto c = parse_generation_config(object(text), "options");
  EXPECT_FALSE(c.ok()) << text;
  return c ? "" : c.error().message;
}

TEST(JsonGetters, GiveValuesAndDefaults) {
  const auto json = object(R"({"n": 7, "b": true, "f": 1e-5, "i": 2, "s": "swish", "id": 0, "nothing": null})");
  const JsonView view{json, "config.json"};
  EXPECT_EQ(*get_u32(view, "n"), 7u);
  EXPECT_EQ(*get_u32(view, "absent", 3), 3u);
  EXPECT_EQ(*get_u32(view, "nothing", 4), 4u);
  EXPECT_TRUE(*get_bool(view, "b"));
  EXPECT_FALSE(*get_bool(view, "absent", false));
  EXPECT_EQ(*get_float(view, "f"), 1e-5f);
  EXPECT_EQ(*get_float(view, "i"), 2.0f);
  EXPECT_EQ(*get_string(view, "s"), "swish");
  EXPECT_EQ(*get_string(view, "absent", "relu"), "relu");
  EXPECT_EQ(*get_id(view, "id"), 0);
  EXPECT_TRUE(has(view, "n"));
  EXPECT_FALSE(has(view, "nothing"));
  EXPECT_EQ(get_u32(view, "absent").error().message, "config.json lacks \"absent\"");
}

TEST(JsonGetters, WrongTypesAndRangesNameFileAndKey) {
  const auto json = object(
      R"({"text": "7", "minus": -1, "large": 4294967296, "huge": 18446744073709551616, "half": 0.5, "list": [1],
          "inf": 1e300, "one": 1})");
  const JsonView view{json, "config.json"};
  for (const char* key : {"text", "minus", "large", "huge", "half", "list"}) {
    const auto n = get_u32(view, key, 1);
    ASSERT_FALSE(n.ok()) << key;
    EXPECT_THAT(n.error().message, HasSubstr("config.json: \"" + std::string(key) + "\"")) << key;
  }
  EXPECT_FALSE(get_id(view, "minus").ok());
  EXPECT_FALSE(get_float(view, "inf").ok());
  EXPECT_FALSE(get_float(view, "text").ok());
  EXPECT_FALSE(get_bool(view, "one").ok());
  EXPECT_FALSE(get_string(view, "one").ok());
}

TEST(JsonFile, MissingFileIsNamed) {
  TempDirectory dir;
  const auto r = read_json_file(dir.path() + "/config.json");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, ErrorCode::not_found);
  EXPECT_THAT(r.error().message, HasSubstr("config.json"));
}

TEST(JsonFile, RefusesDeepNesting) {
  EXPECT_TRUE(parse_json("{\"a\":" + std::string(63, '[') + std::string(63, ']') + "}", "x").ok());
  const auto r = parse_json("{\"a\":" + std::string(1000000, '[') + std::string(1000000, ']') + "}", "config.json");
  ASSERT_FALSE(r.ok());
  EXPECT_THAT(r.error().message, HasSubstr("config.json nests deeper"));
}

TEST(JsonFile, BracketsInTextAreNoNesting) {
  EXPECT_TRUE(parse_json("{\"a\\\"\": \"" + std::string(1000, '[') + "\"}", "x").ok());
}

TEST(JsonFile, RefusesWhatIsNoObject) {
  for (const char* text :
       {"", "[]", "3", "{", "{\"a\":}", "{\"a\":1}x", "{\"a\":\"\xff\"}", "{\"a\":1e999}", "\xef\xbb\xbf"}) {
    const auto r = parse_json(text, "config.json");
    ASSERT_FALSE(r.ok()) << text;
    EXPECT_EQ(r.error().code, ErrorCode::invalid_data);
    EXPECT_THAT(r.error().message, HasSubstr("config.json"));
  }
}

TEST(JsonFile, RefusesFilesAboveTheLimit) {
  TempDirectory dir;
  const auto path = dir.write("config.json", "{\"a\": \"" + std::string(1000, 'x') + "\"}");
  EXPECT_TRUE(read_json_file(path).ok());
  EXPECT_FALSE(read_json_file(path, 1000).ok());
}

TEST(GenerationConfigFile, OfMarian) {
  const auto c = read_generation_config(model_directory("marian/model"));
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->max_length, 24u);
  EXPECT_EQ(c->num_beams, 6u);
  EXPECT_EQ(c->pad_token_id, 256);
  EXPECT_EQ(c->decoder_start_token_id, 256);
  EXPECT_THAT(*c->eos_token_id, ElementsAre(0));
  EXPECT_THAT(*c->forced_eos_token_id, ElementsAre(0));
  EXPECT_THAT(*c->bad_words_ids, ElementsAre(ElementsAre(256)));
  EXPECT_FALSE(c->max_new_tokens);
  EXPECT_FALSE(c->early_stopping);
  EXPECT_THAT(c->unknown, IsEmpty());
  EXPECT_THAT(c->source, HasSubstr("generation_config.json"));
}

TEST(GenerationConfigFile, IsReadFromConfigJsonInOlderDirectories) {
  TempDirectory dir;
  (void)dir.write("config.json", R"({"model_type": "marian", "d_model": 32, "bos_token_id": null, "eos_token_id": 2,
      "max_length": 30, "num_beams": 4, "early_stopping": true, "diversity_penalty": 0.5, "num_beam_groups": 1,
      "decoder": {"decoder_start_token_id": 5, "max_length": 99}, "task_specific_params": {"x": {"num_beams": 9}}})");
  const auto c = read_generation_config(dir.path());
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->max_length, 30u);
  EXPECT_EQ(c->num_beams, 4u);
  EXPECT_EQ(c->early_stopping, EarlyStopping::yes);
  EXPECT_EQ(c->decoder_start_token_id, 5);
  EXPECT_FALSE(c->bos_token_id);
  EXPECT_THAT(c->modes, ElementsAre("diversity_penalty"));
}

TEST(GenerationConfigFile, OldBartsForceTheirFirstToken) {
  const TempDirectory dir;
  const auto forced = [&dir](const char* text) {
    (void)dir.write("config.json", text);
    const auto c = read_generation_config(dir.path());
    EXPECT_TRUE(c.ok());
    return c.ok() ? c->forced_bos_token_id : std::nullopt;
  };
  EXPECT_EQ(forced(R"({"bos_token_id": 0, "force_bos_token_to_be_generated": true})"), 0);
  EXPECT_EQ(forced(R"({"bos_token_id": 0, "force_bos_token_to_be_generated": true, "forced_bos_token_id": 4})"), 4);
  EXPECT_FALSE(forced(R"({"bos_token_id": 0, "force_bos_token_to_be_generated": false})"));
  EXPECT_FALSE(forced(R"({"bos_token_id": 0})"));
}

TEST(GenerationConfigFile, VersionsTwoToFourBeganAsTheClassSays) {
  const auto start = [](const char* text) {
    TempDirectory dir;
    (void)dir.write("config.json", text);
    const auto c = read_generation_config(dir.path());
    EXPECT_TRUE(c.ok());
    return c.ok() ? c->decoder_start_token_id : std::nullopt;
  };
  EXPECT_EQ(start(R"({"model_type": "fsmt", "bos_token_id": 0})"), 2);
  EXPECT_EQ(start(R"({"model_type": "blenderbot", "transformers_version": "4.12.1"})"), 1);
  EXPECT_EQ(start(R"({"model_type": "bart", "decoder_start_token_id": 5})"), 5);
  EXPECT_FALSE(start(R"({"model_type": "bart", "decoder_start_token_id": null})"));
  EXPECT_FALSE(start(R"({"model_type": "bart", "transformers_version": "5.0.0"})"));
  EXPECT_FALSE(start(R"({"model_type": "t5"})"));
  EXPECT_FALSE(start(R"({"model_type": 5, "transformers_version": []})"));
}

TEST(GenerationConfigFile, IdsThatAreNoneAreNoErrorOfAModel) {
  TempDirectory dir;
  (void)dir.write(
      "generation_config.json",
      R"({"suppress_tokens": [-1, 3, 9], "pad_token_id": -1, "bad_words_ids": [[1, -1], [2]], "eos_token_id": 1})");
  auto c = read_generation_config(dir.path());
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_THAT(*c->suppress_tokens, ElementsAre(3, 9));
  EXPECT_FALSE(c->pad_token_id);
  EXPECT_EQ(*c->bad_words_ids, (std::vector<std::vector<int32_t>>{{2}}));
  EXPECT_THAT(drop_unknown_ids(*c, 9), ElementsAre("suppress_tokens"));
  EXPECT_THAT(*c->suppress_tokens, ElementsAre(3));
  // From a caller such ids are errors.
  EXPECT_THAT(refusal(R"({"suppress_tokens": [-1]})"), HasSubstr("suppress_tokens"));
}

TEST(GenerationConfigFile, HidesConfigJsonWholly) {
  TempDirectory dir;
  (void)dir.write("config.json", R"({"forced_bos_token_id": 3, "decoder_start_token_id": 5, "num_beams": 4})");
  (void)dir.write("generation_config.json", R"({"eos_token_id": [2, 7]})");
  const auto c = read_generation_config(dir.path());
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_THAT(*c->eos_token_id, ElementsAre(2, 7));
  EXPECT_FALSE(c->forced_bos_token_id || c->decoder_start_token_id || c->num_beams);
}

TEST(GenerationConfigFile, BrokenFileIsNoReasonToAskTheOther) {
  TempDirectory dir;
  (void)dir.write("config.json", "{}");
  (void)dir.write("generation_config.json", "{");
  const auto c = read_generation_config(dir.path());
  ASSERT_FALSE(c.ok());
  EXPECT_THAT(c.error().message, HasSubstr("generation_config.json"));
}

TEST(GenerationConfigParse, EveryField) {
  const auto c = parsed(R"({"max_length": 1, "max_new_tokens": 2, "min_length": 3, "min_new_tokens": 4, "num_beams": 5,
    "num_return_sequences": 6, "early_stopping": "never", "length_penalty": -0.5, "bos_token_id": 7, "pad_token_id": 8,
    "decoder_start_token_id": 9, "forced_bos_token_id": 10, "eos_token_id": 11, "forced_eos_token_id": [12, 13],
    "suppress_tokens": [14], "begin_suppress_tokens": [], "bad_words_ids": [[15], [16, 17]],
    "repetition_penalty": 1.5, "encoder_repetition_penalty": 2,
    "no_repeat_ngram_size": 3, "encoder_no_repeat_ngram_size": 1, "sequence_bias": [[[19], -4.0], [[20, 21], 1]],
    "exponential_decay_length_penalty": [4, 1.3], "renormalize_logits": true, "remove_invalid_values": false,
    "do_sample": false, "temperature": 0.7, "top_k": 50, "top_p": 0.9, "min_p": 0.1, "top_h": 0.2, "typical_p": 0.3,
    "epsilon_cutoff": 0.4, "eta_cutoff": 0.6})");
  EXPECT_EQ(c.max_length, 1u);
  EXPECT_EQ(c.max_new_tokens, 2u);
  EXPECT_EQ(c.min_length, 3u);
  EXPECT_EQ(c.min_new_tokens, 4u);
  EXPECT_EQ(c.num_beams, 5u);
  EXPECT_EQ(c.num_return_sequences, 6u);
  EXPECT_EQ(c.early_stopping, EarlyStopping::never);
  EXPECT_EQ(c.length_penalty, -0.5);
  EXPECT_EQ(c.bos_token_id, 7);
  EXPECT_EQ(c.pad_token_id, 8);
  EXPECT_EQ(c.decoder_start_token_id, 9);
  EXPECT_EQ(c.forced_bos_token_id, 10);
  EXPECT_THAT(*c.eos_token_id, ElementsAre(11));
  EXPECT_THAT(*c.forced_eos_token_id, ElementsAre(12, 13));
  EXPECT_THAT(*c.suppress_tokens, ElementsAre(14));
  EXPECT_THAT(*c.begin_suppress_tokens, IsEmpty());
  EXPECT_THAT(*c.bad_words_ids, ElementsAre(ElementsAre(15), ElementsAre(16, 17)));
  EXPECT_EQ(c.repetition_penalty, 1.5);
  EXPECT_EQ(c.encoder_repetition_penalty, 2.0);
  EXPECT_EQ(c.no_repeat_ngram_size, 3u);
  EXPECT_EQ(c.encoder_no_repeat_ngram_size, 1u);
  ASSERT_EQ(c.sequence_bias->size(), 2u);
  EXPECT_THAT((*c.sequence_bias)[1].ids, ElementsAre(20, 21));
  EXPECT_EQ((*c.sequence_bias)[0].bias, -4.0);
  EXPECT_EQ(c.exponential_decay_length_penalty->start, 4u);
  EXPECT_EQ(c.exponential_decay_length_penalty->factor, 1.3);
  EXPECT_EQ(c.renormalize_logits, true);
  EXPECT_EQ(c.remove_invalid_values, false);
  EXPECT_EQ(c.do_sample, false);
  EXPECT_EQ(c.temperature, 0.7);
  EXPECT_EQ(c.top_k, 50u);
  EXPECT_EQ(c.top_p, 0.9);
  EXPECT_EQ(c.min_p, 0.1);
  EXPECT_EQ(c.top_h, 0.2);
  EXPECT_EQ(c.typical_p, 0.3);
  EXPECT_EQ(c.epsilon_cutoff, 0.4);
  EXPECT_EQ(c.eta_cutoff, 0.6);
  EXPECT_THAT(c.unknown, IsEmpty());
}

TEST(GenerationConfigParse, NullMeansUnset) {
  const auto c = parsed(R"({"num_beams": null, "eos_token_id": null, "anything": null})");
  EXPECT_FALSE(c.num_beams || c.eos_token_id);
  EXPECT_THAT(c.unknown, IsEmpty());
}

TEST(GenerationConfigParse, UnknownKeysAreListedUnlessWithoutEffect) {
  const auto c = parsed(R"({"transformers_version": "4", "use_cache": false, "num_beam_groups": 1, "penalty_alpha": 0.6,
    "stop_strings": ["x"], "constraints": null, "zebra": 1, "low_memory": false, "guidance_scale": true})");
  EXPECT_THAT(c.unknown, ElementsAre("zebra"));
  EXPECT_THAT(c.modes, ElementsAre("penalty_alpha", "stop_strings"));
  EXPECT_THAT(c.without_modes, ElementsAre("constraints", "guidance_scale", "num_beam_groups"));
}

TEST(GenerationConfigParse, WrongValuesNameFileAndKey) {
  EXPECT_EQ(refusal(R"({"num_beams": "four"})"), "options: \"num_beams\" must be a whole number from 0 to 4294967295");
  for (const char* text :
       {R"({"max_length": -1})", R"({"max_length": 4294967296})", R"({"max_length": 2.5})", R"({"eos_token_id": -1})",
        R"({"eos_token_id": 2147483648})", R"({"eos_token_id": [1, "x"]})", R"({"early_stopping": "always"})",
        R"({"early_stopping": 1})", R"({"bad_words_ids": [1]})", R"({"bad_words_ids": [[]]})",
        R"({"bad_words_ids": 3})", R"({"sequence_bias": [[[1]]]})", R"({"sequence_bias": {"1": 2}})",
        R"({"sequence_bias": [[[], 1]]})", R"({"exponential_decay_length_penalty": [1]})", R"({"do_sample": 0})",
        R"({"temperature": "hot"})", R"({"length_penalty": [1]})"})
    EXPECT_THAT(refusal(text), HasSubstr("options: \"")) << text;
}

TEST(GenerationConfigParse, RefusesWhatIsNoObject) { EXPECT_FALSE(parse_generation_config(object("[]"), "x").ok()); }

TEST(GenerationConfigMerge, TakesTheUpperWhereSet) {
  auto base = parsed(R"({"num_beams": 6, "max_length": 24, "eos_token_id": 0, "zebra": 1})");
  base.source = "base";
  const auto c = merge(parsed(R"({"num_beams": 1, "early_stopping": true, "yak": 1})"), base);
  EXPECT_EQ(c.num_beams, 1u);
  EXPECT_EQ(c.max_length, 24u);
  EXPECT_EQ(c.early_stopping, EarlyStopping::yes);
  EXPECT_THAT(*c.eos_token_id, ElementsAre(0));
  EXPECT_THAT(c.unknown, ElementsAre("yak", "zebra"));
  EXPECT_EQ(c.source, "base");
}

TEST(GenerationConfigMerge, NeutralValuesDoWithoutTheModelsModes) {
  const auto base = parsed(R"({"penalty_alpha": 0.6, "num_beam_groups": 2, "dola_layers": "low"})");
  EXPECT_THAT(base.modes, ElementsAre("dola_layers", "num_beam_groups", "penalty_alpha"));
  const auto c = merge(parsed(R"({"penalty_alpha": null, "num_beam_groups": 1, "max_time": 3})"), base);
  EXPECT_THAT(c.modes, ElementsAre("dola_layers", "max_time"));
}

// Every search recorded in the conformance set is parsed and laid over its model's settings, and gives what the
// reference had in effect.
TEST(GenerationConfigMerge, GivesWhatTheReferenceRecordedAsEffective) {
  size_t cases = 0;
  for (const char* name : {"marian", "marian-long", "marian-separate-vocab"}) {
    const auto records = read_json_file(model_directory(name) + "/expected.json");
    ASSERT_TRUE(records.ok()) << records.error().message;
    const auto own = read_generation_config(model_directory(name) + "/model");
    ASSERT_TRUE(own.ok()) << own.error().message;
    for (const auto& record : (*records)["cases"]) {
      if (record["kind"] != "generate") continue;
      const std::string where = std::string(name) + " " + record["name"].get<std::string>();
      const auto args = parse_generation_config(record["args"], where);
      const auto effective = parse_generation_config(record["effective"], where);
      ASSERT_TRUE(args.ok()) << args.error().message;
      ASSERT_TRUE(effective.ok()) << effective.error().message;
      const auto merged = merge(*args, *own);
      EXPECT_EQ(merged.num_beams.value_or(1), effective->num_beams.value_or(1)) << where;
      EXPECT_EQ(merged.early_stopping.value_or(EarlyStopping::no),
                effective->early_stopping.value_or(EarlyStopping::no))
          << where;
      EXPECT_EQ(merged.length_penalty.value_or(1), effective->length_penalty.value_or(1)) << where;
      EXPECT_EQ(merged.eos_token_id, effective->eos_token_id) << where;
      EXPECT_EQ(merged.bad_words_ids, effective->bad_words_ids) << where;
      EXPECT_EQ(merged.pad_token_id, effective->pad_token_id) << where;
      EXPECT_EQ(merged.repetition_penalty.value_or(1), effective->repetition_penalty.value_or(1)) << where;
      EXPECT_THAT(merged.unknown, IsEmpty()) << where;
      ++cases;
    }
  }
  EXPECT_GT(cases, 50u);
}

}  // namespace
}  // namespace lapilli
