// Fetching a model from a hub on this machine: what is asked, what is kept, and what a hub that errs or lies does not
// achieve.
#include "hub/fetch.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <thread>

#include "base/path.hpp"
#include "fetched/cache.hpp"
#include "hub/download.hpp"
#include "hub/fake_hub.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::hub {
namespace {

using test::content;
using test::FakeHub;
using test::kCommit;
using test::ServerReply;
using test::ServerRequest;

using Answered = std::optional<ServerReply>;

constexpr const char* kWeights = "model.safetensors";

class HubFetch : public testing::Test {
 protected:
  HubFetch() {
    setenv("NO_PROXY", "127.0.0.1", 1);
    settings.hub = {hub.address(), ""};
    settings.models = folder.path() + "/models";
    settings.patience.first = std::chrono::milliseconds(1);
    settings.limits = {5, 5};
    watch.note = [this](const std::string& note) { notes.push_back(note); };
  }

  Result<Fetched> fetch_model() { return fetch(settings, *parse_model_name(hub.name), watch); }
  void expect_fetched() {
    const auto fetched = fetch_model();
    ASSERT_TRUE(fetched.ok()) << fetched.error().message;
    EXPECT_TRUE(is_model());
    for (const auto& files : {hub.small, hub.large}) {
      for (const auto& [name, text] : files) EXPECT_TRUE(name == "README.md" || fetched_file(name) == text) << name;
    }
  }
  // The message of a fetch that must fail, and leave no model.
  std::string refusal() {
    const auto fetched = fetch_model();
    EXPECT_FALSE(fetched.ok());
    EXPECT_FALSE(is_model());
    EXPECT_EQ(find_fetched(settings.models, *parse_model_name(hub.name)), "");
    return fetched ? "" : fetched.error().message;
  }
  std::string directory() const { return settings.models + "/" + hub.name + "/" + kCommit; }
  std::string fetched_file(const std::string& name) const { return read_file(directory() + "/" + name); }
  bool is_model() const { return read_manifest(directory()).has_value(); }
  bool is_there(const std::string& name) const { return file_exists(directory() + "/" + name); }
  // The part of the weights that a broken fetch left.
  std::string part() const {
    return part_of({kWeights, 0, test::sha256_of(hub.large.at(kWeights)), ""}, directory() + "/" + kWeights);
  }
  // The store answers requests for the weights so, each time with the number of the request.
  void answer_weights(std::function<Answered(const ServerRequest&, int)> answer) {
    hub.at_store = [this, answer](const ServerRequest& request) -> Answered {
      return request.target.ends_with(kWeights) ? answer(request, weights_asked++) : std::nullopt;
    };
  }

  FakeHub hub;
  TempDirectory folder;
  FetchSettings settings;
  FetchWatch watch;
  std::vector<std::string> notes;
  int weights_asked = 0;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// ---- what is fetched ----

TEST_F(HubFetch, WhatIsReadAndNothingElse) {
  hub.small["tf_model.h5"] = "other weights";
  hub.large["pytorch_model.bin"] = content(1000);
  const auto fetched = fetch_model();
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(fetched->directory, directory());
  EXPECT_FALSE(fetched->was_there);
  EXPECT_EQ(fetched_file(kWeights), hub.large[kWeights]);
  EXPECT_EQ(fetched_file("source.spm"), hub.large["source.spm"]);
  EXPECT_EQ(fetched_file("config.json"), hub.small["config.json"]);
  for (const char* other : {"README.md", "tf_model.h5", "pytorch_model.bin"}) EXPECT_EQ(hub.count(other), 0u) << other;
  EXPECT_EQ(find_fetched(settings.models, *parse_model_name(hub.name)), directory());
  for (const std::string& name : names_in(directory())) EXPECT_FALSE(name.ends_with(".part")) << name;
}

TEST_F(HubFetch, ManifestSaysWhatItIs) {
  expect_fetched();
  const auto manifest = read_manifest(directory());
  EXPECT_EQ(manifest->name, "owner/model");
  EXPECT_EQ(manifest->commit, kCommit);
  EXPECT_EQ(manifest->asked_for, "main");
  EXPECT_EQ(manifest->licence, "cc-by-4.0");
  ASSERT_EQ(manifest->files.size(), 4u);
  EXPECT_EQ(manifest->files.back().name, kWeights);
  EXPECT_EQ(manifest->files.back().sha256, test::sha256_of(hub.large[kWeights]));
  EXPECT_EQ(manifest->files.front().git_blob, test::git_blob_of(hub.small["config.json"]));
}

TEST_F(HubFetch, TheSecondTimeNothing) {
  expect_fetched();
  const size_t before = hub.at_hub_asked().size();
  const auto again = fetch_model();
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->was_there);
  EXPECT_EQ(hub.at_hub_asked().size(), before + 1);  // which commit it is now
}

TEST_F(HubFetch, AFileThatAnEarlierVersionLeftOutIsFetchedLater) {
  expect_fetched();
  const size_t weights = hub.count(kWeights);
  hub.small["preprocessor_config.json"] = "{}";
  const auto again = fetch_model();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_FALSE(again->was_there);
  EXPECT_EQ(fetched_file("preprocessor_config.json"), "{}");
  EXPECT_EQ(hub.count(kWeights), weights);
  EXPECT_TRUE(fetch_model()->was_there);
}

TEST_F(HubFetch, PytorchWeightsWhereThereAreNoOthers) {
  hub.large.erase(kWeights);
  hub.large["pytorch_model.bin"] = content(2000, 7);
  expect_fetched();
}

TEST_F(HubFetch, WeightsInParts) {
  hub.large.erase(kWeights);
  hub.small["model.safetensors.index.json"] =
      R"({"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}})";
  hub.large["model-00001-of-00002.safetensors"] = content(40000, 3);
  hub.large["model-00002-of-00002.safetensors"] = content(30000, 4);
  expect_fetched();
  EXPECT_EQ(hub.count("model.safetensors.index.json"), 1u);
  EXPECT_EQ(read_manifest(directory())->files.size(), 6u);
}

