// Registries of other programs: lists as their servers send them, damaged ones, and what is fetched from them.
#include "hub/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/path.hpp"
#include "fetched/cache.hpp"
#include "hub/fake_hub.hpp"
#include "hub/registry_fetch.hpp"
#include "support/http_server.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::hub {
namespace {

using test::content;
using test::HttpServer;
using test::ServerReply;
using test::ServerRequest;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFolder = std::string(LAPILLI_TEST_DATA) + "/registries/";

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

bool same_code(const std::string& a, const std::string& b) { return a == b || (a == "eng" && b == "en"); }
bool code_is(const std::string& a, const std::string& b) { return same_code(a, b) || same_code(b, a); }

Registry argos_at(const std::string& address) {
  return {"argos", "Argos Translate", Registry::Form::argos_index, address + "/index.json", "", ""};
}
Registry firefox_at(const std::string& address) {
  return {"firefox", "Firefox", Registry::Form::remote_settings, address + "/v1/records", address + "/cdn/", "mpl-2.0"};
}

std::string list_of_argos(const std::string& address) {
  std::string text = read_file(kFolder + "argos.json");
  replace_all(text, "http://HERE", address);
  return text;
}

// ---- lists ----

TEST(Registries, TheFileOfAddressesCanBeRead) {
  const auto registries = read_registries(std::string(LAPILLI_SOURCE_DIR) + "/models/registries.json");
  ASSERT_TRUE(registries.ok()) << registries.error().message;
  ASSERT_EQ(registries->size(), 2u);
  EXPECT_EQ((*registries)[0].name, "argos");
  EXPECT_EQ((*registries)[1].program, "Firefox");
  EXPECT_EQ((*registries)[1].licence, "mpl-2.0");
}

TEST(Registries, AnEntryThatIsWrongIsNamed) {
  const TempDirectory folder;
  for (const char* text : {"{}", "[", R"([{"name": "a"}])",
                           R"([{"name": "a", "program": "A", "form": "other", "index": "https://a.example/"}])",
                           R"([{"name": "a", "program": "A", "form": "argos-index", "index": "file:///etc/x"}])",
                           R"([{"name": "a", "program": "A", "form": "remote-settings", "index": "https://a.b/"}])"}) {
    (void)folder.write("registries.json", text);
    EXPECT_FALSE(read_registries(folder.path() + "/registries.json").ok()) << text;
  }
}

TEST(Registries, OfArgosTheNewestOfEachPair) {
  const auto offers = read_offers(argos_at("http://a.example"), list_of_argos("http://a.example"));
  ASSERT_TRUE(offers.ok()) << offers.error().message;
  ASSERT_EQ(offers->size(), 2u) << "what splits sentences is left out";
  EXPECT_EQ((*offers)[0].version, "1.9");
  EXPECT_THAT((*offers)[0].files[0].urls, ElementsAre("http://a.example/gone/translate-en_de-1_9.argosmodel",
                                                      "http://a.example/v1/translate-en_de-1_9.argosmodel"))
      << "addresses of other kinds are left out";
  EXPECT_EQ((*offers)[1].to, "zt");
}

TEST(Registries, OfMozillaWhatIsWholeAndForAll) {
  std::string text = read_file(kFolder + "mozilla.json");
  for (const char* name : {"LEX_HASH", "MODEL_HASH", "VOCAB_HASH"}) replace_all(text, name, std::string(64, 'a'));
  const Registry firefox = firefox_at("https://f.example");
  const auto offers = read_offers(firefox, text);
  ASSERT_TRUE(offers.ok()) << offers.error().message;
  ASSERT_EQ(offers->size(), 1u);
  const OfferedModel& model = offers->front();
  EXPECT_EQ(model.from + model.to + model.version, "enpt1.0");
  ASSERT_EQ(model.files.size(), 3u);
  EXPECT_THAT(model.files[0].urls[0], testing::StartsWith("https://f.example/cdn/main-workspace/"));
  replace_all(text, "env.channel == 'nightly'", "");
  EXPECT_EQ(read_offers(firefox, text)->front().version, "1.0") << "the later one has no vocabulary";
  replace_all(text, "vocab.enpt.spm", "other.enpt.spm");
  EXPECT_TRUE(read_offers(firefox, text)->empty());
}

TEST(Registries, HostileListsAreRefusedOrLeftOut) {
  const Registry argos = argos_at("http://a.example"), firefox = firefox_at("http://a.example");
  for (const Registry& registry : {argos, firefox}) {
    EXPECT_FALSE(read_offers(registry, "").ok());
    EXPECT_FALSE(read_offers(registry, "<!DOCTYPE html>").ok());
    EXPECT_FALSE(read_offers(registry, std::string(100000, '[')).ok());
  }
  const auto count = [&](const std::string& key, const nlohmann::json& value) {
    auto json = nlohmann::json::parse(list_of_argos("http://a.example"));
    json = nlohmann::json::array({json[0]});
    json[0][key] = value;
    return read_offers(argos, json.dump())->size();
  };
  EXPECT_EQ(count("from_name", "English"), 1u);
  const nlohmann::json bad_links = nlohmann::json::array({"http://a.example/../x", "file:///x.argosmodel", 5});
  EXPECT_EQ(count("links", bad_links), 0u);
  EXPECT_EQ(count("links", "http://a.example/x.argosmodel"), 0u);
  for (const char* code : {"", "..", "e/n", "e_n", "e\x1b[31mn"}) EXPECT_EQ(count("from_code", code), 0u) << code;
  EXPECT_EQ(count("package_version", "../1"), 0u);
}

TEST(Registries, PairsAreTwoCodes) {
  EXPECT_EQ(parse_pair("en_pt-BR")->to, "pt-BR");
  for (const char* name : {"en", "en_", "_de", "en_de_fr", "opus-mt-en-de", "../_x"})
    EXPECT_FALSE(parse_pair(name).has_value()) << name;
}

// ---- fetching ----

class HubFetchRegistry : public testing::Test {
 protected:
  HubFetchRegistry() {
    setenv("NO_PROXY", "127.0.0.1", 1);
    settings.models = folder.path() + "/models";
    settings.patience.first = std::chrono::milliseconds(1);
    settings.limits = {5, 5};
    settings.hub.token = "secret";
  }
  ServerReply answer(const ServerRequest& request) {
    if (!request.header("authorization").empty()) return {400, {}, "a token", {}, {}};
    const auto file = files.find(request.target);
    return file == files.end() ? ServerReply{404, {}, "", {}, {}} : test::FakeHub::send(request, file->second);
  }
  void offer_argos() {
    files["/index.json"] = list_of_argos(server.address());
    files["/v1/translate-en_de-1_9.argosmodel"] = content(70000);
  }
  void offer_firefox() {
    auto json = nlohmann::json::parse(read_file(kFolder + "mozilla.json"));
    for (auto& record : json["data"]) {
      const std::string text = content(1000 + record["name"].get<std::string>().size());
      record["attachment"]["hash"] = test::sha256_of(text);
      record["attachment"]["size"] = text.size();
      files["/cdn/" + record["attachment"]["location"].get<std::string>()] = text;
    }
    files["/v1/records"] = json.dump();
  }
  Result<FetchedOffer> fetch(const Registry& registry, const std::string& from, const std::string& to) {
    return fetch_pair(settings, registry, {from, to}, code_is, {});
  }

  TempDirectory folder;
  FetchSettings settings;
  std::map<std::string, std::string> files;
  HttpServer server{[this](const ServerRequest& request) { return answer(request); }};
};

TEST_F(HubFetchRegistry, APackageOfArgosFromTheFirstAddressThatAnswers) {
  offer_argos();
  const auto fetched = fetch(argos_at(server.address()), "eng", "de");
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(fetched->name, "argos/en_de");
  const std::string path = path_in(fetched->fetched.directory, "");
  EXPECT_EQ(path.substr(path.rfind('/') + 1), "translate-en_de-1_9.argosmodel");
  EXPECT_EQ(read_file(path), content(70000));
  EXPECT_EQ(read_manifest(fetched->fetched.directory)->asked_for, "1.9");
  EXPECT_EQ(find_fetched(settings.models, *parse_model_name("argos/en_de@1.9")), fetched->fetched.directory);
  EXPECT_TRUE(fetch(argos_at(server.address()), "en", "de")->fetched.was_there);
}

TEST_F(HubFetchRegistry, PairsThatAreNotThereAreNamed) {
  offer_argos();
  EXPECT_THAT(fetch(argos_at(server.address()), "en", "xx").error().message,
              HasSubstr("lapilli models --registry argos lists what it has"));
  EXPECT_FALSE(fetch(argos_at(server.address()), "en", "zt").ok()) << "its file is gone";
  files["/index.json"] = std::string(100, '[');
  EXPECT_FALSE(fetch(argos_at(server.address()), "en", "de").ok());
}

TEST_F(HubFetchRegistry, FilesOfFirefoxByTheirChecksums) {
  offer_firefox();
  const auto fetched = fetch(firefox_at(server.address()), "en", "pt");
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(fetched->name, "firefox/en_pt");
  EXPECT_EQ(path_in(fetched->fetched.directory, ""), fetched->fetched.directory);
  const auto manifest = read_manifest(fetched->fetched.directory);
  ASSERT_EQ(manifest->files.size(), 3u);
  for (const HubFile& file : manifest->files) EXPECT_TRUE(file_exists(fetched->fetched.directory + "/" + file.name));
  EXPECT_EQ(manifest->licence, "mpl-2.0");
}

TEST_F(HubFetchRegistry, AnotherContentThanStatedIsRefused) {
  offer_firefox();
  for (auto& [name, text] : files)
    if (name.ends_with("3.spm")) text[5] ^= 1;
  const auto fetched = fetch(firefox_at(server.address()), "en", "pt");
  ASSERT_FALSE(fetched.ok());
  EXPECT_THAT(fetched.error().message, HasSubstr("SHA-256"));
  EXPECT_EQ(find_fetched(settings.models, *parse_model_name("firefox/en_pt")), "");
}

}  // namespace
}  // namespace lapilli::hub
