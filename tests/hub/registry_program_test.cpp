// lapilli fetch argos/FROM_TO, firefox/FROM_TO and OWNER/NAME:FILE, and lapilli models --registry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "hub/fake_hub.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string formats(const std::string& name) { return std::string(LAPILLI_TEST_DATA) + "/formats/" + name; }

void put_in_place(std::string& text, const std::string& what, const std::string& with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

// A server with both lists and files.
class CliHubFetchRegistry : public testing::Test {
 protected:
  CliHubFetchRegistry() {
    const std::string address = server.address();
    std::string argos = read_file(std::string(LAPILLI_TEST_DATA) + "/registries/argos.json");
    put_in_place(argos, "http://HERE", address);
    put_in_place(argos, "\"de\"", "\"fr\"");
    files["/argos.json"] = argos;
    files["/v1/translate-en_de-1_9.argosmodel"] = read_file(formats("argos/translate-en_fr-1_9.argosmodel"));
    auto records = nlohmann::json::parse(read_file(std::string(LAPILLI_TEST_DATA) + "/registries/mozilla.json"));
    for (auto& record : records["data"]) {
      const std::string text = read_file(formats("firefox-shared-int8-alphas/" + record["name"].get<std::string>()));
      record["attachment"]["hash"] = sha256_of(text);
      record["attachment"]["size"] = text.size();
      files["/" + record["attachment"]["location"].get<std::string>()] = text;
    }
    files["/records"] = records.dump();
    const nlohmann::json registries = {{{"name", "argos"},
                                        {"program", "Argos Translate"},
                                        {"form", "argos-index"},
                                        {"index", address + "/argos.json"}},
                                       {{"name", "firefox"},
                                        {"program", "Firefox"},
                                        {"form", "remote-settings"},
                                        {"index", address + "/records"},
                                        {"files", address + "/"},
                                        {"license", "mpl-2.0"}}};
    std::ofstream(folder.path() / "registries.json") << registries.dump();
  }
  Outcome run_with(std::vector<std::string> arguments) {
    Spawn spawn = lapilli(std::move(arguments));
    for (const std::string& setting :
         {"LAPILLI_REGISTRIES=" + (folder.path() / "registries.json").string(), std::string("NO_PROXY=127.0.0.1"),
          std::string("HF_TOKEN"), std::string("HF_HUB_OFFLINE"), std::string("LAPILLI_OFFLINE"),
          "HF_ENDPOINT=" + hub.address(), "ARGOS_PACKAGES_DIR=" + (folder.path() / "none").string()})
      spawn.environment.push_back(setting);
    std::replace(spawn.environment.begin(), spawn.environment.end(), "LAPILLI_CACHE=" + test_cache(),
                 "LAPILLI_CACHE=" + (folder.path() / "cache").string());
    return run(spawn);
  }
  ServerReply answer(const ServerRequest& request) {
    const auto file = files.find(request.target);
    return file == files.end() ? ServerReply{404, {}, "", {}, {}} : FakeHub::send(request, file->second);
  }

  TemporaryFolder folder;
  FakeHub hub;
  std::map<std::string, std::string> files;
  HttpServer server{[this](const ServerRequest& request) { return answer(request); }};
};

TEST_F(CliHubFetchRegistry, AnArgosPackageIsFetchedAndFoundByItsName) {
  const Outcome fetched = run_with({"fetch", "argos/en_fr"});
  ASSERT_EQ(fetched.code, 0) << fetched.err;
  EXPECT_THAT(fetched.out, HasSubstr("/models/argos/en_fr/"));
  EXPECT_THAT(fetched.out, HasSubstr(".argosmodel\n"));
  EXPECT_THAT(fetched.err, HasSubstr("--model argos/en_fr is it now"));
  EXPECT_THAT(run_with({"fetch", "argos/en_fr"}).err, HasSubstr("argos/en_fr is there already"));
  EXPECT_THAT(run_with({"inspect", "argos/en_fr"}).out, HasSubstr("Argos Translate"));
  const Outcome models = run_with({"models", "--from", "en", "--to", "fr"});
  EXPECT_THAT(models.out, HasSubstr("translate (installed by Argos Translate)")) << models.err;
  EXPECT_THAT(models.out, HasSubstr("* argos/en_fr "));
  const Outcome all = run_with({"models"});
  EXPECT_EQ(all.out.find("argos/en_fr "), all.out.rfind("argos/en_fr ")) << "it is listed once";
  EXPECT_EQ(run_with({"models", "--remove", "argos/en_fr"}).code, 0);
  EXPECT_EQ(run_with({"inspect", "argos/en_fr"}).code, 3);
}

TEST_F(CliHubFetchRegistry, AFirefoxModelIsFetchedAndFoundByItsName) {
  const Outcome fetched = run_with({"fetch", "firefox/en_pt"});
  ASSERT_EQ(fetched.code, 0) << fetched.err;
  EXPECT_THAT(fetched.err, HasSubstr("licence: mpl-2.0"));
  EXPECT_THAT(fetched.err, HasSubstr("3 files"));
  EXPECT_THAT(run_with({"inspect", "firefox/en_pt"}).out, HasSubstr("Marian"));
  EXPECT_THAT(run_with({"models", "--from", "en", "--to", "pt"}).out,
              HasSubstr("translate (installed by Firefox)\n* firefox/en_pt "));
}

TEST_F(CliHubFetchRegistry, RegistriesAreListedOnRequest) {
  const Outcome argos = run_with({"models", "--registry", "argos"});
  EXPECT_EQ(argos.code, 0) << argos.err;
  EXPECT_THAT(argos.out, HasSubstr("translate (Argos Translate)\n  argos/en_fr "));
  EXPECT_THAT(argos.out, HasSubstr("  argos/en_zt "));
  const Outcome wanted = run_with({"models", "--registry", "argos", "--from", "en", "--to", "zh-Hant"});
  EXPECT_THAT(wanted.out, HasSubstr("argos/en_zt"));
  EXPECT_THAT(wanted.out, Not(HasSubstr("argos/en_fr")));
  EXPECT_THAT(run_with({"models", "--registry", "firefox"}).out, HasSubstr("firefox/en_pt"));
  const Outcome other = run_with({"models", "--registry", "bing"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("there are: argos, firefox"));
}

TEST_F(CliHubFetchRegistry, WhatIsNotThereIsNamedWithAdvice) {
  const Outcome pair = run_with({"fetch", "argos/en_xx"});
  EXPECT_EQ(pair.code, 3);
  EXPECT_THAT(pair.err, HasSubstr("lapilli models --registry argos lists what it has"));
  for (auto& [name, text] : files)
    if (name.ends_with(".spm")) text.back() ^= 1;
  const Outcome damaged = run_with({"fetch", "firefox/en_pt"});
  EXPECT_EQ(damaged.code, 3);
  EXPECT_THAT(damaged.err, HasSubstr("SHA-256"));
}

TEST_F(CliHubFetchRegistry, OneFileOfARepositoryIsAModel) {
  hub.small = {{"README.md", "# Models"}};
  hub.large = {{"ggml-tiny-q8_0.bin", read_file(formats("ggml-whisper/ggml-q8_0.bin"))},
               {"ggml-tiny-f16.bin", content(1000)}};
  const Outcome whole = run_with({"fetch", "owner/model"});
  EXPECT_EQ(whole.code, 2);
  EXPECT_THAT(whole.err, HasSubstr("name one: OWNER/NAME:ggml-tiny-f16.bin"));
  const Outcome fetched = run_with({"fetch", "owner/model:ggml-tiny-q8_0.bin"});
  ASSERT_EQ(fetched.code, 0) << fetched.err;
  EXPECT_THAT(fetched.out, HasSubstr("/ggml-tiny-q8_0.bin\n"));
  EXPECT_EQ(hub.count("ggml-tiny-f16.bin"), 0u);
  // It is read: the twin lacks the settings that its small vocabulary needs beside it.
  EXPECT_THAT(run_with({"inspect", "owner/model:ggml-tiny-q8_0.bin"}).err,
              HasSubstr("ggml-tiny-q8_0.bin has a vocabulary of 330 ids"));
  EXPECT_THAT(run_with({"inspect", "owner/model:ggml-tiny-f16.bin"}).err,
              HasSubstr("lapilli fetch owner/model:ggml-tiny-f16.bin gets it"));
  EXPECT_EQ(run_with({"fetch", "owner/model:none.bin"}).code, 3);
}

TEST_F(CliHubFetchRegistry, DirectoriesOfCTranslate2AreFetched) {
  hub.small.clear();
  hub.large.clear();
  for (const char* name : {"config.json", "shared_vocabulary.json"})
    hub.small[name] = read_file(formats("ct2-marian/int8/" + std::string(name)));
  hub.large["model.bin"] = read_file(formats("ct2-marian/int8/model.bin"));
  const Outcome fetched = run_with({"fetch", "owner/model"});
  ASSERT_EQ(fetched.code, 0) << fetched.err;
  EXPECT_THAT(run_with({"inspect", "owner/model"}).out, HasSubstr("CTranslate2"));
}

}  // namespace
}  // namespace lapilli::test
