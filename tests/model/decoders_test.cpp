// Decoders alone: what a field means that a class's files leave out, names of tensors old and new, ties, windows, the
// rotation's change, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"
#include "model/positions.hpp"
#include "support/fixtures.hpp"
#include "support/safetensors_file.hpp"

namespace lapilli::model {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Config> parse_decoder(const json& file) {
  const Family* family = find_family(file.value("model_type", std::string()));
  if (!family) return fail(ErrorCode::unsupported, "no such family");
  return family->config(file, "config.json");
}

// A Llama-like file of small sizes, without heads of keys.
json small(const char* type) {
  return {{"model_type", type},        {"hidden_size", 64},        {"intermediate_size", 96}, {"num_hidden_layers", 4},
          {"num_attention_heads", 32}, {"num_key_value_heads", 4}, {"head_dim", 8},           {"vocab_size", 100}};
}

json with(json file, const char* key, const json& value) {
  file[key] = value;
  return file;
}
json without(json file, const char* key) {
  file.erase(key);
  return file;
}

StackConfig stack_of(const json& file) {
  const auto config = parse_decoder(file);
  EXPECT_TRUE(config.ok()) << file.dump() << (config ? "" : config.error().message);
  return config ? config->decoder : StackConfig();
}

std::string refusal(const json& file) {
  const auto config = parse_decoder(file);
  return config ? "taken" : config.error().message;
}

// ---- what absent fields mean ---------------------------------------------------------------------------------------

TEST(Decoders, AbsentFieldsMeanWhatTheirClassSays) {
  struct Expected {
    const char* type;
    uint32_t kv_heads, head_dim, positions, window;
    double base;
    bool tied;
  };
  constexpr uint32_t kNone = kNoWindow;
  const Expected all[] = {
      {"llama", 32, 2, 2048, kNone, 1e4, false},           {"granite", 32, 2, 2048, kNone, 1e4, false},
      {"mistral", 8, 2, 65536, 4095, 1e4, false},          {"qwen2", 32, 2, 32768, kNone, 1e4, false},
      {"qwen3", 32, 128, 32768, kNone, 1e4, false},        {"smollm3", 4, 2, 32768, kNone, 2e6, true},
      {"hunyuan_v1_dense", 32, 2, 2048, kNone, 1e4, false}};
  for (const Expected& e : all) {
    const json file = without(without(small(e.type), "num_key_value_heads"), "head_dim");
    const StackConfig s = stack_of(file);
    EXPECT_EQ(s.kv_heads(), e.kv_heads) << e.type;
    EXPECT_EQ(s.head_dim, e.head_dim) << e.type;
    EXPECT_EQ(s.max_positions, e.positions) << e.type;
    EXPECT_EQ(s.window(0), e.window) << e.type;
    EXPECT_EQ(s.rotary_base, e.base) << e.type;
    EXPECT_EQ(parse_decoder(file)->tied_output, e.tied) << e.type;
  }
}

TEST(Decoders, NullIsNotAbsent) {
  EXPECT_EQ(stack_of(with(small("mistral"), "num_key_value_heads", nullptr)).kv_heads(), 32u);
  EXPECT_EQ(stack_of(with(small("mistral"), "sliding_window", nullptr)).window(0), kNoWindow);
  EXPECT_EQ(stack_of(with(small("mistral"), "head_dim", nullptr)).head_dim, 2u);
}

TEST(Decoders, BiasesAreTheClasssOrChosen) {
  EXPECT_FALSE(stack_of(small("llama")).qkv_bias);
  const StackConfig chosen = stack_of(with(small("llama"), "attention_bias", true));
  EXPECT_TRUE(chosen.qkv_bias && chosen.out_bias);
  EXPECT_FALSE(chosen.ffn_bias);
  EXPECT_TRUE(stack_of(with(small("llama"), "mlp_bias", true)).ffn_bias);
  const StackConfig qwen = stack_of(with(small("qwen2"), "attention_bias", false));
  EXPECT_TRUE(qwen.qkv_bias);
  EXPECT_FALSE(qwen.out_bias || qwen.ffn_bias);
  EXPECT_FALSE(stack_of(with(small("mistral"), "attention_bias", true)).qkv_bias);
}

TEST(Decoders, LayersWithAWindow) {
  json file = with(small("qwen2"), "sliding_window", 5);
  file["max_window_layers"] = 3;
  EXPECT_TRUE(stack_of(file).windows.empty());  // use_sliding_window is not said
  file["use_sliding_window"] = true;
  EXPECT_THAT(stack_of(file).windows, ElementsAre(kNoWindow, kNoWindow, kNoWindow, 4u));
  file["layer_types"] = {"sliding_attention", "full_attention", "full_attention", "sliding_attention"};
  EXPECT_THAT(stack_of(file).windows, ElementsAre(4u, kNoWindow, kNoWindow, 4u));
  file["use_sliding_window"] = false;
  EXPECT_TRUE(stack_of(file).windows.empty());
  // Wider than all positions.
  EXPECT_TRUE(
      stack_of(with(with(small("mistral"), "sliding_window", 64), "max_position_embeddings", 64)).windows.empty());
}

TEST(Decoders, LayersWithoutRotation) {
  EXPECT_THAT(stack_of(small("smollm3")).rotated, ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(stack_of(with(small("smollm3"), "no_rope_layer_interval", 2)).rotated, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(stack_of(with(small("smollm3"), "no_rope_layers", {0, 1, 1, 0})).rotated, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(refusal(with(small("smollm3"), "no_rope_layers", {0, 1})), HasSubstr("no_rope_layers"));
  EXPECT_THAT(refusal(with(small("smollm3"), "no_rope_layers", {0, 1, 2, 0})), HasSubstr("layer 2"));
}

json small_neo(const json& types, uint32_t layers = 4) {
  return {{"model_type", "gpt_neo"}, {"hidden_size", 64},        {"num_layers", layers}, {"num_heads", 4},
          {"vocab_size", 100},       {"attention_types", types}, {"window_size", 5}};
}

TEST(Decoders, GptNeoRepeatsKindsOfLayers) {
  const json pairs = json::parse(R"([[["global", "local"], 2]])");
  const StackConfig s = stack_of(small_neo(pairs));
  EXPECT_THAT(s.windows, ElementsAre(kNoWindow, 4u, kNoWindow, 4u));
  EXPECT_FALSE(s.scaled_attention || s.qkv_bias);
  EXPECT_TRUE(s.out_bias && s.ffn_bias);
  EXPECT_EQ(s.ffn, 256u);
  EXPECT_EQ(stack_of(with(small_neo(pairs), "intermediate_size", nullptr)).ffn, 256u);
  EXPECT_THAT(stack_of(small_neo(json::parse(R"([[["local"], 3], [["global"], 1]])"))).windows,
              ElementsAre(4u, 4u, 4u, kNoWindow));
  EXPECT_EQ(stack_of(without(small_neo(pairs, 24), "attention_types")).windows.size(), 24u);
  EXPECT_THAT(refusal(small_neo(pairs, 5)), AllOf(HasSubstr("4 layers"), HasSubstr("num_layers is 5")));
  EXPECT_THAT(refusal(small_neo(json::parse(R"([[["sparse"], 4]])"))), HasSubstr("sparse"));
  for (const char* bad : {R"([[["global"], 4000000000]])", R"([[["global"], -1]])", R"([["global", 4]])", R"({})", "7",
                          R"([[["global"]]])"})
    EXPECT_THAT(refusal(small_neo(json::parse(bad))), HasSubstr("attention_types")) << bad;
  EXPECT_THAT(refusal(with(small_neo(pairs), "window_size", 0)), HasSubstr("window_size"));
}

TEST(Decoders, GemmaHasTwoKindsOfLayers) {
  json file = with(small("gemma3_text"), "sliding_window", 5);
  file["sliding_window_pattern"] = 2;
  file["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 8}};
  const StackConfig s = stack_of(file);
  EXPECT_THAT(s.windows, ElementsAre(4u, kNoWindow, 4u, kNoWindow));
  EXPECT_EQ(s.rotary_base, 1e6);
  EXPECT_EQ(s.window_rotary_base, 1e4);
  EXPECT_EQ(s.rotary_scaling.factor, 8);
  EXPECT_EQ(s.window_rotary_scaling.kind, RotaryScaling::Kind::none);
  EXPECT_EQ(s.score_scale, 1.0f / 16);
  EXPECT_EQ(s.embedding_scale, 8.0f);
  EXPECT_EQ(s.activation_name, "gelu_pytorch_tanh");
  EXPECT_TRUE(s.norm_plus_one && s.branch_norm && s.head_norm);
  file["layer_types"] = {"full_attention", "sliding_attention", "full_attention", "sliding_attention"};
  EXPECT_THAT(stack_of(file).windows, ElementsAre(kNoWindow, 4u, kNoWindow, 4u));  // goes before the pattern
  // They stay two kinds where the window is as wide as all positions: their rotations differ.
  EXPECT_THAT(stack_of(with(with(small("gemma3_text"), "max_position_embeddings", 64), "sliding_window", 100)).windows,
              ElementsAre(63u, 63u, 63u, 63u));
}

TEST(Decoders, GemmasRotationsInTheNewerForm) {
  json file = small("gemma3_text");
  file["rope_parameters"] = {{"full_attention", {{"rope_type", "linear"}, {"factor", 4}, {"rope_theta", 5e5}}},
                             {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 500}}}};
  const StackConfig s = stack_of(file);
  EXPECT_EQ(s.rotary_base, 5e5);
  EXPECT_EQ(s.rotary_scaling.factor, 4);
  EXPECT_EQ(s.window_rotary_base, 500);
  EXPECT_EQ(s.window_rotary_scaling.kind, RotaryScaling::Kind::none);
  file["rope_parameters"]["sliding_attention"]["rope_type"] = "yarn";
  EXPECT_THAT(refusal(file), HasSubstr("yarn"));
  file["rope_parameters"]["sliding_attention"] = {{"rope_theta", -1}};
  EXPECT_THAT(refusal(file), HasSubstr("positive"));
}

// Half of the window on either side; an odd number is that of a copy that the reference has saved again.
TEST(Decoders, GemmaThatRepresentsTextsSeesBothSides) {
  auto file = with(small("gemma3_text"), "use_bidirectional_attention", true);
  EXPECT_FALSE(parse_decoder(small("gemma3_text"))->decoder.sees_ahead);
  for (const auto& [window, side] : {std::pair(8u, 4u), std::pair(9u, 8u), std::pair(1u, 0u)}) {
    file["sliding_window"] = window;
    const auto config = parse_decoder(file);
    ASSERT_TRUE(config.ok());
    EXPECT_TRUE(config->decoder.sees_ahead);
    EXPECT_EQ(config->decoder.window(0), side);
  }
}

TEST(Decoders, WhatGemmaRefuses) {
  EXPECT_THAT(refusal(with(small("gemma3_text"), "attn_logit_softcapping", 50)), HasSubstr("attn_logit_softcapping"));
  EXPECT_THAT(refusal(with(small("gemma3_text"), "query_pre_attn_scalar", 0)), HasSubstr("query_pre_attn_scalar"));
  EXPECT_THAT(refusal(with(small("gemma3_text"), "sliding_window_pattern", 0)), HasSubstr("sliding_window_pattern"));
  EXPECT_EQ(parse_decoder(with(small("gemma3_text"), "final_logit_softcapping", 30))->output_cap, 30);
  EXPECT_THAT(refusal({{"model_type", "gemma3"}}), HasSubstr("text_config"));
  // Fields that text_config lacks are those of the class.
  const auto text = parse_decoder({{"model_type", "gemma3"}, {"text_config", {{"hidden_size", 16}}}});
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text->target_vocabulary, 262208u);
  EXPECT_EQ(text->decoder.kv_heads(), 4u);
  EXPECT_EQ(text->decoder.heads, 8u);
  EXPECT_EQ(text->decoder.head_dim, 256u);
  EXPECT_EQ(text->decoder.window(0), 4095u);
  EXPECT_EQ(text->decoder.window(5), kNoWindow);
}

// ---- published files ------------------------------------------------------------------------------------------------

const char* rotary_name(RotaryScaling::Kind kind) {
  return kind == RotaryScaling::Kind::none ? "default" : kind == RotaryScaling::Kind::linear ? "linear" : "llama3";
}

void expect_windows(const StackConfig& s, const json& expected, const std::string& name) {
  for (uint32_t i = 0; i < s.layers; ++i) {
    const uint32_t window = expected.contains("windows") ? expected["windows"][i].get<uint32_t>() : 0;
    EXPECT_EQ(s.window(i), window == 0 || window >= s.max_positions ? kNoWindow : window - 1)
        << name << ", layer " << i;
    const bool rotates = !expected.contains("rotated") || expected["rotated"][i] == 1;
    EXPECT_EQ(s.rotates(i), expected.contains("base") && rotates) << name << ", layer " << i;
  }
}

void expect_rotation(const StackConfig& s, const json& expected, const std::string& name) {
  if (!expected.contains("base")) return;
  EXPECT_NEAR(s.rotary_base / expected["base"].get<double>(), 1, 1e-6) << name;
  EXPECT_EQ(rotary_name(s.rotary_scaling.kind), expected["rope"]) << name;
  EXPECT_EQ(s.rotary_scaling.factor, expected.value("factor", 1.0)) << name;
  if (expected.contains("window_base")) {
    EXPECT_EQ(s.window_rotary_base, expected["window_base"]) << name;
  }
}

// The config.json of published directories, at full size, against what the reference makes of them.
TEST(Decoders, PublishedFilesMeanWhatTheReferenceSays) {
  const auto files = read_json_file(LAPILLI_TEST_DATA "/decoders/configs.json");
  ASSERT_TRUE(files.ok()) << files.error().message;
  size_t read = 0;
  for (const json& file : files->at("directories")) {
    const std::string name = file["name"];
    json config = file["config"];
    if (!config.contains("model_type"))
      config["model_type"] = type_of_class(config["architectures"][0].get<std::string>());
    if (!find_family(config["model_type"].get<std::string>())) continue;
    ++read;
    const auto ours = parse_decoder(config);
    ASSERT_TRUE(ours.ok()) << name << ": " << ours.error().message;
    const StackConfig& s = ours->decoder;
    const json& e = file["expected"];
    const json shape = {{"heads", s.heads},
                        {"kv_heads", s.kv_heads()},
                        {"head_dim", s.head_dim},
                        {"width", s.d_model},
                        {"vocabulary", ours->target_vocabulary},
                        {"layers", s.layers},
                        {"tied", ours->tied_output}};
    for (const auto& [key, value] : shape.items()) EXPECT_EQ(value, e[key]) << name << ": " << key;
    expect_rotation(s, e, name);
    expect_windows(s, e, name);
  }
  EXPECT_GE(read, 30u);
}

// ---- the rotation's change ------------------------------------------------------------------------------------------

TEST(Decoders, ScalingInOldAndNewForms) {
  json file = with(small("llama"), "rope_theta", 500);
  EXPECT_EQ(stack_of(file).rotary_base, 500);
  file["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 700}};
  EXPECT_EQ(stack_of(file).rotary_base, 700);
  file["rope_scaling"] = {{"type", "linear"}, {"factor", 2.5}};  // goes before the newer field
  const StackConfig s = stack_of(file);
  EXPECT_EQ(s.rotary_base, 500);
  EXPECT_EQ(s.rotary_scaling.kind, RotaryScaling::Kind::linear);
  EXPECT_EQ(s.rotary_scaling.factor, 2.5);
  file["rope_scaling"]["rope_type"] = "default";  // goes before `type`
  EXPECT_EQ(stack_of(file).rotary_scaling.kind, RotaryScaling::Kind::none);
}

// Three forms of one thing; the fields around them do not matter where the form has its own.
TEST(Decoders, Llama3sScalingInThreeForms) {
  const json fields = {{"factor", 8},
                       {"low_freq_factor", 2},
                       {"high_freq_factor", 5},
                       {"original_max_position_embeddings", 64},
                       {"rope_theta", 500}};
  const std::pair<const char*, const char*> forms[] = {
      {"rope_scaling", "type"}, {"rope_scaling", "rope_type"}, {"rope_parameters", "rope_type"}};
  for (const auto& [place, key] : forms) {
    const json file = with(small("llama"), "max_position_embeddings", 512);
    const StackConfig s = stack_of(with(file, place, with(fields, key, "llama3")));
    EXPECT_EQ(s.rotary_scaling.kind, RotaryScaling::Kind::llama3) << place << ", " << key;
    EXPECT_EQ(s.rotary_base, 500);
    EXPECT_EQ(s.rotary_scaling.factor, 8);
    EXPECT_EQ(s.rotary_scaling.low, 2);
    EXPECT_EQ(s.rotary_scaling.high, 5);
    EXPECT_EQ(s.rotary_scaling.original, 64);
    const json no_length = without(with(fields, key, "llama3"), "original_max_position_embeddings");
    EXPECT_EQ(stack_of(with(file, place, no_length)).rotary_scaling.original, 512);
    EXPECT_EQ(
        stack_of(with(with(file, place, no_length), "original_max_position_embeddings", 96)).rotary_scaling.original,
        96);
    EXPECT_THAT(refusal(with(file, place, with(fields, key, "llama4"))), HasSubstr("llama4"));
  }
}

TEST(Decoders, OtherScalingsAreRefusedByName) {
  for (const char* kind : {"dynamic", "yarn", "longrope", "su", "new"}) {
    const json scaling = {{"rope_type", kind}, {"factor", 2}};
    EXPECT_THAT(refusal(with(small("llama"), "rope_scaling", scaling)),
                AllOf(HasSubstr(kind), HasSubstr("linear and llama3 are")));
    EXPECT_THAT(refusal(with(small("llama"), "rope_parameters", scaling)), HasSubstr(kind));
  }
  json linear = json::object({{"type", "linear"}});
  EXPECT_THAT(refusal(with(small("llama"), "rope_scaling", linear)), HasSubstr("factor"));
  linear["factor"] = 0;
  EXPECT_THAT(refusal(with(small("llama"), "rope_scaling", linear)), HasSubstr("positive"));
  EXPECT_THAT(refusal(with(small("llama"), "rope_theta", 0)), HasSubstr("rope_theta"));
  const json low_above_high = {{"rope_type", "llama3"}, {"factor", 8}, {"low_freq_factor", 4}, {"high_freq_factor", 4}};
  EXPECT_THAT(refusal(with(small("llama"), "rope_scaling", low_above_high)), HasSubstr("low_freq_factor"));
}

// An alpha stretches the base; other kinds of the name stay unknown.
TEST(Decoders, HunyuansAlpha) {
  json file = with(small("hunyuan_v1_dense"), "rope_theta", 10);
  for (const char* place : {"rope_scaling", "rope_parameters"})
    for (const char* key : {"type", "rope_type"}) {
      const json scaling = {{key, "dynamic"}, {"alpha", 1000.0}, {"factor", 1.0}, {"mscale", 1.0}};
      const StackConfig s = stack_of(with(file, place, scaling));
      EXPECT_NEAR(s.rotary_base, 10 * std::pow(1000.0, 8.0 / 6), 1e-6) << place << ", " << key;
      EXPECT_EQ(s.rotary_scaling.kind, RotaryScaling::Kind::none);
      EXPECT_TRUE(s.head_norm && s.head_norm_last);
      for (const json& alpha : {json(), json(0), json(-1)})
        EXPECT_THAT(refusal(with(file, place, with(scaling, "alpha", alpha))), HasSubstr("alpha")) << alpha;
      EXPECT_THAT(refusal(with(file, place, with(scaling, key, "yarn"))), HasSubstr("yarn"));
    }
  EXPECT_THAT(refusal(with(file, "use_cla", true)), HasSubstr("use_cla"));
  EXPECT_EQ(refusal(with(file, "mlp_bias", true)), "taken");  // the class reads no such field
  EXPECT_THAT(refusal(with(small("llama"), "partial_rotary_factor", 0.5)), HasSubstr("partial_rotary_factor"));
}

// The angle of a pair at position 1, from its cosine and sine.
double angle(const StackConfig& s, uint32_t pair) {
  const auto table = rotations(s, false);
  const size_t row = (2 * s.rotary_pairs() + 3) / 4 * 4, at = row + 2 * size_t{pair};
  return std::atan2(static_cast<double>(table[at + 1]), static_cast<double>(table[at]));
}

TEST(Decoders, ScaledFrequencies) {
  StackConfig s;
  s.rotary = 8;
  s.rotary_scaling = {RotaryScaling::Kind::linear, 4};
  for (uint32_t i = 0; i < 4; ++i) EXPECT_NEAR(angle(s, i), std::pow(10.0, -static_cast<double>(i)) / 4, 1e-6) << i;
  // Waves of 6.3, 63, 628 and 6283 positions: kept below 500 / 4, divided beyond 500 / 0.25, mixed between.
  s.rotary_scaling = {RotaryScaling::Kind::llama3, 8, 0.25, 4, 500};
  EXPECT_NEAR(angle(s, 0), 1.0, 1e-6);
  EXPECT_NEAR(angle(s, 1), 0.1, 1e-6);
  const double share = (500 * 0.01 / (2 * std::numbers::pi) - 0.25) / 3.75;
  EXPECT_NEAR(angle(s, 2), (1 - share) * 0.01 / 8 + share * 0.01, 1e-6);
  EXPECT_NEAR(angle(s, 3), 0.001 / 8, 1e-6);
}

// ---- hostile files --------------------------------------------------------------------------------------------------

TEST(Decoders, SizesThatContradict) {
  EXPECT_THAT(refusal(with(small("llama"), "num_key_value_heads", 5)),
              AllOf(HasSubstr("32 num_attention_heads"), HasSubstr("5 num_key_value_heads")));
  EXPECT_THAT(refusal(with(without(small("mistral"), "num_key_value_heads"), "num_attention_heads", 12)),
              HasSubstr("this family's default"));
  EXPECT_THAT(refusal(with(small("mistral"), "sliding_window", 0)),
              AllOf(HasSubstr("sliding_window"), HasSubstr("null")));
  EXPECT_THAT(refusal(with(small("llama"), "head_dim", 7)), HasSubstr("even"));
  EXPECT_THAT(refusal(with(small("llama"), "num_key_value_heads", 0)), HasSubstr("num_key_value_heads"));
  EXPECT_THAT(refusal(with(small("llama"), "head_dim", 65536)), HasSubstr("attention heads"));
  EXPECT_THAT(refusal(with(small("qwen2"), "num_hidden_layers", 0)), HasSubstr("num_hidden_layers"));
  json file = with(small("qwen3"), "use_sliding_window", true);
  EXPECT_THAT(refusal(with(file, "layer_types", {"full_attention"})), HasSubstr("4 layers"));
  EXPECT_THAT(refusal(with(file, "layer_types", {"chunked_attention", "a", "b", "c"})), HasSubstr("chunked_attention"));
  file = with(small("qwen3"), "num_attention_heads", 512);
  EXPECT_THAT(refusal(file), HasSubstr("at most 512"));
}

TEST(Decoders, GranitesFactors) {
  json file = with(with(small("granite"), "embedding_multiplier", 6), "residual_multiplier", 0.5);
  file["attention_multiplier"] = 0.25;
  file["logits_scaling"] = 4;
  file["rms_norm_eps"] = 1e-5;
  const auto config = parse_decoder(file);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->decoder.embedding_scale, 12);
  EXPECT_EQ(config->decoder.state_scale, 0.5f);
  EXPECT_FLOAT_EQ(config->decoder.norm_epsilon, 4e-5f);
  EXPECT_EQ(config->decoder.score_scale, 0.25f);
  EXPECT_EQ(config->output_scale, 0.25f);
  for (const char* key : {"embedding_multiplier", "residual_multiplier", "attention_multiplier", "logits_scaling"})
    for (const double value : {0.0, -1.0, 1e30}) EXPECT_THAT(refusal(with(file, key, value)), HasSubstr(key)) << value;
}

TEST(Decoders, OtherHeadsAreRefused) {
  EXPECT_THAT(refusal(with(small("qwen3"), "architectures", {"Qwen3ForSequenceClassification"})),
              HasSubstr("Qwen3ForSequenceClassification"));
  EXPECT_EQ(refusal(with(small("qwen3"), "architectures", {"Qwen3ForCausalLM"})), "taken");
  EXPECT_EQ(refusal(with(small("qwen3"), "architectures", {"Qwen3Model"})), "taken");
  EXPECT_THAT(refusal(with(small("llama"), "use_bidirectional_attention", true)), HasSubstr("represents texts"));
  const json gpt = json::object({{"model_type", "gpt2"}});
  EXPECT_EQ(refusal(gpt), "taken");
  EXPECT_THAT(refusal(with(gpt, "scale_attn_by_inverse_layer_idx", true)), HasSubstr("inverse_layer_idx"));
  EXPECT_THAT(refusal(with(gpt, "add_cross_attention", true)), HasSubstr("add_cross_attention"));
}

TEST(Decoders, OptAndTheFirstGpt) {
  const json opt = {{"model_type", "opt"}, {"hidden_size", 64}, {"num_attention_heads", 4}, {"ffn_dim", 128}};
  const StackConfig plain = stack_of(opt), narrow = stack_of(with(opt, "word_embed_proj_dim", 32));
  EXPECT_TRUE(plain.pre_norm && plain.final_norm && plain.embedding_width == 0);
  EXPECT_EQ(plain.position_offset, 2u);
  EXPECT_TRUE(narrow.wide_positions);
  EXPECT_EQ(narrow.embedding_width, 32u);
  EXPECT_EQ(narrow.position_columns(), 64u);
  const StackConfig behind = stack_of(with(opt, "do_layer_norm_before", false));
  EXPECT_FALSE(behind.pre_norm || behind.final_norm);
  EXPECT_FALSE(stack_of(with(opt, "_remove_final_layer_norm", true)).final_norm);
  const StackConfig gpt = stack_of(json::object({{"model_type", "openai-gpt"}}));
  EXPECT_EQ(gpt.activation, Activation::gelu_tanh);
  EXPECT_FALSE(gpt.pre_norm || gpt.final_norm);
}

// ---- tensors --------------------------------------------------------------------------------------------------------

class DecoderFiles : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string directory = std::string(LAPILLI_TEST_DATA "/") + GetParam() + "/model";
    json_ = *read_json_file(directory + "/config.json");
    const auto checkpoint = Checkpoint::open(directory);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
    for (const StoredTensor& t : checkpoint->tensors()) file_.tensors[t.name] = {t.shape, *read_floats(t)};
  }
  Result<Network> bound() {
    file_.write();
    checkpoint_ = *Checkpoint::open_file(file_.path());
    LAPILLI_TRY(const auto config, parse_decoder(json_));
    return bind_weights(config, find_family(config.family)->names(config), checkpoint_);
  }
  std::string binding() {
    const auto network = bound();
    return network ? "bound" : network.error().message;
  }
  [[nodiscard]] std::string embedding() const { return json_["model_type"] == "gpt2" ? "wte" : "embed_tokens"; }
  json json_;
  testing_support::SafetensorsFile file_;
  Checkpoint checkpoint_;
};

