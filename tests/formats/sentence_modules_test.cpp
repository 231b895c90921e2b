// Directories of sentence-transformers: the steps from a text to a vector, and the settings beside the network.
#include "formats/sentence_modules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using P = SentencePooling;

class SentenceFolder {
 public:
  SentenceFolder& with(const std::string& name, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(directory_.path() + "/" + name).parent_path());
    (void)directory_.write(name, content);
    return *this;
  }
  SentenceFolder& steps(const std::vector<std::pair<std::string, std::string>>& steps) {
    std::string list;
    for (const auto& [type, path] : steps)
      list += (list.empty() ? "" : ",") + (R"({"type": ")" + type + R"(", "path": ")" + path + "\"}");
    return with("modules.json", "[" + list + "]");
  }
  SentenceFolder& pooling(const std::string& content) {
    return steps({{kTransformer, ""}, {kPooling, "1_Pooling"}}).with("1_Pooling/config.json", content);
  }
  SentenceFolder& dense(const std::string& content) {
    return steps({{kTransformer, ""}, {kPooling, "1_Pooling"}, {kDense, "2_Dense"}})
        .with("1_Pooling/config.json", "{}")
        .with("2_Dense/config.json", content);
  }

  [[nodiscard]] Files files() const { return directory_.path(); }
  [[nodiscard]] SentenceModules modules() const {
    auto read = read_sentence_modules(files());
    EXPECT_TRUE(read.ok()) << read.error().message;
    EXPECT_TRUE(!read || read->has_value());
    return read && *read ? **read : SentenceModules{};
  }
  [[nodiscard]] std::string refusal() const {
    const auto read = read_sentence_modules(files());
    return read ? "" : read.error().message;
  }
  [[nodiscard]] SentenceSettings settings() const {
    auto read = read_sentence_settings(files(), files());
    EXPECT_TRUE(read.ok()) << read.error().message;
    return read ? *read : SentenceSettings{};
  }
  [[nodiscard]] std::string wrong_settings() const {
    const auto read = read_sentence_settings(files(), files());
    return read ? "" : read.error().message;
  }

  static constexpr const char *kTransformer = "sentence_transformers.models.Transformer",
                              *kPooling = "sentence_transformers.models.Pooling",
                              *kDense = "sentence_transformers.models.Dense",
                              *kNormalize = "sentence_transformers.models.Normalize";

 private:
  TempDirectory directory_;
};
using F = SentenceFolder;

// ---- pooling ----

std::vector<P> poolings_of(const std::string& config) { return SentenceFolder().pooling(config).modules().poolings; }

TEST(SentenceModules, PoolingByEachOfTheOlderKeys) {
  const std::pair<const char*, P> kinds[] = {{"cls_token", P::first},
                                             {"max_tokens", P::maximum},
                                             {"mean_tokens", P::mean},
                                             {"mean_sqrt_len_tokens", P::mean_sqrt},
                                             {"weightedmean_tokens", P::weighted_mean},
                                             {"lasttoken", P::last}};
  for (const auto& [key, pooling] : kinds)
    EXPECT_THAT(poolings_of(R"({"pooling_mode_)" + std::string(key) + R"(": true})"), ElementsAre(pooling)) << key;
}

TEST(SentenceModules, PoolingByTheNewerKey) {
  const std::pair<const char*, P> kinds[] = {{"cls", P::first},
                                             {"max", P::maximum},
                                             {"mean", P::mean},
                                             {"mean_sqrt_len_tokens", P::mean_sqrt},
                                             {"weightedmean", P::weighted_mean},
                                             {"lasttoken", P::last}};
  for (const auto& [name, pooling] : kinds)
    EXPECT_THAT(poolings_of(R"({"embedding_dimension": 8, "pooling_mode": ")" + std::string(name) + R"("})"),
                ElementsAre(pooling))
        << name;
  EXPECT_THAT(poolings_of(R"({"pooling_mode": "max", "pooling_mode_cls_token": true})"), ElementsAre(P::maximum));
}

