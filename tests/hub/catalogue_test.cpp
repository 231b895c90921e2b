// The list of known models: its file is right, is chosen from, and is shown in 80 columns.
#include "hub/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "model/families/family.hpp"
#include "support/temp_directory.hpp"
#include "tools/tools.hpp"

namespace lapilli::hub {
namespace {

constexpr const char* kLine =
    R"({"name": "a/b", "family": "t5", "tasks": ["generate"], "from": ["en"], "to": ["en"], "parameters": null, )"
    R"("license": null, "tried": null})";

std::vector<Listed> listed() {
  auto models = read_catalogue(LAPILLI_SOURCE_DIR "/models/models.jsonl");
  EXPECT_TRUE(models.ok()) << models.error().message;
  return models ? *models : std::vector<Listed>{};
}

std::vector<std::string> names_for(const Wanted& wanted) {
  std::vector<std::string> names;
  for (const Listed& model : select_models(listed(), wanted, tools::same_language)) names.push_back(model.name);
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(HubCatalogue, EveryModelIsOfAFamilyThatRuns) {
  const auto models = listed();
  EXPECT_GE(models.size(), 250u);
  std::set<std::string> names, families;
  for (const Listed& model : models) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name << " is listed twice";
    EXPECT_NE(model::find_family(model.family), nullptr) << model.name;
    families.insert(model.family);
  }
  EXPECT_GE(families.size(), 18u);
}

const char* const kByLabels = "classify --labels";
const std::set<std::string> kEncoders = {"bert",      "roberta", "distilbert", "xlm-roberta", "modernbert",
                                         "camembert", "albert",  "mpnet",      "deberta-v2",  "xlnet"};
const std::set<std::string> kDecoders = {"gpt2",        "gpt_neo", "openai-gpt",      "opt",     "llama",
                                         "mistral",     "qwen2",   "qwen3",           "smollm3", "granite",
                                         "gemma3_text", "gemma3",  "hunyuan_v1_dense"};
const std::set<std::string> kOfEncoders = {"embed", "rerank", "classify", kByLabels, "tag", "answer", "fill", "search"};

// A command refuses a model of another kind.
TEST(HubCatalogue, TasksAreThoseOfTheFamily) {
  const std::map<std::string, std::set<std::string>> kinds = {
      {"whisper", {"transcribe"}},   {"speech_to_text", {"transcribe"}},
      {"moonshine", {"transcribe"}}, {"vision-encoder-decoder", {"caption", "read"}},
      {"vit", {"classify"}},         {"deit", {"classify"}},
      {"marian", {"translate"}},     {"fsmt", {"translate"}},
      {"m2m_100", {"translate"}},    {"bart", {"translate", "summarize", "generate", "classify", kByLabels}}};
  const std::set<std::string> of_texts = {"translate", "summarize", "generate"}, of_decoders = {"generate"};
  for (const Listed& model : listed()) {
    const auto kind = kinds.find(model.family);
    const bool encoder = kEncoders.contains(model.family), decoder = kDecoders.contains(model.family);
    const std::set<std::string>& tasks = encoder               ? kOfEncoders
                                         : decoder             ? of_decoders
                                         : kind == kinds.end() ? of_texts
                                                               : kind->second;
    for (const std::string& task : model.tasks) EXPECT_TRUE(tasks.contains(task)) << model.name << ": " << task;
  }
}

TEST(HubCatalogue, EachTaskOfAnEncoderHasSeveralModels) {
  for (const std::string& task : kOfEncoders) {
    size_t texts = 0;
    for (const Listed& model : select_models(listed(), {"", "", task, ""}, tools::same_language))
      texts += !model.from.empty();
    EXPECT_GE(texts, 5U) << task;
  }
  EXPECT_TRUE(has(names_for({"fr", "", "tag", ""}), "Jean-Baptiste/camembert-ner"));
  EXPECT_TRUE(has(names_for({"en", "", "classify", ""}), "ProsusAI/finbert"));
  EXPECT_TRUE(has(names_for({"", "", kByLabels, ""}), "facebook/bart-large-mnli"));
}

// Nobody has tried a model that is not here.
TEST(HubCatalogue, TheBundledModelWasTried) {
  for (const Listed& model : listed()) {
    if (!model.bundled) continue;
    EXPECT_EQ(model.name, "en-fr");
    EXPECT_TRUE(model.tried.has_value());
    EXPECT_EQ(model.parameters, 7322177u);
    return;
  }
  FAIL() << "it is not listed";
}

TEST(HubCatalogue, ChosenByLanguages) {
  const auto german = names_for({"en", "de", "", ""});
  EXPECT_EQ(german[0], "Helsinki-NLP/opus-mt-en-de");
  for (const char* name : {"facebook/nllb-200-distilled-600M", "facebook/m2m100_418M", "google-t5/t5-small"})
    EXPECT_TRUE(has(german, name)) << name;
  for (const char* name : {"Helsinki-NLP/opus-mt-de-en", "google/flan-t5-small", "facebook/bart-large-cnn",
                           "facebook/mbart-large-50-many-to-one-mmt"})
    EXPECT_FALSE(has(german, name)) << name;
  EXPECT_EQ(names_for({"eng_Latn", "deu", "", ""}), german);
  EXPECT_TRUE(names_for({"en", "tlh", "", ""}).empty());
  const auto santali = names_for({"sat", "en", "", ""});
  EXPECT_FALSE(santali.empty());
  for (const std::string& name : santali) EXPECT_TRUE(name.find("nllb") != std::string::npos) << name;
}

TEST(HubCatalogue, ChosenByTaskAndFamily) {
  for (const std::string& name : names_for({"", "", "summarize", "bart"}))
    EXPECT_TRUE(name.find("bart") != std::string::npos) << name;
  EXPECT_TRUE(has(names_for({"en", "", "generate", ""}), "google/flan-t5-base"));
  const auto german_speech = names_for({"de", "", "transcribe", ""});
  EXPECT_TRUE(has(german_speech, "openai/whisper-tiny") && !has(german_speech, "openai/whisper-tiny.en"));
  EXPECT_EQ(names_for({"", "ja", "read", ""}), std::vector<std::string>{"kha-white/manga-ocr-base"});
  EXPECT_TRUE(has(names_for({"", "", "classify", ""}), "facebook/deit-base-patch16-224"));
}

// They read languages and write none.
TEST(HubCatalogue, MakersOfVectorsByWhatTheyRead) {
  const auto all = names_for({"", "", "embed", ""});
  EXPECT_GE(all.size(), 5u);
  const auto german = names_for({"de", "", "embed", ""});
  EXPECT_TRUE(has(german, "intfloat/multilingual-e5-small") && !has(german, "BAAI/bge-small-en-v1.5"));
  EXPECT_TRUE(names_for({"", "de", "embed", ""}).empty());
  EXPECT_FALSE(has(names_for({"en", "fr", "", ""}), "sentence-transformers/all-MiniLM-L6-v2"));
  EXPECT_NE(names_for({"en", "", "", ""})[0].find("en-fr"), std::string::npos);
  const std::string table = table_of(select_models(listed(), {"", "", "embed", "bert"}, tools::same_language));
  EXPECT_NE(table.find("all-MiniLM-L6-v2   en              23 M  apache-2.0"), std::string::npos) << table;
  EXPECT_NE(table.find("multilingual-e5-small           93 languages   118 M  mit"), std::string::npos) << table;
}

TEST(HubCatalogue, PicturesAreInNoLanguage) {
  const std::string table =
      table_of(select_models(listed(), {"", "", "", "vision-encoder-decoder"}, tools::same_language));
  EXPECT_NE(table.find("kha-white/manga-ocr-base                 > ja"), std::string::npos) << table;
  const auto classes =
      nlohmann::json::parse(json_of(select_models(listed(), {"", "", "classify", ""}, tools::same_language)));
  EXPECT_TRUE(classes[0]["from"].empty() && classes[0]["to"].empty());
}

TEST(HubCatalogue, WhatIsHereIsAddedWhereNothingSpeaksAgainstIt) {
  const auto all = listed();
  const std::vector<Present> present = {{"facebook/wmt19-en-de", "/own/1", false, "fsmt", ""},
                                        {"me/detr", "/hf/2", true, "detr", ""},
                                        {"me/mine", "/own/3", false, "unheard-of", "mit"},
                                        {"me/whisper", "/hf/4", true, "whisper", ""}};
  const auto shown = [&](const Wanted& wanted) {
    auto chosen = select_models(all, wanted, tools::same_language);
    add_present(present, wanted, all, tools::is_known_family, chosen);
    std::vector<std::string> here;
    for (const Listed& model : chosen)
      if (!model.fetched.empty()) here.push_back(model.name + " " + model.fetched);
    return here;
  };
  EXPECT_EQ(shown({}), (std::vector<std::string>{"facebook/wmt19-en-de /own/1", "me/mine /own/3", "me/whisper /hf/4"}));
  EXPECT_EQ(shown({"", "", "", "whisper"}), std::vector<std::string>{"me/whisper /hf/4"});
  EXPECT_EQ(shown({"en", "de", "", ""}), std::vector<std::string>{"facebook/wmt19-en-de /own/1"});
  EXPECT_TRUE(shown({"", "", "summarize", ""}).empty());
  auto chosen = all;
  add_present(present, {}, all, tools::is_known_family, chosen);
  const std::string table = table_of(chosen);
  EXPECT_NE(table.find("here, and not in the list\n* me/mine"), std::string::npos) << table;
  EXPECT_NE(table.find("whisper            ?  ?\n    /hf/4\n"), std::string::npos) << table;
  const auto json = nlohmann::json::parse(json_of(chosen));
  EXPECT_EQ(json[json.size() - 1]["fetched"], "/hf/4");
  EXPECT_EQ(json[json.size() - 1]["shared"], true);
  EXPECT_EQ(json[json.size() - 1]["listed"], false);
}

// Models that do the same stand together, and each heading once.
TEST(HubCatalogue, TheTableIsByWhatModelsDo) {
  std::istringstream table(table_of(listed()));
  std::vector<std::string> headings, tasks;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == ' ' || line[0] == '*' || line.back() != ')') continue;
    headings.push_back(line);
    const std::string task = line.substr(0, line.find(" ("));
    if (tasks.empty() || tasks.back() != task) tasks.push_back(task);
  }
  ASSERT_GT(tasks.size(), 8u);
  EXPECT_EQ(tasks[0], "translate");
  EXPECT_EQ(std::set<std::string>(tasks.begin(), tasks.end()).size(), tasks.size());
  EXPECT_EQ(std::set<std::string>(headings.begin(), headings.end()).size(), headings.size());
}