TEST_P(DecoderFiles, NamesWithoutThePrefix) {
  std::map<std::string, testing_support::SafetensorsFile::Tensor> renamed;
  for (auto& [name, tensor] : file_.tensors) renamed[name.substr(name.find('.') + 1)] = std::move(tensor);
  file_.tensors = std::move(renamed);
  EXPECT_EQ(binding(), "bound");
}

// Without the window the output would be another one, in silence. Its mask is for weights of attention that are kept.
TEST_P(DecoderFiles, LayersWithAWindowHaveAMask) {
  if (json_["model_type"] == "gpt2") return;  // the family has none
  json_["use_sliding_window"] = true;
  json_["sliding_window"] = 2;
  json_.erase("layer_types");
  json_["max_window_layers"] = 1;
  LAPILLI_ASSERT_VALUE(const auto network, bound());
  EXPECT_EQ(network.decoder.layers[0].self.relative_bias, kNoWeight);
  const AttentionWeights& near = network.decoder.layers[1].self;
  ASSERT_NE(near.relative_bias, kNoWeight);
  EXPECT_EQ(near.distance_low, -2);
  const auto& buckets = network.weights[near.distances].values;
  EXPECT_THAT(std::vector<float>(buckets.begin(), buckets.begin() + near.distance_count), ElementsAre(1, 0, 0, 1));
}