TEST(SentenceModules, NoPoolingThatIsOnMeansTheMean) {
  EXPECT_THAT(poolings_of("{}"), ElementsAre(P::mean));
  EXPECT_THAT(poolings_of(R"({"pooling_mode_mean_tokens": false, "pooling_mode_cls_token": null})"),
              ElementsAre(P::mean));
  EXPECT_THAT(poolings_of(R"({"pooling_mode": null})"), ElementsAre(P::mean));
  EXPECT_THAT(poolings_of(R"({"pooling_mode": []})"), ElementsAre(P::mean));
}

// The order of the vector's parts is the reference's, not the file's.
TEST(SentenceModules, SeveralPoolingsStandInTheirFixedOrder) {
  EXPECT_THAT(poolings_of(R"({"pooling_mode_lasttoken": true, "pooling_mode_mean_tokens": true,
                              "pooling_mode_cls_token": true})"),
              ElementsAre(P::first, P::mean, P::last));
  EXPECT_THAT(poolings_of(R"({"pooling_mode": ["weightedmean", "mean", "max", "cls"]})"),
              ElementsAre(P::first, P::maximum, P::mean, P::weighted_mean));
  EXPECT_THAT(poolings_of(R"({"pooling_mode": ["mean", "mean"]})"), ElementsAre(P::mean));
}

TEST(SentenceModules, PromptsArePooledUnlessTheFileSaysOtherwise) {
  EXPECT_TRUE(SentenceFolder().pooling("{}").modules().pools_prompt);
  EXPECT_TRUE(SentenceFolder().pooling(R"({"include_prompt": true})").modules().pools_prompt);
  EXPECT_FALSE(SentenceFolder().pooling(R"({"include_prompt": false})").modules().pools_prompt);
}

TEST(SentenceModules, WrongPoolingIsNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"pooling_mode": "attention"})", "attention"},
      {R"({"pooling_mode": ["mean", "attention"]})", "attention"},
      {R"({"pooling_mode": 7})", "pooling_mode"},
      {R"({"pooling_mode": [7]})", "pooling_mode"},
      {R"({"pooling_mode": {"mean": true}})", "pooling_mode"},
      {R"({"pooling_mode_mean_tokens": "yes"})", "pooling_mode_mean_tokens"},
      {R"({"include_prompt": 1.5})", "include_prompt"},
      {R"({"output_key": "other"})", "output_key"},
      {"[]", "1_Pooling/config.json"},
      {"", "1_Pooling/config.json"},
      {"{", "1_Pooling/config.json"}};
  for (const auto& [config, name] : wrong)
    EXPECT_THAT(SentenceFolder().pooling(config).refusal(), AllOf(HasSubstr(name), HasSubstr("1_Pooling/config.json")))
        << config;
  EXPECT_THAT(F().steps({{F::kTransformer, ""}, {F::kPooling, "1_Pooling"}}).refusal(),
              HasSubstr("1_Pooling/config.json"));
}

// ---- linear layers and lengths ----

TEST(SentenceModules, ALinearLayerHasTanhAndABiasUnlessItsFileSaysOtherwise) {
  const auto plain = F().dense(R"({"in_features": 8, "out_features": 5})").modules();
  ASSERT_EQ(plain.steps.size(), 1u);
  EXPECT_EQ(plain.steps[0].folder, "2_Dense");
  EXPECT_EQ(plain.steps[0].in_width, 8u);
  EXPECT_EQ(plain.steps[0].columns, 5u);
  EXPECT_TRUE(plain.steps[0].bias && !plain.steps[0].normalizes);
  EXPECT_EQ(plain.steps[0].activation, "Tanh");
  const auto bare = F().dense(R"({"in_features": 8, "out_features": 5, "bias": false,
                                  "activation_function": "torch.nn.modules.linear.Identity"})")
                        .modules();
  ASSERT_EQ(bare.steps.size(), 1u);
  EXPECT_FALSE(bare.steps[0].bias);
  EXPECT_EQ(bare.steps[0].activation, "Identity");
}

