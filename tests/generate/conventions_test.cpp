// The meaning of a task for each family: prefixes, language tokens, settings; and refusals.
#include "generate/conventions.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "generate/generate.hpp"
#include "generate/input_parts.hpp"
#include "generate/searches.hpp"
#include "support/shared_device.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

const std::string kData = LAPILLI_TEST_DATA;

TEST(Conventions, TasksByName) {
  EXPECT_EQ(parse_task("").value(), TextTask::none);
  EXPECT_EQ(parse_task("generate").value(), TextTask::none);
  EXPECT_EQ(parse_task("translate").value(), TextTask::translate);
  EXPECT_EQ(parse_task("summarize").value(), TextTask::summarize);
  EXPECT_THAT(parse_task("sing").error().message, HasSubstr("sing"));
}

TEST(TaskParams, AreReadAndHostileOnesRefused) {
  const auto good = read_task_params(json::parse(R"({"task_specific_params": {
      "summarization": {"early_stopping": true, "length_penalty": 2.0, "max_length": 200, "num_beams": 4, "prefix": "sum: "},
      "other": 3, "empty": {}}})"),
                                     "config.json");
  ASSERT_TRUE(good.ok());
  ASSERT_EQ(good->size(), 2u);
  const TaskParams& s = good->back();
  EXPECT_EQ(s.name, "summarization");
  EXPECT_EQ(s.prefix, "sum: ");
  EXPECT_EQ(s.options.num_beams, 4u);
  EXPECT_EQ(s.options.max_length, 200u);
  EXPECT_TRUE(s.options.unknown.empty());
  EXPECT_TRUE(read_task_params(json::parse("{}"), "config.json")->empty());
  EXPECT_TRUE(read_task_params(json::parse(R"({"task_specific_params": null})"), "config.json")->empty());
  for (const char* bad : {R"({"task_specific_params": 7})", R"({"task_specific_params": {"a": {"prefix": 1}}})",
                          R"({"task_specific_params": {"a": {"num_beams": "many"}}})"}) {
    const auto r = read_task_params(json::parse(bad), "config.json");
    ASSERT_FALSE(r.ok()) << bad;
    EXPECT_THAT(r.error().message, HasSubstr("config.json"));
  }
}

class DeviceConventions : public testing::Test {
 protected:
  static void SetUpTestSuite() { LAPILLI_ASSERT_VALUE(device_, testing_support::shared_device()); }
  static void TearDownTestSuite() { device_.reset(); }

  using Change = std::function<void(json&)>;

  // A model directory with the tokenizer of another record, its config.json, generation_config.json and tokenizer.json
  // changed.
  std::shared_ptr<Model> load(const std::string& model, const std::string& tokenizer, const json& config = {},
                              const json& generation = {}, const Change& tokenizer_json = {}) {
    folder_ = std::make_unique<TempDirectory>();
    folder_->copy_from(kData + "/models/" + model + "/model");
    if (!tokenizer.empty()) folder_->copy_from(kData + "/tokenizers/" + tokenizer + "/files");
    patch("config.json", config);
    patch("generation_config.json", generation);
    if (tokenizer_json) change("tokenizer.json", tokenizer_json);
    auto loaded = Model::load(device_, folder_->path());
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    if (loaded && !tokenizer.empty()) {
      EXPECT_NE((*loaded)->tokenizer(), nullptr) << (*loaded)->tokenizer_error().message;
    }
    return loaded ? *loaded : nullptr;
  }
  // The bundled model with another vocabulary.
  std::shared_ptr<Model> load_bundled(const Change& words, const Change& tokenizer_config = {}) {
    folder_ = std::make_unique<TempDirectory>();
    folder_->copy_from(std::string(LAPILLI_SOURCE_DIR) + "/models/en-fr");
    change("vocab.json", words);
    if (tokenizer_config) change("tokenizer_config.json", tokenizer_config);
    auto loaded = Model::load(device_, folder_->path());
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return loaded ? *loaded : nullptr;
  }
  static Result<Conventions> ask(const std::shared_ptr<Model>& model, TextTask task, const std::string& from = "",
                                 const std::string& to = "") {
    return find_conventions(*model, {task, from, to});
  }