TEST_P(DecoderFiles, AnOutputBesideTheEmbedding) {
  LAPILLI_ASSERT_VALUE(const auto alone, bound());
  std::string name;
  for (const auto& [n, tensor] : file_.tensors)
    if (n.ends_with(embedding() + ".weight")) name = n;
  ASSERT_FALSE(name.empty());
  file_.tensors["lm_head.weight"] = file_.tensors[name];
  LAPILLI_ASSERT_VALUE(const auto equal, bound());
  EXPECT_EQ(equal.parameters, alone.parameters);
  file_.tensors["lm_head.weight"].values[0] += 1;
  LAPILLI_ASSERT_VALUE(const auto other, bound());
  EXPECT_GT(other.parameters, alone.parameters);
  file_.tensors.erase("lm_head.weight");
  json_["tie_word_embeddings"] = false;
  EXPECT_THAT(binding(), AllOf(HasSubstr("lm_head.weight"), HasSubstr("tie_word_embeddings")));
}

TEST_P(DecoderFiles, BuffersAreNoWeights) {
  LAPILLI_ASSERT_VALUE(const auto alone, bound());
  file_.tensors["transformer.h.0.attn.bias"] = {{1, 1, 2, 2}, {1, 0, 1, 1}};
  file_.tensors["transformer.h.0.attn.masked_bias"] = {{1}, {-1e4f}};
  file_.tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = {{2}, {1, 2}};
  LAPILLI_ASSERT_VALUE(const auto beside, bound());
  EXPECT_EQ(beside.parameters, alone.parameters);
}

INSTANTIATE_TEST_SUITE_P(Models, DecoderFiles, testing::Values("decoders/gpt2", "models/qwen3"), [](const auto& name) {
  return std::string(name.param).substr(std::string(name.param).find('/') + 1);
});

}  // namespace
}  // namespace lapilli::model