TEST(SentenceModules, AWrongLinearLayerIsNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"out_features": 5})", "in_features"},
      {R"({"in_features": 8})", "out_features"},
      {R"({"in_features": 8, "out_features": 0})", "from 8 to 0 columns"},
      {R"({"in_features": 0, "out_features": 8})", "from 0 to 8 columns"},
      {R"({"in_features": 8, "out_features": 4294967295})", "4294967295 columns"},
      {R"({"in_features": 8, "out_features": -1})", "out_features"},
      {R"({"in_features": 8, "out_features": 1e99})", "out_features"},
      {R"({"in_features": "8", "out_features": 8})", "in_features"},
      {R"({"in_features": 8, "out_features": 8, "bias": "no"})", "bias"},
      {R"({"in_features": 8, "out_features": 8, "activation_function": 3})", "activation_function"},
      {R"({"in_features": 8, "out_features": 8, "activation_function": "evil.Tanh"})", "'evil.Tanh'"}};
  for (const auto& [config, name] : wrong)
    EXPECT_THAT(F().dense(config).refusal(), AllOf(HasSubstr(name), HasSubstr("2_Dense/config.json"))) << config;
}

// Old directories have no folder for it, and where there is one it is empty.
TEST(SentenceModules, NormalizeNeedsNoFolder) {
  const auto modules = F().steps({{F::kTransformer, ""},
                                  {F::kPooling, "1_Pooling"},
                                  {F::kNormalize, "2_Normalize"},
                                  {F::kDense, "3_Dense"},
                                  {F::kNormalize, ""}})
                           .with("1_Pooling/config.json", "{}")
                           .with("3_Dense/config.json", R"({"in_features": 4, "out_features": 2})")
                           .modules();
  ASSERT_EQ(modules.steps.size(), 3u);
  EXPECT_TRUE(modules.steps[0].normalizes && !modules.steps[1].normalizes && modules.steps[2].normalizes);
  EXPECT_EQ(modules.steps[1].folder, "3_Dense");
}

// ---- the list ----

TEST(SentenceModules, TheNetworkMayLieInAFolder) {
  const auto modules = F().steps({{F::kTransformer, "0_Transformer/"}, {F::kPooling, "1_Pooling/"}})
                           .with("1_Pooling/config.json", "{}")
                           .modules();
  EXPECT_EQ(modules.transformer, "0_Transformer");
  EXPECT_EQ(F().pooling("{}").modules().transformer, "");
}

// Versions from 5.2 on write the module of each class in another place.
TEST(SentenceModules, TheLastPartOfATypeDecides) {
  const auto modules = F().steps({{"sentence_transformers.base.modules.transformer.Transformer", ""},
                                  {"sentence_transformers.sentence_transformer.modules.pooling.Pooling", "1_Pooling"},
                                  {"sentence_transformers.sentence_transformer.modules.normalize.Normalize", "2"}})
                           .with("1_Pooling/config.json", "{}")
                           .modules();
  EXPECT_EQ(modules.steps.size(), 1u);
}

TEST(SentenceModules, StepsOfOtherPackagesAreRefusedByName) {
  for (const char* type : {"custom_st.Transformer", "sentence_transformersx.models.Transformer", "Transformer", ""})
    EXPECT_THAT(F().steps({{type, ""}, {F::kPooling, "1_Pooling"}}).with("1_Pooling/config.json", "{}").refusal(),
                AllOf(HasSubstr("'" + std::string(type) + "'"), HasSubstr("modules.json")))
        << type;
  EXPECT_THAT(F().steps({{F::kTransformer, ""}, {"my.Pooling", "1_Pooling"}}).refusal(), HasSubstr("'my.Pooling'"));
}

TEST(SentenceModules, UnknownStepsAndOtherOrdersAreRefusedByName) {
  const std::string prefix = "sentence_transformers.models.";
  for (const char* name : {"CNN", "LSTM", "WordEmbeddings", "Router", "WeightedLayerPooling", "LayerNorm", "Dropout"})
    EXPECT_THAT(F().steps({{F::kTransformer, ""}, {prefix + name, "1"}, {F::kPooling, "2"}}).refusal(),
                HasSubstr("'" + std::string(name) + "'"))
        << name;
  const auto refusal = [&](std::vector<std::string> names) {
    std::vector<std::pair<std::string, std::string>> steps;
    for (const std::string& name : names) steps.emplace_back(prefix + name, "1_Pooling");
    return F().steps(steps).with("1_Pooling/config.json", "{}").refusal();
  };
  EXPECT_THAT(refusal({"Pooling", "Transformer"}), HasSubstr("the step 'Pooling' is not supported"));
  EXPECT_THAT(refusal({"Transformer", "Dense", "Pooling"}), HasSubstr("the step 'Dense' is not supported"));
  EXPECT_THAT(refusal({"Transformer", "Pooling", "Pooling"}), HasSubstr("the step 'Pooling' is not supported"));
  EXPECT_THAT(refusal({"Transformer", "Transformer"}), HasSubstr("the step 'Transformer' is not supported"));
  EXPECT_THAT(refusal({"Transformer"}), HasSubstr("has no step Pooling"));
  EXPECT_THAT(refusal({"Transformer", "Normalize"}), HasSubstr("has no step Pooling"));
}

