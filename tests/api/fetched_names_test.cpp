// Models by name: those that "lapilli fetch" stored, and those in the cache of Hugging Face.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "fetched/cache.hpp"
#include "lapilli/lapilli.h"
#include "support/temp_directory.hpp"

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kCommit(40, 'a');

// Both caches are folders of the test.
class ApiFetchedDevice : public testing::Test {
 protected:
  void SetUp() override {
    setenv("LAPILLI_CACHE", (folder_.path() + "/own").c_str(), 1);
    setenv("HF_HUB_CACHE", (folder_.path() + "/shared").c_str(), 1);
    ASSERT_EQ(lapilli_device_open(nullptr, &device_), LAPILLI_OK) << lapilli_last_error();
  }
  void TearDown() override {
    lapilli_device_close(device_);
    for (const char* name : {"LAPILLI_CACHE", "HF_HUB_CACHE", "LAPILLI_MODEL"}) unsetenv(name);
  }

  // Stores the bundled model in a new directory.
  static void store(const std::string& directory) {
    fs::create_directories(directory);
    fs::copy(LAPILLI_SOURCE_DIR "/models/en-fr", directory);
  }
  void fetch(const std::string& name) {
    const std::string directory = folder_.path() + "/own/models/" + name + "/" + kCommit;
    store(directory);
    lapilli::hub::Manifest manifest{name, kCommit, "main", "", lapilli::hub::time_now(), {}};
    const uint64_t bytes = fs::file_size(directory + "/config.json");
    manifest.files.push_back({"config.json", bytes, "", std::string(40, 'b')});
    ASSERT_TRUE(lapilli::hub::write_manifest(directory, manifest));
  }
  void share(const std::string& owner, const std::string& name) {
    const std::string model = folder_.path() + "/shared/models--" + owner + "--" + name;
    store(model + "/snapshots/" + kCommit);
    fs::create_directories(model + "/refs");
    std::ofstream(model + "/refs/main") << kCommit;
  }

  // The directory that a name leads to, or the error.
  std::string found(const char* name) {
    lapilli_model* model = nullptr;
    if (lapilli_model_load(device_, name, &model) != LAPILLI_OK) return lapilli_last_error();
    lapilli_model_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(lapilli_model_get_info(model, &info), LAPILLI_OK);
    std::string directory = info.directory;
    lapilli_model_free(model);
    return directory;
  }

  const lapilli::TempDirectory folder_;
  lapilli_device* device_ = nullptr;
};

TEST_F(ApiFetchedDevice, NamesLeadToBothCaches) {
  fetch("me/own");
  share("me", "shared");
  EXPECT_EQ(found("me/own"), folder_.path() + "/own/models/me/own/" + kCommit);
  EXPECT_EQ(found("me/own@main"), folder_.path() + "/own/models/me/own/" + kCommit);
  EXPECT_EQ(found("me/shared"), folder_.path() + "/shared/models--me--shared/snapshots/" + kCommit);
  setenv("LAPILLI_MODEL", "me/shared", 1);
  EXPECT_EQ(found(nullptr), folder_.path() + "/shared/models--me--shared/snapshots/" + kCommit);
  lapilli_load* load = nullptr;
  ASSERT_EQ(lapilli_load_start(device_, "me/own", nullptr, &load), LAPILLI_OK) << lapilli_last_error();
  lapilli_load_free(load);
}

TEST_F(ApiFetchedDevice, NamesThatLeadNowhereAdvise) {
  EXPECT_THAT(found("me/none"), HasSubstr("me/none is not a directory, and no model of that name was fetched"));
  EXPECT_THAT(found("me/none"), HasSubstr("lapilli fetch me/none gets it"));
  EXPECT_THAT(found("me/none@v1"), HasSubstr("lapilli fetch me/none@v1 gets it"));
  share("me", "torn");
  fs::remove(folder_.path() + "/shared/models--me--torn/snapshots/" + kCommit + "/model.safetensors");
  EXPECT_THAT(found("me/torn"), HasSubstr("is not whole"));
  EXPECT_THAT(found("no/such/model"), HasSubstr("no/such/model"));
  setenv("LAPILLI_MODEL", "me/none", 1);
  EXPECT_THAT(found(""), HasSubstr("LAPILLI_MODEL: me/none is not a directory"));
}

}  // namespace