TEST_F(HubFetch, PartsThatAreNotThere) {
  hub.large.erase(kWeights);
  // The hub lists the hostile ones, too.
  hub.change_answer = [](nlohmann::json& answer) {
    for (const char* name : {"../../evil", "/etc/passwd"})
      answer["siblings"].push_back({{"rfilename", name}, {"size", 3}, {"blobId", test::git_blob_of("abc")}});
  };
  for (const char* name : {"model-00002-of-00002.safetensors", "../../evil", "config.json", "/etc/passwd"}) {
    hub.small["model.safetensors.index.json"] = R"({"weight_map": {"a": ")" + std::string(name) + "\"}}";
    EXPECT_TRUE(contains(refusal(), "names a file of weights that it does not have")) << name;
  }
  hub.small["model.safetensors.index.json"] = "[[[";
  EXPECT_TRUE(contains(refusal(), "has no weight_map"));
}

TEST_F(HubFetch, ModelsThatAreNotRead) {
  hub.large.erase(kWeights);
  EXPECT_TRUE(contains(refusal(), "it has no weights"));
  hub.large["tf_model.h5"] = "other weights";
  EXPECT_TRUE(contains(refusal(), "only as tf_model.h5"));
  hub.small.erase("config.json");
  EXPECT_TRUE(contains(refusal(), "it has no config.json"));
  EXPECT_FALSE(directory_exists(directory()));
}

TEST_F(HubFetch, EmptyFiles) {
  hub.small["special_tokens_map.json"] = "";
  expect_fetched();
}

// ---- folders of sentence-transformers ----

void add_steps(FakeHub& hub) {
  hub.small["modules.json"] = "[]";
  hub.small["sentence_bert_config.json"] = "{}";
  hub.small["1_Pooling/config.json"] = R"({"pooling_mode_cls_token": true})";
  hub.small["2_Dense/config.json"] = "{\"in_features\": 4}";
  hub.large["2_Dense/model.safetensors"] = content(3000, 8);
}

TEST_F(HubFetch, FoldersOfSteps) {
  add_steps(hub);
  hub.large["2_Dense/pytorch_model.bin"] = content(3000, 9);
  hub.small["onnx/config.json"] = "{}";
  hub.small["1_Pooling/deeper/config.json"] = "{}";
  ASSERT_TRUE(fetch_model().ok());
  EXPECT_EQ(fetched_file("1_Pooling/config.json"), hub.small["1_Pooling/config.json"]);
  EXPECT_EQ(fetched_file("2_Dense/model.safetensors"), hub.large["2_Dense/model.safetensors"]);
  EXPECT_EQ(names_in(directory() + "/2_Dense"), (std::vector<std::string>{"config.json", "model.safetensors"}));
  EXPECT_EQ(names_in(directory() + "/1_Pooling"), std::vector<std::string>{"config.json"});
  EXPECT_FALSE(directory_exists(directory() + "/onnx"));
  EXPECT_EQ(hub.count("model/resolve/" + std::string(kCommit) + "/1_Pooling/config.json"), 1u);
  EXPECT_EQ(read_manifest(directory())->files.size(), 9u);
  EXPECT_TRUE(fetch_model()->was_there);
}