TEST(SentenceModules, FoldersOutsideTheDirectoryAreRefused) {
  for (const char* path : {"..", "../other", "1_Pooling/../../other", "/etc", "c:/other", "..\\\\other", "a\\\\b"}) {
    const std::string where = F().steps({{F::kTransformer, ""}, {F::kPooling, path}}).refusal();
    EXPECT_THAT(where, HasSubstr("is not inside the directory")) << path;
    EXPECT_THAT(F().steps({{F::kTransformer, path}, {F::kPooling, "1"}}).refusal(),
                HasSubstr("is not inside the directory"))
        << path;
  }
}

TEST(SentenceModules, HostileListsAreRefused) {
  std::string many = "{}", deep;
  for (int i = 1; i < 100000; ++i) many += ",{}";
  for (int i = 0; i < 100000; ++i) deep += "[";
  const std::string wrong[] = {"",
                               "{}",
                               "[]",
                               "null",
                               "7",
                               "\"x\"",
                               "[7]",
                               "[null]",
                               "[[]]",
                               "[{}]",
                               "[",
                               "]",
                               "[{\"type\":7}]",
                               many,
                               deep,
                               "[" + many + "]",
                               R"([{"type": null}])",
                               R"([{"type": "sentence_transformers.models.Transformer", "path": 7}])",
                               std::string("[\0]", 3),
                               "\xff\xfe["};
  for (const std::string& list : wrong)
    EXPECT_THAT(F().with("modules.json", list).refusal(), HasSubstr("modules.json")) << list.substr(0, 80);
}

TEST(SentenceModules, OtherDirectoriesHaveNone) {
  const auto none = [](const SentenceFolder& folder) {
    const auto read = read_sentence_modules(folder.files());
    return read.ok() && !read->has_value();
  };
  EXPECT_TRUE(none(F().with("config.json", "{}")));
  EXPECT_TRUE(none(F().steps({{F::kTransformer, ""}})
                       .with("config_sentence_transformers.json", R"({"model_type": "CrossEncoder"})")));
  EXPECT_FALSE(none(F().pooling("{}").with("config_sentence_transformers.json", R"({"model_type": null})")));
}

// ---- settings ----

uint32_t limit_in(const std::string& sentence, const std::string& tokenizer,
                  const std::string& name = "sentence_bert_config.json") {
  SentenceFolder folder;
  if (!sentence.empty()) folder.with(name, sentence);
  if (!tokenizer.empty()) folder.with("tokenizer_config.json", tokenizer);
  return folder.settings().max_length;
}

TEST(SentenceSettings, TheLimitIsTheDirectorysOrElseTheTokenizers) {
  EXPECT_EQ(limit_in(R"({"max_seq_length": 128})", R"({"model_max_length": 512})"), 128u);
  EXPECT_EQ(limit_in(R"({"max_seq_length": 128})", ""), 128u);
  EXPECT_EQ(limit_in(R"({"max_seq_length": null})", R"({"model_max_length": 512})"), 512u);
  EXPECT_EQ(limit_in("{}", R"({"model_max_length": 512, "max_len": 64})"), 512u);
  EXPECT_EQ(limit_in("", R"({"max_len": 64})"), 64u);
  EXPECT_EQ(limit_in("", R"({"model_max_length": 512.0})"), 512u);
  EXPECT_EQ(limit_in(R"({"max_seq_length": 40})", "", "sentence_xlm-roberta_config.json"), 40u);
  EXPECT_EQ(limit_in(R"({"max_seq_length": 40})", "", "sentence_distilbert_config.json"), 40u);
}

