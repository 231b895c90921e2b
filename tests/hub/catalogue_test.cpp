// The list of known models: its file is right, is chosen from, and is shown in 80 columns.
#include "hub/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
  EXPECT_GE(models.size(), 40u);
  std::set<std::string> names, families;
  for (const Listed& model : models) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name << " is listed twice";
    EXPECT_NE(model::find_family(model.family), nullptr) << model.name;
    families.insert(model.family);
  }
  EXPECT_GE(families.size(), 10u);
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
  for (const std::string& name : names_for({"fo", "en", "", ""})) EXPECT_TRUE(name.find("nllb") != std::string::npos);
}

TEST(HubCatalogue, ChosenByTaskAndFamily) {
  for (const std::string& name : names_for({"", "", "summarize", "bart"}))
    EXPECT_TRUE(name.find("bart") != std::string::npos) << name;
  EXPECT_TRUE(has(names_for({"en", "", "generate", ""}), "google/flan-t5-base"));
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