TEST_F(HubFetch, AFolderThatLostItsFileIsNoModel) {
  add_steps(hub);
  expect_fetched();
  ASSERT_TRUE(remove_file(directory() + "/1_Pooling/config.json"));
  EXPECT_EQ(find_fetched(settings.models, *parse_model_name(hub.name)), "");
  expect_fetched();
  ASSERT_TRUE(resize_file(directory() + "/2_Dense/model.safetensors", 10));
  EXPECT_EQ(find_fetched(settings.models, *parse_model_name(hub.name)), "");
  expect_fetched();
}

// A version that knew no folders left them out.
TEST_F(HubFetch, FoldersAreFetchedLater) {
  expect_fetched();
  const size_t weights = hub.count(kWeights);
  add_steps(hub);
  hub.large.erase("2_Dense/model.safetensors");
  EXPECT_FALSE(fetch_model()->was_there);
  EXPECT_EQ(fetched_file("1_Pooling/config.json"), hub.small["1_Pooling/config.json"]);
  EXPECT_EQ(hub.count(kWeights), weights);
}

TEST_F(HubFetch, TheNetworkInAFolder) {
  hub.small = {{"modules.json", "[]"}, {"0_Transformer/config.json", "{}"}, {"0_Transformer/vocab.txt", "a"}};
  hub.small["0_Transformer/model.safetensors.index.json"] = R"({"weight_map": {"a": "part-1.safetensors"}})";
  hub.large = {{"0_Transformer/part-1.safetensors", content(40000, 3)}};
  expect_fetched();
  EXPECT_EQ(read_manifest(directory())->files.size(), 5u);
}

TEST_F(HubFetch, AFileWhereAFolderShouldBe) {
  add_steps(hub);
  ASSERT_TRUE(make_directories(directory()));
  folder.write("models/owner/model/" + std::string(kCommit) + "/1_Pooling", "in the way");
  const std::string said = refusal();
  EXPECT_TRUE(contains(said, "1_Pooling cannot be made: Not a directory")) << said;
}

TEST_F(HubFetch, ManifestsWithHostileFoldersAreNone) {
  add_steps(hub);
  expect_fetched();
  folder.write("models/owner/model/config.json", "{}");
  for (const char* name : {"../config.json", "1_Pooling/../config.json", "1_Pooling/../../config.json", "/config.json",
                           "1_Pooling\\config.json"}) {
    auto manifest = *read_manifest(directory());
    manifest.files.push_back({name, 2, "", test::git_blob_of("{}")});
    ASSERT_TRUE(write_manifest(directory(), manifest).ok());
    EXPECT_FALSE(is_model()) << name;
    manifest.files.pop_back();
    ASSERT_TRUE(write_manifest(directory(), manifest).ok());
  }
}

// ---- revisions ----

TEST_F(HubFetch, RevisionsAreAskedForByName) {
  const auto fetched = fetch(settings, *parse_model_name("owner/model@refs/pr/7"), watch);
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(hub.at_hub_asked()[0].target, "/api/models/owner/model/revision/refs%2Fpr%2F7?blobs=true");
  for (const char* name : {"owner/model", "owner/model@refs/pr/7", "owner/model@0123456"})
    EXPECT_EQ(find_fetched(settings.models, *parse_model_name(name)), directory()) << name;
  for (const char* name : {"owner/model@main", "owner/model@012345", "owner/other"})
    EXPECT_EQ(find_fetched(settings.models, *parse_model_name(name)), "") << name;
}

TEST_F(HubFetch, TheModelFetchedLastIsTheOneWithoutRevision) {
  const ModelName model = *parse_model_name("owner/model");
  const std::string commits[] = {std::string(40, 'a'), std::string(40, 'b'), std::string(40, 'c')};
  const char* times[] = {"2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-02-01T00:00:00Z"};
  for (size_t i = 0; i < 3; ++i) {
    const std::string place = directory_of(settings.models, model, commits[i]);
    ASSERT_TRUE(make_directories(place));
    ASSERT_TRUE(write_manifest(place, {"owner/model", commits[i], "main", "", times[i], {}}).ok());
  }
  EXPECT_EQ(find_fetched(settings.models, model), directory_of(settings.models, model, commits[1]));
}

// ---- redirects and tokens ----

TEST_F(HubFetch, TheTokenGoesToTheHubAlone) {
  settings.hub.token = "hf_secret";
  expect_fetched();
  for (const ServerRequest& request : hub.at_hub_asked())
    EXPECT_EQ(request.header("authorization"), "Bearer hf_secret") << request.target;
  ASSERT_FALSE(hub.at_store_asked().empty());
  for (const ServerRequest& request : hub.at_store_asked())
    EXPECT_EQ(request.header("authorization"), "") << request.target;
}