TEST(SentenceSettings, ALimitBeyondAllTextsIsNone) {
  EXPECT_EQ(limit_in("", ""), 0u);
  EXPECT_EQ(limit_in("{}", "{}"), 0u);
  for (const char* value :
       {"1e30", "1000000000000000019884624838656", "1e300", "-1", "0", "0.5", "\"512\"", "null", "[512]", "true"})
    EXPECT_EQ(limit_in("", R"({"model_max_length": )" + std::string(value) + "}"), 0u) << value;
}

TEST(SentenceSettings, CaseAndPrompts) {
  SentenceFolder folder;
  folder.with("sentence_bert_config.json", R"({"do_lower_case": true})")
      .with("config_sentence_transformers.json",
            R"({"prompts": {"query": "query: ", "passage": ""}, "default_prompt_name": "query"})");
  const auto settings = folder.settings();
  EXPECT_TRUE(settings.lower_case);
  EXPECT_THAT(settings.prompts, ElementsAre(std::pair("passage", ""), std::pair("query", "query: ")));
  EXPECT_EQ(settings.default_prompt, "query");
  EXPECT_FALSE(settings.cross_encoder);
}

TEST(SentenceSettings, WithoutFilesThereIsNothing) {
  const auto settings = SentenceFolder().settings();
  EXPECT_THAT(settings.prompts, IsEmpty());
  EXPECT_EQ(settings.default_prompt, "");
  EXPECT_EQ(settings.score_activation, "");
  EXPECT_FALSE(settings.lower_case || settings.cross_encoder);
}

TEST(SentenceSettings, PromptsThatAreNoneAreNamed) {
  const auto wrong = [](const char* content) {
    return SentenceFolder().with("config_sentence_transformers.json", content).wrong_settings();
  };
  EXPECT_THAT(wrong(R"({"prompts": {"query": "q"}, "default_prompt_name": "document"})"), HasSubstr("'document'"));
  EXPECT_THAT(wrong(R"({"default_prompt_name": "query"})"), HasSubstr("'query'"));
  EXPECT_THAT(wrong(R"({"prompts": {"query": 7}})"), HasSubstr("a prompt is not a text"));
  EXPECT_THAT(wrong(R"({"prompts": {"query": null}})"), HasSubstr("a prompt is not a text"));
  EXPECT_THAT(wrong(R"({"default_prompt_name": 7})"), HasSubstr("default_prompt_name"));
  EXPECT_THAT(wrong("[]"), HasSubstr("config_sentence_transformers.json"));
  EXPECT_EQ(wrong(R"({"prompts": null, "default_prompt_name": null})"), "");
}

// ---- the activation of scores ----

TEST(SentenceSettings, TheActivationStandsInOneOfThreePlaces) {
  const auto activation = [](const char* sentence, const char* model) {
    SentenceFolder folder;
    folder.steps({{F::kTransformer, ""}});
    folder.with("config_sentence_transformers.json", sentence).with("config.json", model);
    return folder.settings().score_activation;
  };
  const char *sigmoid = R"({"activation_fn": "torch.nn.modules.activation.Sigmoid"})",
             *identity = R"({"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}})",
             *older = R"({"sbert_ce_default_activation_function": "torch.nn.modules.activation.Tanh"})",
             *both = R"({"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"},
                         "sbert_ce_default_activation_function": "torch.nn.modules.activation.Tanh"})";
  EXPECT_EQ(activation(sigmoid, "{}"), "Sigmoid");
  EXPECT_EQ(activation("{}", identity), "Identity");
  EXPECT_EQ(activation("{}", older), "Tanh");
  EXPECT_EQ(activation(sigmoid, both), "Sigmoid");
  EXPECT_EQ(activation("{}", both), "Identity");
  EXPECT_EQ(activation("{}", "{}"), "");
  // Code of a publisher is skipped, as by the reference without trust_remote_code.
  EXPECT_EQ(activation(R"({"activation_fn": "my.Sigmoid"})", older), "Tanh");
  EXPECT_EQ(activation(R"({"activation_fn": null})", R"({"sentence_transformers": null})"), "");
}

TEST(SentenceSettings, ADirectoryWithoutStepsNamesItsActivationInConfigAlone) {
  SentenceFolder folder;
  folder.with("config_sentence_transformers.json",
              R"({"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.activation.Sigmoid"})");
  EXPECT_TRUE(folder.settings().cross_encoder);
  EXPECT_EQ(folder.settings().score_activation, "");
}

}  // namespace
}  // namespace lapilli
