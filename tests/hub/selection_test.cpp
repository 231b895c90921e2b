// The files of a model that are fetched: all files of the recorded models and tokenizers.
#include "fetched/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/path.hpp"

namespace lapilli::hub {
namespace {

Repository repository_of(std::set<std::string> names) {
  names.insert({"config.json", "model.safetensors"});
  Repository repository;
  for (const std::string& name : names) repository.files.push_back({name, 1, std::string(64, '0'), ""});
  return repository;
}

std::set<std::string> selected(const std::set<std::string>& names) {
  std::set<std::string> chosen;
  const auto selection = select_files(repository_of(names));
  EXPECT_TRUE(selection.ok()) << selection.error().message;
  if (selection)
    for (const HubFile& file : selection->files) chosen.insert(file.name);
  return chosen;
}

TEST(HubSelection, EveryFileOfTheRecordedModels) {
  size_t folders = 0;
  for (const char* kind : {"/models", "/tokenizers"}) {
    for (const std::string& name : names_in(LAPILLI_TEST_DATA + std::string(kind))) {
      const std::string place = LAPILLI_TEST_DATA + std::string(kind) + "/" + name;
      const auto names = names_in(place + (std::string(kind) == "/models" ? "/model" : "/files"));
      const auto chosen = selected({names.begin(), names.end()});
      for (const std::string& file : names)
        EXPECT_TRUE(chosen.contains(file) || file == "pytorch_model.bin") << place << ": " << file;
      ++folders;
    }
  }
  EXPECT_GE(folders, 40u);
}

// These files say how a model turns sound and pictures into numbers.
TEST(HubSelection, FilesOfPreprocessors) {
  const std::set<std::string> names = {"preprocessor_config.json", "processor_config.json", "README.md"};
  const auto chosen = selected(names);
  EXPECT_TRUE(chosen.contains("preprocessor_config.json") && chosen.contains("processor_config.json"));
  EXPECT_FALSE(chosen.contains("README.md"));
}

}  // namespace
}  // namespace lapilli::hub
