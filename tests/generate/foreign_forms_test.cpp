// Directories of models in forms that are not read: each is refused by the name of its form, with what would do, before
// any weights are read. words.json holds what a message must contain ("a|b": one of them).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/hf_config.hpp"
#include "generate/published.hpp"
#include "support/fixtures.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kForms = LAPILLI_TEST_DATA "/decoders/refused";

std::string refusal_of(const Files& files) {
  const auto published = read_published(files, {});
  return published ? "taken" : published.error().message;
}

bool has_one_of(const std::string& message, const std::string& words) {
  for (size_t from = 0; from <= words.size();) {
    const size_t to = std::min(words.find('|', from), words.size());
    if (message.find(words.substr(from, to - from)) != std::string::npos) return true;
    from = to + 1;
  }
  return false;
}

// Words of advice, one of which each message has.
constexpr const char* kAdvice = "get the|load that model|this version knows";

TEST(ForeignForms, AreRefusedByNameWithWhatWouldDo) {
  LAPILLI_ASSERT_VALUE(const auto words, read_json_file(kForms + "/words.json"));
  EXPECT_EQ(words.size(), 13u);
  for (const auto& [name, expected] : words.items()) {
    const std::string message = refusal_of(kForms + "/" + name);
    for (const auto& word : expected)
      EXPECT_TRUE(has_one_of(message, word.get<std::string>())) << name << ": " << message;
    EXPECT_TRUE(has_one_of(message, kAdvice)) << name << ": " << message;
    EXPECT_THAT(message, HasSubstr(name)) << "the directory is named";
  }
}

// ---- by content ----------------------------------------------------------------------------------------------------

nlohmann::json config_of(const std::string& form) {
  auto json = read_json_file(kForms + "/" + form + "/config.json");
  EXPECT_TRUE(json.ok()) << form;
  return json ? *json : nlohmann::json::object();
}

// The refusal of a form's files with another config.json.
std::string refusal_with(const std::string& form, const nlohmann::json& config) {
  const TempDirectory folder;
  folder.copy_from(kForms + "/" + form);
  folder.write("config.json", config.dump());
  return refusal_of(folder.path());
}

TEST(ForeignForms, TensorsTellWhatConfigDoesNot) {
  const std::pair<const char*, const char*> all[] = {
      {"gptq", "GPTQ"}, {"awq", "AWQ"}, {"bitsandbytes", "bitsandbytes"}, {"fp8", "FP8"}, {"compressed-tensors", "FP8"},
      {"mlx", "MLX"}};
  for (const auto& [form, word] : all) {
    auto json = config_of(form);
    json["model_type"] = "qwen3";  // which this version knows
    json["architectures"] = {"Qwen3ForCausalLM"};
    for (const char* key : {"quantization_config", "quantization", "rope_scaling"}) json.erase(key);
    EXPECT_THAT(refusal_with(form, json), AllOf(HasSubstr(word), HasSubstr("quantized by"))) << form;
  }
}

TEST(ForeignForms, AnAdapterBesideWeightsIsNotReadAndNotRefused) {
  const TempDirectory folder;
  folder.copy_from(kForms + "/lora-with-config");
  folder.copy_from(kForms + "/remote-code");
  folder.write("config.json", config_of("lora-with-config").dump());
  EXPECT_THAT(refusal_of(folder.path()), HasSubstr("model.embed_tokens.weight has shape"));
}

TEST(ForeignForms, SettingsThatSayThatNothingIsQuantized) {
  auto json = config_of("fp8");
  json["quantization_config"] = nullptr;
  EXPECT_THAT(refusal_with("remote-code", json), HasSubstr("model.embed_tokens.weight has shape"));
  json["quantization_config"] = {{"load_in_4bit", true}, {"load_in_8bit", false}};
  EXPECT_THAT(refusal_with("remote-code", json), HasSubstr("bitsandbytes"));
}

TEST(ForeignForms, OwnCodeBesideAKnownTypeDoesNotMatter) {
  auto json = config_of("fp8");
  json.erase("quantization_config");
  json["auto_map"] = config_of("remote-code").at("auto_map");
  EXPECT_THAT(refusal_with("remote-code", json), HasSubstr("model.embed_tokens.weight has shape"));
}

// A directory of 2019 whose config.json names the class and no model type.
TEST(ForeignForms, ATypeByTheClass) {
  const nlohmann::json json = {{"architectures", {"GPT2LMHeadModel"}}, {"n_embd", 32}, {"n_head", 4}};
  EXPECT_THAT(refusal_with("remote-code", json), HasSubstr("lacks tensor transformer.wte.weight"));
}

}  // namespace
}  // namespace lapilli
