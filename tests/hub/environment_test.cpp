// Mirrors, tokens and places by the usual variables.
#include <gtest/gtest.h>

#include <cstdlib>

#include "fetched/cache.hpp"
#include "fetched/huggingface_cache.hpp"
#include "hub/requests.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::hub {
namespace {

constexpr const char* kNames[] = {"HF_ENDPOINT",    "HF_TOKEN",    "HF_TOKEN_PATH",  "HF_HOME",
                                  "XDG_CACHE_HOME", "HOME",        "HF_HUB_OFFLINE", "LAPILLI_OFFLINE",
                                  "LAPILLI_CACHE",  "USERPROFILE", "HF_HUB_CACHE"};

// None of the variables is set at first, and all are as before afterwards.
class HubEnvironment : public testing::Test {
 protected:
  HubEnvironment() {
    for (const char* name : kNames) {
      const char* value = std::getenv(name);
      before_.emplace_back(value ? std::optional<std::string>(value) : std::nullopt);
      unsetenv(name);
    }
  }
  ~HubEnvironment() override {
    for (size_t i = 0; i < std::size(kNames); ++i)
      before_[i] ? setenv(kNames[i], before_[i]->c_str(), 1) : unsetenv(kNames[i]);
  }
  static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
  static std::string token() {
    const auto hub = hub_of_environment();
    return hub ? hub->token : "error: " + hub.error().message;
  }

  TempDirectory folder_;

 private:
  std::vector<std::optional<std::string>> before_;
};

TEST_F(HubEnvironment, TheHubItself) {
  const auto hub = hub_of_environment();
  ASSERT_TRUE(hub.ok());
  EXPECT_EQ(hub->endpoint, "https://huggingface.co");
  EXPECT_EQ(hub->token, "");
}

TEST_F(HubEnvironment, Mirrors) {
  set("HF_ENDPOINT", "https://mirror.example/hub//");
  EXPECT_EQ(hub_of_environment()->endpoint, "https://mirror.example/hub");
  set("HF_ENDPOINT", "mirror.example");
  EXPECT_NE(hub_of_environment().error().message.find("HF_ENDPOINT is mirror.example"), std::string::npos);
}

TEST_F(HubEnvironment, Tokens) {
  set("HOME", folder_.path());
  std::filesystem::create_directories(folder_.path() + "/.cache/huggingface");
  folder_.write(".cache/huggingface/token", "of_home\n");
  EXPECT_EQ(token(), "of_home");
  std::filesystem::create_directories(folder_.path() + "/hf");
  folder_.write("hf/token", "of_hf_home");
  set("HF_HOME", folder_.path() + "/hf");
  EXPECT_EQ(token(), "of_hf_home");
  set("HF_TOKEN_PATH", folder_.write("elsewhere", " of_path \r\n"));
  EXPECT_EQ(token(), "of_path");
  set("HF_TOKEN", " itself\n");
  EXPECT_EQ(token(), "itself");
}

// Else it would be two headers.
TEST_F(HubEnvironment, TokensAreOneWord) {
  set("HF_TOKEN", "a\r\nX-Other: b");
  EXPECT_EQ(token(), "error: HF_TOKEN holds no token of a hub");
}

TEST_F(HubEnvironment, Offline) {
  for (const char* name : {"HF_HUB_OFFLINE", "LAPILLI_OFFLINE"}) {
    set(name, "1");
    EXPECT_EQ(token(), std::string("error: ") + name + " is set, so nothing is fetched");
    set(name, "0");
    EXPECT_EQ(token(), "");
  }
}

TEST_F(HubEnvironment, PlacesOfOtherPrograms) {
  EXPECT_EQ(huggingface_cache(), "");
  set("HOME", "/home/user");
  EXPECT_EQ(huggingface_cache(), "/home/user/.cache/huggingface/hub");
  set("XDG_CACHE_HOME", "/caches");
  EXPECT_EQ(huggingface_cache(), "/caches/huggingface/hub");
  set("HF_HOME", "/hf");
  EXPECT_EQ(huggingface_cache(), "/hf/hub");
  set("HF_HUB_CACHE", "/models");
  EXPECT_EQ(huggingface_cache(), "/models");
}

TEST_F(HubEnvironment, PlacesForModels) {
  EXPECT_FALSE(models_directory().ok());
  set("HOME", "/home/user");
  EXPECT_EQ(*models_directory(), "/home/user/.cache/lapilli/models");
  set("XDG_CACHE_HOME", "/caches");
  EXPECT_EQ(*models_directory(), "/caches/lapilli/models");
  set("LAPILLI_CACHE", "/own");
  EXPECT_EQ(*models_directory(), "/own/models");
}

}  // namespace
}  // namespace lapilli::hub