  // The model that was loaded last, by another name of its directory.
  std::shared_ptr<Model> load_as(const std::string& name) {
    const std::string directory = folder_->path() + "/" + name;
    std::filesystem::create_directory_symlink(".", directory);
    auto loaded = Model::load(device_, directory);
    EXPECT_TRUE(loaded.ok()) << loaded.error().message;
    return loaded ? *loaded : nullptr;
  }

 private:
  void change(const std::string& name, const Change& how) {
    auto whole = json::parse(read_file(folder_->path() + "/" + name));
    how(whole);
    folder_->write(name, whole.dump());
  }
  void patch(const std::string& name, const json& changes) {
    if (!changes.is_null()) change(name, [&](json& whole) { whole.merge_patch(changes); });
  }
  static std::shared_ptr<vulkan::Device> device_;
  std::unique_ptr<TempDirectory> folder_;
};
std::shared_ptr<vulkan::Device> DeviceConventions::device_;

TEST_F(DeviceConventions, LanguageTokensThatTheDecoderWritesFirst) {
  const auto m = load("m2m_100", "m2m_100");
  ASSERT_TRUE(m && m->tokenizer());
  const int32_t fr = m->tokenizer()->language_id("fr");
  ASSERT_GE(fr, 0);
  for (const char* code : {"fr", "fra", "fr-FR"}) {
    LAPILLI_ASSERT_VALUE(const auto c, ask(m, TextTask::translate, "eng", code));
    EXPECT_EQ(c.options.forced_bos_token_id, fr) << code;
    EXPECT_FALSE(c.options.decoder_start_token_id.has_value());
    EXPECT_EQ(c.source_language, "en");
    EXPECT_EQ(c.target_language, "fr");
    EXPECT_EQ(c.prefix, "");
  }
  const auto unknown = ask(m, TextTask::translate, "en", "tlh");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, HasSubstr("tlh"));
  // The record's forced id is no language, so the files do not say where to.
  const auto none = ask(m, TextTask::translate);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, AllOf(HasSubstr("--to"), HasSubstr("100 languages")));
  LAPILLI_EXPECT_OK(ask(m, TextTask::none));
}

TEST_F(DeviceConventions, ATargetThatTheFilesNameIsEnough) {
  const auto plain = load("m2m_100", "m2m_100");
  ASSERT_TRUE(plain && plain->tokenizer());
  const int32_t de = plain->tokenizer()->language_id("de"), fr = plain->tokenizer()->language_id("fr");
  const auto m = load("m2m_100", "m2m_100", {}, {{"forced_bos_token_id", de}});
  LAPILLI_ASSERT_VALUE(const auto c, ask(m, TextTask::translate));
  EXPECT_FALSE(c.options.forced_bos_token_id.has_value());
  // mBART's way: the decoder starts with the language.
  const auto starts = load("m2m_100", "m2m_100", {}, {{"decoder_start_token_id", de}});
  LAPILLI_ASSERT_VALUE(const auto s, ask(starts, TextTask::translate, "", "fr"));
  EXPECT_EQ(s.options.decoder_start_token_id, fr);
  EXPECT_FALSE(s.options.forced_bos_token_id.has_value());
}

// As M2M100 by its files; the target's token stands where the source's would, and nothing is forced.
TEST_F(DeviceConventions, Small100HasTheTargetBeforeTheSource) {
  ASSERT_TRUE(load("m2m_100", "m2m_100"));
  for (const char* name : {"small100", "SMaLL-100-mine"}) {
    const auto m = load_as(name);
    ASSERT_TRUE(m && m->tokenizer());
    LAPILLI_ASSERT_VALUE(const auto c, ask(m, TextTask::translate, "en", "fra"));
    EXPECT_EQ(c.source_language, "fr");
    EXPECT_FALSE(c.options.forced_bos_token_id.has_value());
    EXPECT_THAT(ask(m, TextTask::translate).error().message, HasSubstr("--to"));
    EXPECT_THAT(ask(m, TextTask::translate, "tlh", "fr").error().message, HasSubstr("tlh"));
  }
}