TEST_F(HubFetch, NoTokenWithoutEncryptionToOtherMachines) {
  test::HttpServer proxy([](const ServerRequest&) { return ServerReply{404, {}, "", {}, {}}; });
  setenv("http_proxy", proxy.address().c_str(), 1);
  settings.hub = {"http://hub.example", "hf_secret"};
  EXPECT_TRUE(contains(refusal(), "is not there (404)"));
  unsetenv("http_proxy");
  ASSERT_EQ(proxy.requests().size(), 1u);  // which shows that the proxy was heeded
  EXPECT_EQ(proxy.requests()[0].target, "http://hub.example/api/models/owner/model/revision/main?blobs=true");
  EXPECT_EQ(proxy.requests()[0].header("authorization"), "");
}

TEST_F(HubFetch, RedirectsThatAreNotFollowed) {
  std::string location;
  hub.at_hub = [&](const ServerRequest&) -> Answered { return ServerReply{307, {{"Location", location}}, "", {}, {}}; };
  for (const char* place : {"file:///etc/passwd", "ftp://127.0.0.1/", "http://user:word@127.0.0.1/"}) {
    location = place;
    EXPECT_TRUE(contains(refusal(), "it redirects to a place that is not followed")) << place;
  }
  location = "/api/models/owner/model/revision/main?blobs=true";
  EXPECT_TRUE(contains(refusal(), "it redirects again and again"));
}

TEST_F(HubFetch, ARenamedModelIsFoundByItsOldName) {
  settings.hub.token = "hf_secret";
  hub.at_hub = [&](const ServerRequest& request) -> Answered {
    const std::string old = "/old/name/";
    const size_t at = request.target.find(old);
    if (at == std::string::npos) return std::nullopt;
    const std::string target = request.target.substr(0, at) + "/owner/model/" + request.target.substr(at + old.size());
    return ServerReply{307, {{"Location", target}}, "moved", {}, {}};
  };
  const auto fetched = fetch(settings, *parse_model_name("old/name"), watch);
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(fetched->directory, settings.models + "/old/name/" + kCommit);
  for (const ServerRequest& request : hub.at_hub_asked())
    EXPECT_EQ(request.header("authorization"), "Bearer hf_secret");  // the same host still
}

// ---- what ends early ----

TEST_F(HubFetch, CutConnectionsGoOnWhereTheyEnded) {
  answer_weights([this](const ServerRequest& request, int n) -> Answered {
    ServerReply reply = FakeHub::send(request, hub.large[kWeights]);
    if (n < 3) reply.cut_after = 50000;
    return reply;
  });
  expect_fetched();
  std::vector<std::string> ranges;
  for (const ServerRequest& request : hub.at_store_asked())
    if (request.target.ends_with(kWeights)) ranges.push_back(request.header("range"));
  EXPECT_EQ(ranges, (std::vector<std::string>{"", "bytes=50000-", "bytes=100000-", "bytes=150000-"}));
}

TEST_F(HubFetch, AServerWithoutRangesStartsOver) {
  answer_weights([this](const ServerRequest&, int n) -> Answered {
    ServerReply reply{200, {}, hub.large[kWeights], {}, {}};
    if (n == 0) reply.cut_after = 50000;
    return reply;
  });
  expect_fetched();
  EXPECT_EQ(weights_asked, 2);
}

// Each time it sends as much as before, and no more.
TEST_F(HubFetch, AServerThatStartsOverForever) {
  settings.patience.tries = 3;
  answer_weights([this](const ServerRequest&, int n) -> Answered {
    ServerReply reply{200, {}, hub.large[kWeights], {}, {}};
    reply.cut_after = n % 2 == 0 ? 50000 : 40000;
    return reply;
  });
  EXPECT_TRUE(contains(refusal(), kWeights));
  EXPECT_LE(weights_asked, 5);
}

TEST_F(HubFetch, ConnectionsThatEndWithoutAWord) {
  answer_weights([](const ServerRequest&, int n) -> Answered {
    if (n > 1) return std::nullopt;
    ServerReply reply;
    reply.silent = true;
    return reply;
  });
  expect_fetched();
  EXPECT_EQ(weights_asked, 3);
}

TEST_F(HubFetch, PatienceEnds) {
  answer_weights([](const ServerRequest&, int) -> Answered {
    ServerReply reply;
    reply.silent = true;
    return reply;
  });
  settings.patience.tries = 3;
  EXPECT_TRUE(contains(refusal(), std::string(kWeights) + " at " + hub.address()));
  EXPECT_EQ(weights_asked, 3);
}