TEST(HubCatalogue, TableFitsTheTerminal) {
  Listed long_one = listed()[5];
  long_one.name = "somebody-with-a-long-name/a-model-with-an-even-longer-name-than-that";
  long_one.licence = "a-licence-of-many-words-1.0";
  long_one.tried = Listed::Tried{"somebody with a name that takes a whole line", "2026-11-22", "10.20.30"};
  auto models = listed();
  models.push_back(long_one);
  std::istringstream table(table_of(models));
  size_t lines = 0;
  for (std::string line; std::getline(table, line); ++lines) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_GT(lines, models.size());
}

TEST(HubCatalogue, JsonHoldsEverything) {
  auto models = listed();
  models[1].fetched = "/some/where";
  const auto json = nlohmann::json::parse(json_of(models));
  ASSERT_EQ(json.size(), models.size());
  EXPECT_EQ(json[0]["tried"]["version"], "0.2.0");
  EXPECT_EQ(json[0]["parameters"], 7322177);
  EXPECT_EQ(json[1]["fetched"], "/some/where");
  EXPECT_TRUE(json[1]["tried"].is_null() && json[1]["license"].is_null() && json[0]["fetched"].is_null());
}

TEST(HubCatalogue, WrongLinesAreNamed) {
  TempDirectory folder;
  const auto message = [&](const std::string& line) {
    const auto models = read_catalogue(folder.write("models.jsonl", kLine + ("\n\n" + line) + "\n"));
    return models ? std::string() : models.error().message;
  };
  EXPECT_EQ(message(kLine), "");
  const std::pair<const char*, const char*> changes[] = {{"a/b", "../b"},
                                                         {"\"t5\"", "\"\""},
                                                         {"generate", "dance"},
                                                         {"[\"en\"]", "[]"},
                                                         {"\"from\": [\"en\"], ", ""},
                                                         {"generate", "caption"},
                                                         {"a/b", "ab"},
                                                         {"\"license\"", "\"licens\""},
                                                         {"\"parameters\": null", "\"parameters\": -1"},
                                                         {"\"tried\": null", "\"tried\": true"}};
  for (const auto& [from, to] : changes) {
    std::string line = kLine;
    line.replace(line.find(from), std::string(from).size(), to);
    EXPECT_NE(message(line).find("models.jsonl:3: wrong: "), std::string::npos) << line;
  }
  EXPECT_NE(message("not JSON").find(":3: wrong: it is no JSON object"), std::string::npos);
}

}  // namespace
}  // namespace lapilli::hub