TEST_F(DeviceConventions, MarksOfMadlad) {
  const auto m = load("t5-v1_1", "unigram-byte-fallback", {}, {}, [](json& tokenizer) {
    tokenizer["model"]["vocab"][1000][0] = "<2fr>";
    tokenizer["model"]["vocab"][1001][0] = "<2de>";
  });
  ASSERT_TRUE(m && m->tokenizer());
  LAPILLI_ASSERT_VALUE(const auto french, ask(m, TextTask::translate, "en", "fra"));
  EXPECT_EQ(french.prefix, "<2fr> ");
  LAPILLI_ASSERT_VALUE(const auto none, ask(m, TextTask::translate));
  EXPECT_TRUE(none.needs_mark);
  EXPECT_THAT(none.marks, UnorderedElementsAre("<2fr>", "<2de>"));
  EXPECT_THAT(ask(m, TextTask::translate, "", "tlh").error().message, AllOf(HasSubstr("tlh"), HasSubstr("de")));
}

TEST_F(DeviceConventions, WordsBeforeTheInput) {
  const json tasks = {{"task_specific_params",
                       {{"summarization", {{"prefix", "summarize: "}, {"num_beams", 4}, {"min_length", 3}}},
                        {"translation_en_to_de", {{"prefix", "translate English to German: "}, {"max_length", 30}}},
                        {"translation_en_to_fr", {{"prefix", "TRANSLATE: "}, {"num_beams", 2}}}}}};
  const auto m = load("t5", "", tasks);
  LAPILLI_ASSERT_VALUE(const auto fr, ask(m, TextTask::translate, "eng", "fr-FR"));
  EXPECT_EQ(fr.prefix, "TRANSLATE: ");
  EXPECT_EQ(fr.options.num_beams, 2u);
  LAPILLI_ASSERT_VALUE(const auto ro, ask(m, TextTask::translate, "en", "ro"));
  EXPECT_EQ(ro.prefix, "translate English to Romanian: ");
  LAPILLI_ASSERT_VALUE(const auto summary, ask(m, TextTask::summarize));
  EXPECT_EQ(summary.prefix, "summarize: ");
  EXPECT_EQ(summary.options.num_beams, 4u);
  EXPECT_EQ(summary.options.min_length, 3u);
  const auto half = ask(m, TextTask::translate, "", "fr");
  ASSERT_FALSE(half.ok());
  EXPECT_THAT(half.error().message, AllOf(HasSubstr("--from"), HasSubstr("en_to_de")));
  LAPILLI_ASSERT_VALUE(const auto none, ask(m, TextTask::none));
  EXPECT_EQ(none.prefix, "");

  // Without task_specific_params the family's usual words.
  const auto bare = load("t5", "");
  LAPILLI_ASSERT_VALUE(const auto words, ask(bare, TextTask::summarize));
  EXPECT_EQ(words.prefix, "summarize: ");
  LAPILLI_ASSERT_VALUE(const auto theirs, ask(bare, TextTask::translate));
  EXPECT_TRUE(theirs.texts_bring_words);
  LAPILLI_ASSERT_VALUE(const auto german, ask(bare, TextTask::translate, "en", "de"));
  EXPECT_FALSE(german.texts_bring_words);
  EXPECT_EQ(german.prefix, "translate English to German: ");
  // One that was trained for a single pair.
  const auto single = load("bart", "", {{"task_specific_params", {{"translation_en_to_de", {{"prefix", "x: "}}}}}});
  LAPILLI_ASSERT_VALUE(const auto only, ask(single, TextTask::translate));
  EXPECT_EQ(only.prefix, "x: ");
  // A summary of BART: settings, no words.
  const auto bart = load("bart", "", {{"task_specific_params", {{"summarization", {{"min_length", 5}}}}}});
  LAPILLI_ASSERT_VALUE(const auto b, ask(bart, TextTask::summarize));
  EXPECT_EQ(b.prefix, "");
  EXPECT_EQ(b.options.min_length, 5u);
}

Result<InputParts> parts_of(const Model& model, const Conventions& conventions, const char* text) {
  PartOptions options;
  options.conventions = &conventions;
  TextInput input;
  input.text = text;
  return make_parts(model, input, options);
}