TEST_F(HubFetch, WhatIsInterruptedIsNoModelAndGoesOn) {
  bool stop = false;
  watch.stopped = [&] { return stop; };
  watch.progress = [&](uint64_t bytes) { stop = bytes > 60000; };
  answer_weights([this](const ServerRequest& request, int n) -> Answered {
    ServerReply reply = FakeHub::send(request, hub.large[kWeights]);
    if (n == 0) reply.cut_after = 120000;
    return reply;
  });
  const auto fetched = fetch_model();
  ASSERT_FALSE(fetched.ok());
  EXPECT_EQ(fetched.error().code, ErrorCode::cancelled);
  EXPECT_FALSE(is_model());
  EXPECT_EQ(find_fetched(settings.models, *parse_model_name(hub.name)), "");
  EXPECT_TRUE(is_there("config.json"));
  const uint64_t held = file_size(part());
  EXPECT_GT(held, 0u);

  watch.progress = nullptr;
  stop = false;
  expect_fetched();
  EXPECT_EQ(hub.at_store_asked().back().header("range"), "bytes=" + std::to_string(held) + "-");
  EXPECT_EQ(hub.count("config.json"), 1u);
}

// Only the manifest makes a model of it.
TEST_F(HubFetch, FilesWithoutAManifestAreNoModel) {
  expect_fetched();
  ASSERT_TRUE(remove_file(directory() + "/" + kManifest));
  EXPECT_EQ(find_fetched(settings.models, *parse_model_name(hub.name)), "");
  expect_fetched();
  EXPECT_EQ(hub.count(kWeights), 2u);  // at the hub, and at the store that it names: as before
}

TEST_F(HubFetch, AModelThatLostAFileIsNone) {
  expect_fetched();
  ASSERT_TRUE(resize_file(directory() + "/" + kWeights, 1000));
  EXPECT_EQ(find_fetched(settings.models, *parse_model_name(hub.name)), "");
  expect_fetched();
}

TEST_F(HubFetch, APartThatIsWrongIsGivenUpOnce) {
  ASSERT_TRUE(make_directories(directory()));
  folder.write(part().substr(folder.path().size() + 1), content(100000, 99));
  expect_fetched();
  EXPECT_EQ(hub.at_store_asked().back().header("range"), "");
}

TEST_F(HubFetch, APartThatIsTooLongStartsOver) {
  ASSERT_TRUE(make_directories(directory()));
  folder.write(part().substr(folder.path().size() + 1), content(400000));
  expect_fetched();
}

// ---- what the hub answers ----

struct Refusal {
  int status;
  const char* message;
};

class HubFetchRefused : public HubFetch, public testing::WithParamInterface<Refusal> {};

TEST_P(HubFetchRefused, SaysWhatToDo) {
  const ServerReply reply{GetParam().status, {}, "<html>whatever</html>", {}, {}};
  hub.at_hub = [&](const ServerRequest&) -> Answered { return reply; };
  settings.patience.tries = 2;
  const std::string of_api = refusal();
  EXPECT_TRUE(contains(of_api, GetParam().message) && contains(of_api, "owner/model")) << of_api;
  hub.at_hub = [&](const ServerRequest& request) -> Answered {
    return request.target.ends_with(kWeights) ? Answered(reply) : std::nullopt;
  };
  const std::string of_file = refusal();
  EXPECT_TRUE(contains(of_file, GetParam().message) && contains(of_file, kWeights)) << of_file;
}

INSTANTIATE_TEST_SUITE_P(All, HubFetchRefused,
                         testing::Values(Refusal{401, "set HF_TOKEN"}, Refusal{403, "agree to its conditions at"},
                                         Refusal{404, "look at its name"}, Refusal{410, "the hub answers 410"},
                                         Refusal{429, "busy or broken (429)"}, Refusal{500, "busy or broken (500)"},
                                         Refusal{503, "busy or broken (503)"}),
                         [](const auto& c) { return "Status" + std::to_string(c.param.status); });

TEST_F(HubFetch, AHubThatIsBusyForAWhile) {
  for (const int status : {429, 500, 503}) {
    TempDirectory other;
    settings.models = other.path();
    int left = 3;
    hub.at_hub = [&](const ServerRequest&) -> Answered {
      return left-- > 0 ? Answered(ServerReply{status, {}, "wait", {}, {}}) : std::nullopt;
    };
    expect_fetched();
    EXPECT_LT(left, 0);
  }
  EXPECT_EQ(notes.size(), 9u);
}

