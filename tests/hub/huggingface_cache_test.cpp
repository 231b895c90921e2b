// The cache of other programs for the hub: what of it is used, and that none of it is written.
#include "fetched/huggingface_cache.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/path.hpp"
#include "fetched/present.hpp"
#include "hub/other_cache.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::hub {
namespace {

using test::kCommit;
using test::OtherCache;

constexpr const char* kConfig = "{\"model_type\": \"marian\"}";

class HubOtherCache : public testing::Test {
 protected:
  HubOtherCache() {
    cache.add("config.json", kConfig);
    cache.add("model.safetensors", "weights");
  }
  Snapshot find(const std::string& name = "owner/model") {
    return find_snapshot(folder.path(), *parse_model_name(name));
  }
  // The reason why a snapshot that is there is not used.
  std::string lacks() {
    const Snapshot snapshot = find();
    EXPECT_EQ(snapshot.directory, cache.snapshot());
    EXPECT_EQ(find_present({"", folder.path()}, *parse_model_name("owner/model")), "");
    EXPECT_TRUE(all_present({"", folder.path()}).empty());
    return snapshot.lacks;
  }

  TempDirectory folder;
  OtherCache cache{folder.path(), "owner", "model"};
};

TEST_F(HubOtherCache, AModelByItsNameAndRevision) {
  for (const char* name : {"owner/model", "owner/model@main", "owner/model@0123456"}) {
    EXPECT_EQ(find(name).directory, cache.snapshot()) << name;
    EXPECT_EQ(find(name).lacks, "") << name;
  }
  EXPECT_EQ(find(std::string("owner/model@") + kCommit).directory, cache.snapshot());
  for (const char* name : {"owner/model@v1", "owner/model@012345", "owner/model@012345f", "owner/other", "other/model"})
    EXPECT_EQ(find(name).directory, "") << name;
  cache.refer("refs/pr/1", kCommit);
  EXPECT_EQ(find("owner/model@refs/pr/1").directory, cache.snapshot());
  EXPECT_EQ(find_snapshot("", *parse_model_name("owner/model")).directory, "");
}

TEST_F(HubOtherCache, MainIsWhatRefsSay) {
  cache.refer("main", std::string(40, 'b'));
  EXPECT_EQ(find().directory, "");
  for (const char* hostile : {"", "../../../other", "main", "01234567"}) {
    cache.refer("main", hostile);
    EXPECT_EQ(find().directory, "") << hostile;
  }
  cache.refer("main", std::string(kCommit) + "\n");
  EXPECT_EQ(find().directory, cache.snapshot());
  cache.refer("main", std::string(100000, 'a'));
  EXPECT_EQ(find().directory, "");
}

TEST_F(HubOtherCache, WhatIsNotWhole) {
  cache.remove("config.json");
  EXPECT_NE(lacks().find("it has no config.json"), std::string::npos);
  cache.add("config.json", kConfig);
  // A link that leads nowhere.
  cache.remove_blob("model.safetensors");
  EXPECT_NE(lacks().find("it has no weights"), std::string::npos);
  cache.remove("model.safetensors");
  cache.add("model.safetensors.index.json",
            R"({"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}})");
  cache.add("model-00001-of-00002.safetensors", "a");
  EXPECT_NE(lacks().find("names a file of weights that it does not have"), std::string::npos);
  cache.add("model-00002-of-00002.safetensors", "b");
  EXPECT_EQ(find().lacks, "");
  cache.begin("next");
  EXPECT_EQ(lacks(), "a download of it did not end");
}

TEST_F(HubOtherCache, FoldersThatModulesName) {
  cache.add("modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"},
                                {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                                {"path": "2_Dense", "type": "sentence_transformers.models.Dense"},
                                {"path": "3_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  EXPECT_NE(lacks().find("names 1_Pooling/config.json, which it does not have"), std::string::npos) << lacks();
  cache.add("1_Pooling/config.json", "{}");
  cache.add("2_Dense/config.json", "{ }");
  EXPECT_NE(lacks().find("names 2_Dense, which has no weights"), std::string::npos) << lacks();
  cache.add("2_Dense/pytorch_model.bin", "matrix");
  EXPECT_EQ(find().lacks, "");
  cache.remove_blob("1_Pooling/config.json");
  EXPECT_NE(lacks().find("names 1_Pooling/config.json"), std::string::npos) << lacks();
}

TEST_F(HubOtherCache, TheNetworkInAFolder) {
  OtherCache other(folder.path(), "owner", "older");
  other.add("modules.json", R"([{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}])");
  other.add("0_Transformer/config.json", "{\"model_type\": \"bert\"}");
  EXPECT_NE(find("owner/older").lacks.find("it has no weights"), std::string::npos);
  other.add("0_Transformer/pytorch_model.bin", "weights");
  EXPECT_EQ(find("owner/older").lacks, "");
  const auto present = all_present({"", folder.path()});
  ASSERT_EQ(present.size(), 2u);
  EXPECT_EQ(present[1].name, "owner/older");
  EXPECT_EQ(present[1].family, "bert");
}

TEST_F(HubOtherCache, AllThatIsWholeAndHasAnOwner) {
  OtherCache other(folder.path(), "another", "one--with-lines");
  other.add("config.json", "[[");
  other.add("pytorch_model.bin", "weights");
  std::filesystem::create_directories(folder.path() + "/models--t5-small/snapshots");
  std::filesystem::create_directories(folder.path() + "/models--..--model/snapshots");
  std::filesystem::create_directories(folder.path() + "/datasets--owner--data/snapshots");
  const auto present = all_present({"", folder.path()});
  ASSERT_EQ(present.size(), 2u);
  EXPECT_EQ(present[0].name, "another/one--with-lines");
  EXPECT_EQ(present[0].family, "");
  EXPECT_EQ(present[1].name, "owner/model");
  EXPECT_EQ(present[1].directory, cache.snapshot());
  EXPECT_EQ(present[1].family, "marian");
  EXPECT_TRUE(present[1].shared);
}

}  // namespace
}  // namespace lapilli::hub
