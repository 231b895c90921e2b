// The files of a model that are fetched: all files of the recorded models and tokenizers.
#include "fetched/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/path.hpp"

namespace lapilli::hub {
namespace {

Repository only(const std::set<std::string>& names) {
  Repository repository;
  for (const std::string& name : names) repository.files.push_back({name, 1, std::string(64, '0'), ""});
  return repository;
}

Repository repository_of(std::set<std::string> names) {
  names.insert({"config.json", "model.safetensors"});
  return only(names);
}

// With the files of folders.
std::set<std::string> files_below(const std::string& directory) {
  std::set<std::string> names;
  for (const std::string& name : names_in(directory)) {
    if (!directory_exists(directory + "/" + name)) names.insert(name);
    for (const std::string& inner : names_in(directory + "/" + name)) names.insert(name + "/" + inner);
  }
  return names;
}

std::set<std::string> selected(const Repository& repository) {
  std::set<std::string> chosen;
  const auto selection = select_files(repository);
  EXPECT_TRUE(selection.ok()) << selection.error().message;
  if (!selection) return chosen;
  for (const HubFile& file : selection->files) EXPECT_TRUE(chosen.insert(file.name).second) << file.name;
  return chosen;
}
std::set<std::string> selected(const std::set<std::string>& names) { return selected(repository_of(names)); }

std::string why_not(const std::set<std::string>& names) {
  const auto selection = select_files(only(names));
  return selection ? "" : selection.error().message;
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

TEST(HubSelection, EveryFileOfTheRecordedSentenceModels) {
  size_t directories = 0;
  for (const std::string& name : names_in(LAPILLI_TEST_DATA "/sentences"))
    for (const char* model : {"model", "model-newer"}) {
      const auto names = files_below(LAPILLI_TEST_DATA "/sentences/" + name + "/" + model);
      if (names.empty()) continue;
      EXPECT_EQ(selected(only(names)), names) << name << " " << model;
      ++directories;
    }
  EXPECT_GE(directories, 8u);
}

TEST(HubSelection, FoldersOfSteps) {
  const std::set<std::string> taken = {"modules.json", "config_sentence_transformers.json", "1_Pooling/config.json",
                                       "10_Dense/config.json", "10_Dense/model.safetensors"};
  std::set<std::string> names = taken;
  for (const char* other :
       {"10_Dense/pytorch_model.bin", "1_Pooling/README.md", "onnx/config.json", "_Dense/config.json", "1_/config.json",
        "1Pooling/config.json", "1_Po-oling/config.json", "x1_Pooling/config.json", "README.md"})
    names.insert(other);
  std::set<std::string> expected = taken;
  expected.insert({"config.json", "model.safetensors"});
  EXPECT_EQ(selected(names), expected);
  names.erase("modules.json");
  EXPECT_EQ(selected(names),
            (std::set<std::string>{"config.json", "model.safetensors", "config_sentence_transformers.json"}));
}

TEST(HubSelection, TheNetworkInAFolder) {
  std::set<std::string> names = {"modules.json", "0_Transformer/config.json", "0_Transformer/pytorch_model.bin",
                                 "0_Transformer/vocab.txt"};
  EXPECT_EQ(selected(only(names)), names);
  // Old versions wrote their own number there.
  names.insert("config.json");
  EXPECT_EQ(selected(only(names)), names);
  EXPECT_NE(why_not({"modules.json", "0_Transformer/config.json"}).find("it has no weights"), std::string::npos);
  EXPECT_NE(why_not({"modules.json", "config.json", "0_Transformer/model.safetensors"}).find("it has no weights"),
            std::string::npos);
  for (const std::set<std::string>& none :
       {std::set<std::string>{"0_Transformer/config.json", "0_Transformer/model.safetensors"},
        std::set<std::string>{"modules.json", "1_Other/config.json", "1_Other/model.safetensors"}})
    EXPECT_NE(why_not(none).find("it has no config.json"), std::string::npos);
}

TEST(HubSelection, FormsThatAreNotRead) {
  const auto says = [](const std::set<std::string>& names, const char* word) {
    return why_not(names).find(word) != std::string::npos;
  };
  EXPECT_TRUE(says({"adapter_config.json", "adapter_model.safetensors"}, "an adapter (LoRA)"));
  EXPECT_TRUE(says({"adapter_config.json", "adapter_model.safetensors", "config.json"}, "an adapter (LoRA)"));
  EXPECT_TRUE(says({"model-Q4_K_M.gguf"}, "GGUF"));
  EXPECT_TRUE(says({"config.json", "model-Q4_K_M.gguf"}, "GGUF"));
  EXPECT_TRUE(says({"consolidated.safetensors", "params.json"}, "consolidated"));
  // Beside weights that are read they do not matter.
  EXPECT_EQ(
      selected(only({"config.json", "model.safetensors", "adapter_config.json", "model.gguf", "consolidated.pth"})),
      (std::set<std::string>{"config.json", "model.safetensors"}));
}

TEST(HubSelection, AnIndexNamesFilesBesideIt) {
  const std::string index = "0_Transformer/model.safetensors.index.json";
  const Repository repository = only({"modules.json", "model-1.safetensors", "0_Transformer/config.json", index,
                                      "0_Transformer/part-1.safetensors", "1_Pooling/config.json"});
  const auto selection = select_files(repository);
  ASSERT_TRUE(selection.ok()) << selection.error().message;
  ASSERT_EQ(selection->indices.size(), 1u);
  EXPECT_EQ(selection->indices[0].name, index);
  const auto parts = files_of_index(repository, index, R"({"weight_map": {"a": "part-1.safetensors"}})");
  ASSERT_TRUE(parts.ok()) << parts.error().message;
  EXPECT_EQ(parts->at(0).name, "0_Transformer/part-1.safetensors");
  for (const char* no : {"model-1.safetensors", "../model-1.safetensors", "0_Transformer/part-1.safetensors",
                         "config.json", "../1_Pooling/config.json", ""}) {
    const std::string map = R"({"weight_map": {"a": ")" + std::string(no) + "\"}}";
    EXPECT_FALSE(files_of_index(repository, index, map).ok()) << no;
  }
  const Repository top = only({"modules.json", "config.json", "model.safetensors.index.json", "1_Pooling/config.json"});
  EXPECT_FALSE(
      files_of_index(top, "model.safetensors.index.json", R"({"weight_map": {"a": "1_Pooling/config.json"}})").ok());
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