TEST_F(HubFetch, WaitsAsLongAsItIsAskedTo) {
  int asked = 0;
  std::chrono::steady_clock::time_point first, second;
  answer_weights([&](const ServerRequest&, int) -> Answered {
    (asked++ == 0 ? first : second) = std::chrono::steady_clock::now();
    return asked == 1 ? Answered(ServerReply{429, {{"Retry-After", "1"}}, "", {}, {}}) : std::nullopt;
  });
  expect_fetched();
  EXPECT_GE(second - first, std::chrono::milliseconds(990));
}

TEST_F(HubFetch, DoesNotWaitForever) {
  answer_weights([](const ServerRequest&, int) -> Answered {
    return ServerReply{429, {{"Retry-After", "86400"}}, "", {}, {}};
  });
  EXPECT_TRUE(contains(refusal(), "it asks to wait 86400 seconds: try again later"));
  EXPECT_EQ(weights_asked, 1);
}

TEST_F(HubFetch, NobodyThere) {
  settings.hub.endpoint = "http://127.0.0.1:" + std::to_string(test::closed_port());
  EXPECT_TRUE(contains(refusal(), "is the network there? HF_ENDPOINT may name a mirror"));
  EXPECT_TRUE(notes.empty());  // nobody waits for what was never there
}

TEST_F(HubFetch, AnswersThatAreNone) {
  std::string body;
  hub.at_hub = [&](const ServerRequest&) -> Answered { return ServerReply{200, {}, body, {}, {}}; };
  const std::string sha = R"("sha": ")" + std::string(kCommit) + "\"";
  const std::pair<std::string, const char*> cases[] = {
      {"", "is no JSON object"},
      {"[1]", "is no JSON object"},
      {"<html>", "is no JSON object"},
      {std::string(100000, '['), "is no JSON object"},
      {"{\"siblings\": []}", "names no commit"},
      {R"({"sha": "../../../etc", "siblings": []})", "names no commit"},
      {"{" + sha + "}", "lists no files"},
      {"{" + sha + R"(, "siblings": {}})", "lists no files"},
      {"{" + sha + R"(, "siblings": [1, null, {}, {"rfilename": 3}]})", "it has no config.json"},
  };
  for (const auto& [text, message] : cases) {
    body = text;
    const std::string said = refusal();
    EXPECT_TRUE(contains(said, message)) << said;
  }
  body = std::string(size_t{20} << 20, ' ');
  refusal();
}

// ---- lies ----

TEST_F(HubFetch, LengthsThatAreNotThoseOfTheFile) {
  for (const int64_t off : {-1000, 1000}) {
    answer_weights([this, off](const ServerRequest&, int) -> Answered {
      ServerReply reply{200, {}, hub.large[kWeights], {}, {}};
      reply.body.resize(static_cast<size_t>(static_cast<int64_t>(reply.body.size()) + off), 'x');
      return reply;
    });
    const std::string said = refusal();
    EXPECT_TRUE(contains(said, "bytes where it states 300000")) << said;
    EXPECT_EQ(file_size(part()), 0u);
  }
}

TEST_F(HubFetch, MoreThanIsStated) {
  answer_weights([this](const ServerRequest&, int) -> Answered {
    ServerReply reply{200, {}, hub.large[kWeights] + content(1000000), {}, {}};
    reply.no_length = true;
    return reply;
  });
  EXPECT_TRUE(contains(refusal(), "the hub sends more than the 300000 bytes that it states"));
  EXPECT_LE(file_size(part()), 300000u);
}

TEST_F(HubFetch, LessThanIsStated) {
  settings.patience.tries = 2;
  answer_weights([this](const ServerRequest&, int n) -> Answered {
    ServerReply reply{200, {}, n == 0 ? hub.large[kWeights].substr(0, 1000) : "", {}, {}};
    reply.no_length = true;
    return reply;
  });
  const std::string said = refusal();
  EXPECT_TRUE(contains(said, "ends after 1000 of the 300000 bytes")) << said;
}

TEST_F(HubFetch, AnotherRangeThanAskedFor) {
  answer_weights([this](const ServerRequest& request, int n) -> Answered {
    ServerReply reply = FakeHub::send(request, hub.large[kWeights]);
    if (n == 0) reply.cut_after = 50000;
    if (n > 0) reply.headers = {{"Content-Range", "bytes 40000-299999/300000"}};
    return reply;
  });
  EXPECT_TRUE(contains(refusal(), "another part of the file than it was asked for"));
}

