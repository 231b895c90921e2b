// Fetching a model from a hub on this machine: what is asked, what is kept, and what a hub that errs or lies does not
// achieve.
#include "hub/fetch.hpp"

#include <gtest/gtest.h>

#include "hub/cache.hpp"
#include "hub/fake_hub.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::hub {
namespace {

using test::content;
using test::FakeHub;
using test::kCommit;
using test::ServerReply;
using test::ServerRequest;

class HubFetch : public testing::Test {
 protected:
  HubFetch() {
    setenv("NO_PROXY", "127.0.0.1", 1);
    settings.hub = {hub.address(), ""};
    settings.models = folder.path() + "/models";
    settings.patience.first = std::chrono::milliseconds(1);
    watch.note = [this](const std::string& note) { notes.push_back(note); };
  }

  Result<Fetched> fetch_model() { return fetch(settings, *parse_model_name(hub.name), watch); }
  // The message of a fetch that must fail.
  std::string refusal() {
    const auto fetched = fetch_model();
    EXPECT_FALSE(fetched.ok());
    return fetched ? "" : fetched.error().message;
  }
  std::string directory() const { return settings.models + "/" + hub.name + "/" + kCommit; }
  std::string fetched_file(const std::string& name) const { return read_file(directory() + "/" + name); }
  bool is_model() const { return read_manifest(directory()).has_value(); }

  FakeHub hub;
  TempDirectory folder;
  FetchSettings settings;
  FetchWatch watch;
  std::vector<std::string> notes;
};

TEST_F(HubFetch, WhatIsReadAndNothingElse) {
  const auto fetched = fetch_model();
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(fetched->directory, directory());
  EXPECT_EQ(fetched_file("model.safetensors"), hub.large["model.safetensors"]);
  EXPECT_EQ(fetched_file("config.json"), hub.small["config.json"]);
  EXPECT_EQ(hub.count("README.md"), 0u);
  EXPECT_EQ(find_fetched(settings.models, *parse_model_name(hub.name)), directory());
}

}  // namespace
}  // namespace lapilli::hub