TEST_F(DeviceConventions, MarksOfMarian) {
  const auto m = load_bundled([](json& words) {
    const int32_t id = words["\u2581hello"];
    words.erase("\u2581hello");
    words[">>fr<<"] = id;
  });
  ASSERT_TRUE(m && m->tokenizer());
  EXPECT_EQ(ask(m, TextTask::translate)->prefix, "");
  LAPILLI_ASSERT_VALUE(const auto fr, ask(m, TextTask::translate, "", "fr"));
  EXPECT_EQ(fr.prefix, ">>fr<< ");
  EXPECT_FALSE(ask(m, TextTask::translate, "", "tlh").ok());
  EXPECT_FALSE(ask(m, TextTask::none, "en", "").ok());
  EXPECT_THAT(ask(m, TextTask::translate, "de", "fr").error().message, HasSubstr("not from \"de\""));
  // The only one need not be named; another is no word of the text.
  LAPILLI_ASSERT_VALUE(const auto none, ask(m, TextTask::translate));
  LAPILLI_EXPECT_OK(parts_of(*m, none, "A cat sat."));
  LAPILLI_EXPECT_OK(parts_of(*m, none, ">>fr<< A cat sat."));
  EXPECT_THAT(parts_of(*m, none, ">>xx<< A cat sat.").error().message,
              AllOf(HasSubstr("begins with >>xx<<"), HasSubstr("it has >>fr<<")));
  EXPECT_EQ(languages_of(*m->tokenizer()).targets, std::vector<std::string>{"fr"});
}

// Nothing says which of two: the text must. A target of the files that is none of the marks says it.
TEST_F(DeviceConventions, SeveralMarksOfMarianNeedOne) {
  const auto m = load_bundled([](json& words) {
    for (const auto& [word, mark] : {std::pair{"\u2581hello", ">>fr<<"}, std::pair{"\u2581good", ">>de<<"}}) {
      const int32_t id = words[word];
      words.erase(word);
      words[mark] = id;
    }
  });
  ASSERT_TRUE(m && m->tokenizer());
  LAPILLI_ASSERT_VALUE(const auto none, ask(m, TextTask::translate));
  EXPECT_THAT(none.marks, UnorderedElementsAre(">>fr<<", ">>de<<"));
  EXPECT_TRUE(none.needs_mark);
  const auto parts = [&](const char* text) { return parts_of(*m, none, text); };
  EXPECT_THAT(parts("A cat sat.").error().message, AllOf(HasSubstr("--to"), HasSubstr(">>de<<")));
  EXPECT_THAT(parts(">>xx<< A cat sat.").error().message, HasSubstr("no mark of this model"));
  LAPILLI_EXPECT_OK(parts("12.5"));
  LAPILLI_ASSERT_VALUE(const auto plain, parts(">>fr<< A cat sat."));
  LAPILLI_ASSERT_VALUE(const auto blank, parts(" >>fr<< A cat sat."));
  EXPECT_EQ(plain.parts[0].ids, blank.parts[0].ids);
}

TEST_F(DeviceConventions, AModelOfTwoLanguages) {
  const auto m = load_bundled([](json&) {});
  ASSERT_TRUE(m && m->tokenizer());
  for (const char* to : {"", "fr", "fra", "fr-CA"}) LAPILLI_EXPECT_OK(ask(m, TextTask::translate, "eng", to));
  const auto other = ask(m, TextTask::translate, "", "de");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, AllOf(HasSubstr("from \"en\" to \"fr\""), HasSubstr("not to \"de\"")));
  EXPECT_THAT(ask(m, TextTask::translate, "fr", "").error().message, HasSubstr("not from \"fr\""));
  EXPECT_THAT(ask(m, TextTask::summarize).error().message, HasSubstr("cannot summarize"));
}

// Any language of a group may be the source; a single one is that one.
TEST_F(DeviceConventions, AModelOfSeveralSources) {
  for (const char* group : {"roa", "ROMANCE", "mul"}) {
    const auto m = load_bundled([](json&) {}, [&](json& config) { config["source_lang"] = group; });
    ASSERT_TRUE(m && m->tokenizer());
    for (const char* from : {"", "es", "ron"}) LAPILLI_EXPECT_OK(ask(m, TextTask::translate, from, "fr"));
    EXPECT_THAT(ask(m, TextTask::translate, "es", "de").error().message, HasSubstr("not to \"de\""));
  }
}

TEST_F(DeviceConventions, BrokenTasksDoNotStopAModel) {
  const auto m = load("bart", "", {{"task_specific_params", {{"summarization", {{"num_beams", "many"}}}}}});
  ASSERT_NE(m, nullptr);
  LAPILLI_ASSERT_VALUE(const auto c, ask(m, TextTask::summarize));
  EXPECT_FALSE(c.options.num_beams.has_value());
}

}  // namespace
}  // namespace lapilli