TEST_F(HubFetch, ARangeOfAnotherFile) {
  answer_weights([this](const ServerRequest& request, int n) -> Answered {
    ServerReply reply = FakeHub::send(request, hub.large[kWeights]);
    if (n == 0) reply.cut_after = 50000;
    if (n > 0) reply.headers = {{"Content-Range", "bytes 50000-299999/900000"}};
    return reply;
  });
  EXPECT_TRUE(contains(refusal(), "sends 900000 bytes where it states 300000"));
}

TEST_F(HubFetch, OtherContentOfTheSameSize) {
  answer_weights([](const ServerRequest&, int) -> Answered {
    return ServerReply{200, {}, content(300000, 5), {}, {}};
  });
  const std::string said = refusal();
  EXPECT_TRUE(contains(said, "has the SHA-256 " + test::sha256_of(content(300000, 5)))) << said;
  EXPECT_FALSE(is_there(kWeights));
  EXPECT_FALSE(file_exists(part()));
}

TEST_F(HubFetch, OtherContentOfASmallFile) {
  hub.at_hub = [](const ServerRequest& request) -> Answered {
    return request.target.ends_with("/vocab.json") ? Answered(ServerReply{200, {}, "[]", {}, {}}) : std::nullopt;
  };
  const std::string said = refusal();
  EXPECT_TRUE(contains(said, "vocab.json has the git blob id " + test::git_blob_of("[]"))) << said;
  EXPECT_FALSE(is_there("vocab.json"));
}

TEST_F(HubFetch, APointerInsteadOfTheContent) {
  answer_weights([](const ServerRequest&, int) -> Answered {
    return ServerReply{200, {}, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 300000\n", {}, {}};
  });
  EXPECT_TRUE(contains(refusal(), "it is a Git LFS pointer, not the content"));
}

TEST_F(HubFetch, AWebPageInsteadOfTheContent) {
  answer_weights([](const ServerRequest&, int) -> Answered {
    return ServerReply{200, {}, "<!DOCTYPE html><title>Log in to this network</title>", {}, {}};
  });
  EXPECT_TRUE(contains(refusal(), "it is a web page"));
}

TEST_F(HubFetch, FilesWithoutAHashAreNone) {
  hub.change_answer = [](nlohmann::json& answer) {
    for (nlohmann::json& file : answer["siblings"]) file.erase("lfs"), file.erase("blobId");
  };
  EXPECT_TRUE(contains(refusal(), "it has no config.json"));
}

TEST_F(HubFetch, HostileNamesAreNeverAskedForNorWritten) {
  const std::vector<std::string> names = {
      "../config.json", "/etc/config.json",   "a\\config.json", "con",           "NUL.json", "..", ".", "",
      "config.json/",   "folder/config.json", "C:config.json",  "config.json\n", ".hidden"};
  hub.change_answer = [&](nlohmann::json& answer) {
    for (const std::string& name : names)
      answer["siblings"].push_back({{"rfilename", name}, {"size", 3}, {"blobId", test::git_blob_of("abc")}});
  };
  expect_fetched();
  EXPECT_EQ(names_in(directory()).size(), 6u);  // four files, the manifest, the lock
  EXPECT_EQ(hub.at_hub_asked().size(), 5u);
}

TEST_F(HubFetch, HostileFoldersAreNeverAskedForNorWritten) {
  add_steps(hub);
  const std::vector<std::string> names = {"../1_Pooling/config.json",
                                          "1_Pooling/../../config.json",
                                          "1_Pooling/a/config.json",
                                          "/1_Pooling/config.json",
                                          "1_Pooling//config.json",
                                          "3_Dense\\config.json",
                                          "3_Dense/",
                                          "3_Dense/.hidden",
                                          "3_Dense/nul.json",
                                          ".3_Dense/config.json",
                                          "3_Dense./config.json",
                                          "1_pooling/config.json",
                                          "2_DENSE/config.json",
                                          "4_Dense/config.json",
                                          "4_Dense",
                                          "5_Dense/config.json",
                                          "5_dense",
                                          "1_Pooling/config.json",
                                          "config.json",
                                          "C:/config.json"};
  hub.change_answer = [&](nlohmann::json& answer) {
    for (const std::string& name : names)
      answer["siblings"].push_back({{"rfilename", name}, {"size", 3}, {"blobId", test::git_blob_of("abc")}});
  };
  expect_fetched();
  EXPECT_EQ(names_in(directory()), (std::vector<std::string>{".lock", "1_Pooling", "2_Dense", "config.json",
                                                             "lapilli-model.json", "model.safetensors", "modules.json",
                                                             "sentence_bert_config.json", "source.spm", "vocab.json"}));
  EXPECT_EQ(names_in(settings.models + "/owner/model"), std::vector<std::string>{kCommit});
  EXPECT_EQ(read_manifest(directory())->files.size(), 9u);
  EXPECT_EQ(hub.at_hub_asked().size(), 10u);
}

// An index cannot put a file where the folder of a step will be.
TEST_F(HubFetch, AnIndexNamesNoFolder) {
  add_steps(hub);
  hub.large.erase(kWeights);
  for (const char* name : {"1_Pooling/config.json", "1_Pooling", "2_Dense/model.safetensors"}) {
    hub.small["model.safetensors.index.json"] = R"({"weight_map": {"a": ")" + std::string(name) + "\"}}";
    EXPECT_TRUE(contains(refusal(), "names a file of weights that it does not have")) << name;
  }
}

TEST_F(HubFetch, TheLicenceComesFirst) {
  std::string shown;
  size_t asked_before = 99;
  watch.licence = [&](const std::string& commit, const std::string& licence) {
    shown = commit + " " + licence;
    asked_before = hub.at_hub_asked().size();
  };
  expect_fetched();
  EXPECT_EQ(shown, std::string(kCommit) + " cc-by-4.0");
  EXPECT_EQ(asked_before, 1u);
}

TEST_F(HubFetch, LicencesOfEveryForm) {
  std::string shown;
  watch.licence = [&](const std::string&, const std::string& licence) { shown = licence; };
  const std::pair<nlohmann::json, const char*> cases[] = {
      {{{"license", {"mit", "apache-2.0"}}}, "mit, apache-2.0"},
      {{{"license", "other"}, {"license_name", "own"}, {"license_link", "LICENSE"}}, "other (own) LICENSE"},
      {{{"license", "\x1b[31mred"}}, "?[31mred"},
      {{{"language", "en"}}, ""},
      {nlohmann::json(), ""},
      {{{"license", 3}}, ""},
  };
  for (const auto& [card, licence] : cases) {
    TempDirectory other;
    settings.models = other.path();
    hub.card = card;
    expect_fetched();
    EXPECT_EQ(shown, licence);
  }
}

TEST_F(HubFetch, ProgressReachesTheEnd) {
  uint64_t all = 0, last = 0;
  watch.begin = [&](size_t files, uint64_t bytes) {
    EXPECT_EQ(files, 4u);
    all = bytes;
  };
  watch.progress = [&](uint64_t bytes) {
    EXPECT_GE(bytes, last);
    last = bytes;
  };
  expect_fetched();
  EXPECT_EQ(last, all);
}

// ---- the disk ----

// While it lives, no file of this program may grow beyond `bytes`.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = signal(SIGXFSZ, SIG_IGN);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(HubFetch, AFullDiskEndsItAndLosesNothing) {
  {
    const SmallFiles limit(100000);
    const auto fetched = fetch_model();
    ASSERT_FALSE(fetched.ok());
    EXPECT_EQ(fetched.error().code, ErrorCode::out_of_memory);
    EXPECT_TRUE(contains(fetched.error().message, "cannot be written: File too large")) << fetched.error().message;
    EXPECT_FALSE(is_model());
  }
  EXPECT_EQ(file_size(part()), 100000u);
  expect_fetched();
  EXPECT_EQ(hub.at_store_asked().back().header("range"), "bytes=100000-");
}

TEST_F(HubFetch, RoomIsLookedForFirst) {
  hub.change_answer = [](nlohmann::json& answer) {
    for (nlohmann::json& file : answer["siblings"])
      if (file["rfilename"] == kWeights) file["lfs"]["size"] = uint64_t{1} << 62;
  };
  const std::string said = refusal();
  EXPECT_TRUE(contains(said, "LAPILLI_CACHE may name another directory")) << said;
  EXPECT_EQ(hub.at_hub_asked().size(), 1u);
}

TEST_F(HubFetch, ADirectoryThatCannotBeMade) {
  settings.models = folder.write("file", "in the way");
  const std::string said = refusal();
  EXPECT_TRUE(contains(said, "cannot be made: Not a directory")) << said;
}

// ---- several at once ----

TEST_F(HubFetch, SeveralAtOnceFetchOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> fetched = 0, found = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto got = fetch(settings, *parse_model_name(hub.name), {});
      if (got) (got->was_there ? found : fetched) += 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fetched, 1);
  EXPECT_EQ(found, 3);
  EXPECT_EQ(hub.count(kWeights), 2u);  // once at the hub, once at its store
  EXPECT_EQ(fetched_file(kWeights), hub.large[kWeights]);
}

}  // namespace
}  // namespace lapilli::hub
