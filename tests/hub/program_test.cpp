// lapilli models, lapilli fetch, and models by their names.
#include "cli/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/arguments/model_names.hpp"
#include "hub/catalogue.hpp"
#include "hub/fake_hub.hpp"
#include "hub/other_cache.hpp"

namespace lapilli::test {
namespace {

std::string closed_address() { return "http://127.0.0.1:" + std::to_string(closed_port()); }

class CliHub : public testing::Test {
 protected:
  // The user's settings do not matter.
  Spawn command(std::vector<std::string> arguments) {
    Spawn spawn = lapilli(std::move(arguments));
    for (const std::string& setting :
         {std::string("HF_TOKEN"), std::string("HF_TOKEN_PATH"), std::string("HF_HOME"), std::string("HF_HUB_OFFLINE"),
          std::string("LAPILLI_OFFLINE"), std::string("XDG_CACHE_HOME"), std::string("NO_PROXY=127.0.0.1"),
          "HOME=" + folder.path().string(), "HF_ENDPOINT=" + endpoint})
      spawn.environment.push_back(setting);
    std::replace(spawn.environment.begin(), spawn.environment.end(), std::string("HF_HUB_CACHE=/nowhere"),
                 std::string("HF_HUB_CACHE"));
    std::replace(spawn.environment.begin(), spawn.environment.end(), "LAPILLI_CACHE=" + test_cache(),
                 "LAPILLI_CACHE=" + cache());
    return spawn;
  }
  std::string cache() { return (folder.path() / "cache").string(); }
  std::string directory() { return cache() + "/models/owner/model/" + kCommit; }

  TemporaryFolder folder;
  std::string endpoint = closed_address();
};

// With a hub that has the bundled model under another name.
class CliHubFetch : public CliHub {
 protected:
  CliHubFetch() {
    hub.small.clear();
    hub.large.clear();
    for (const char* name : {"config.json", "generation_config.json", "tokenizer_config.json", "vocab.json"})
      hub.small[name] = read_file(bundled_model() + "/" + name);
    for (const char* name : {"model.safetensors", "source.spm", "target.spm"})
      hub.large[name] = read_file(bundled_model() + "/" + name);
    endpoint = hub.address();
  }
  FakeHub hub;
};

TEST_F(CliHubFetch, WhatWasFetchedIsFoundByItsName) {
  const Outcome fetched = run(command({"fetch", "owner/model"}));
  EXPECT_EQ(fetched.code, 0) << fetched.err;
  EXPECT_EQ(fetched.out, directory() + "\n");
  EXPECT_TRUE(contains(fetched.err, "owner/model at 0123456789ab, licence: cc-by-4.0; " + endpoint + "/owner/model"));
  EXPECT_TRUE(contains(fetched.err, "7 files, 15.")) << fetched.err;

  endpoint = closed_address();
  for (const char* name : {"owner/model", "owner/model@main", "owner/model@01234567"}) {
    const Outcome inspected = run(command({"inspect", name}));
    EXPECT_EQ(inspected.code, 0) << inspected.err;
    EXPECT_TRUE(contains(inspected.out, directory())) << inspected.out;
  }
  Spawn of_environment = command({"inspect"});
  of_environment.environment.push_back("LAPILLI_MODEL=owner/model");
  EXPECT_TRUE(contains(run(of_environment).out, directory()));
  // It goes as far as to look for a device.
  for (const char* way : {"translate", "bench"}) {
    Spawn spawn = command({way, "owner/model"});
    if (std::string(way) == "translate") spawn.arguments = {program(), way, "--model", "owner/model", "Hello."};
    spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
    EXPECT_EQ(run(spawn).code, 4) << way;
  }
  EXPECT_EQ(run(command({"plan", "owner/model", "--caps", "floor"})).code, 0);
}

TEST_F(CliHubFetch, TheSecondTimeNothing) {
  EXPECT_EQ(run(command({"fetch", "owner/model"})).code, 0);
  const Outcome again = run(command({"fetch", "owner/model@main"}));
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.out, directory() + "\n");
  EXPECT_TRUE(contains(again.err, "owner/model is there already"));
  EXPECT_EQ(hub.count("config.json"), 1u);
}

TEST_F(CliHubFetch, QuietSaysTheDirectoryAlone) {
  const Outcome fetched = run(command({"-q", "fetch", "owner/model", "--revision", "main"}));
  EXPECT_EQ(fetched.out, directory() + "\n");
  EXPECT_EQ(fetched.err, "");
}

TEST_F(CliHubFetch, InterruptedItGoesOnLater) {
  std::atomic<bool> waits = true;
  hub.at_store = [&](const ServerRequest& request) -> std::optional<ServerReply> {
    if (!waits || !request.target.ends_with("model.safetensors")) return std::nullopt;
    return ServerReply{503, {{"Retry-After", "60"}}, "", {}, {}};
  };
  Process process(command({"fetch", "owner/model"}));
  ASSERT_TRUE(process.wait_for_err("next try in 60.0 s"));
  process.signal(SIGINT);
  const Outcome outcome = process.finish();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, "interrupted; the same command goes on from what is there")) << outcome.err;

  const Outcome inspected = run(command({"inspect", "owner/model"}));
  EXPECT_EQ(inspected.code, 3);
  EXPECT_TRUE(contains(inspected.err, "its fetch did not end; lapilli fetch owner/model goes on")) << inspected.err;

  waits = false;
  EXPECT_EQ(run(command({"fetch", "owner/model"})).code, 0);
  EXPECT_EQ(hub.count("config.json"), 1u);
}

TEST_F(CliHubFetch, TokensOfTheEnvironment) {
  Spawn spawn = command({"fetch", "owner/model"});
  spawn.environment.push_back("HF_TOKEN=hf_word");
  EXPECT_EQ(run(spawn).code, 0);
  EXPECT_EQ(hub.at_hub_asked()[0].header("authorization"), "Bearer hf_word");
  EXPECT_EQ(hub.at_store_asked()[0].header("authorization"), "");
}

TEST_F(CliHubFetch, WhatTheHubRefuses) {
  const Outcome outcome = run(command({"fetch", "owner/other"}));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, "lapilli: fetching owner/other: owner/other at " + endpoint +
                                        " is not there (404); look at its name"))
      << outcome.err;
}

TEST_F(CliHubFetch, AFullDisk) {
  Spawn spawn = command({});
  spawn.arguments = {"/bin/sh", "-c", "ulimit -f 1024; trap '' XFSZ; exec \"$1\" fetch owner/model", "sh", program()};
  const Outcome outcome = run(spawn);
  EXPECT_EQ(outcome.code, 6) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "cannot be written: File too large; what is there is kept")) << outcome.err;
  EXPECT_EQ(run(command({"fetch", "owner/model"})).code, 0);
}

TEST_F(CliHubFetch, NobodyThere) {
  endpoint = closed_address();
  const Outcome outcome = run(command({"fetch", "owner/model"}));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "is the network there? HF_ENDPOINT may name a mirror")) << outcome.err;
}

TEST_F(CliHubFetch, NothingWhereItIsForbidden) {
  Spawn spawn = command({"fetch", "owner/model"});
  spawn.environment.push_back("HF_HUB_OFFLINE=1");
  const Outcome outcome = run(spawn);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "HF_HUB_OFFLINE is set, so nothing is fetched"));
  EXPECT_TRUE(hub.at_hub_asked().empty());
}

TEST_F(CliHubFetch, TheTableMarksWhatIsHere) {
  hub.name = "facebook/wmt19-en-de";
  EXPECT_FALSE(contains(run(command({"models"})).out, "* facebook/wmt19-en-de"));
  EXPECT_EQ(run(command({"fetch", hub.name})).code, 0);
  endpoint = closed_address();
  EXPECT_TRUE(contains(run(command({"models"})).out, "* facebook/wmt19-en-de"));
  const auto json = nlohmann::json::parse(run(command({"models", "--family", "fsmt", "--json"})).out);
  EXPECT_EQ(json[0]["fetched"], cache() + "/models/facebook/wmt19-en-de/" + kCommit);
}

// With a hub whose model is small, and runs nowhere.
class CliHubFetchSmall : public CliHub {
 protected:
  CliHubFetchSmall() { endpoint = hub.address(); }
  FakeHub hub;
};

TEST_F(CliHubFetchSmall, AModelThatTheListDoesNotKnowIsShownWithItsFolder) {
  EXPECT_FALSE(contains(run(command({"models"})).out, "not in the list"));
  EXPECT_EQ(run(command({"fetch", "owner/model"})).code, 0);
  const Outcome shown = run(command({"models"}));
  EXPECT_TRUE(contains(shown.out, "here, and not in the list\n* owner/model ")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "cc-by-4.0\n    " + directory() + "\n")) << shown.out;
}

TEST_F(CliHubFetchSmall, RemovedWithAWordAboutIt) {
  EXPECT_EQ(run(command({"fetch", "owner/model"})).code, 0);
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory())) bytes += entry.file_size();
  const Outcome near = run(command({"models", "--remove", "owner/modle"}));
  EXPECT_EQ(near.code, 3);
  EXPECT_TRUE(contains(near.err, "no model owner/modle was fetched; did you mean owner/model?")) << near.err;
  const Outcome half = run(command({"models", "--remove", "model"}));
  EXPECT_EQ(half.code, 2);
  EXPECT_TRUE(contains(half.err, "\"model\" is none; did you mean owner/model?")) << half.err;
  const Outcome removed = run(command({"models", "--remove", "owner/model"}));
  EXPECT_EQ(removed.code, 0) << removed.err;
  EXPECT_EQ(removed.out, "removed " + directory() + "\nremoved owner/model, " + std::to_string(bytes) + " bytes\n");
  EXPECT_FALSE(fs::exists(cache() + "/models/owner"));
  EXPECT_EQ(run(command({"models", "--remove", "owner/model"})).code, 3);
  EXPECT_EQ(run(command({"inspect", "owner/model"})).code, 3);
}

TEST_F(CliHub, WhatIsNotRemoved) {
  const TemporaryFolder mine;
  const std::string copy = mine.model_copy();
  fs::create_directories(cache() + "/models");
  fs::create_directories(cache() + "/x/y");
  for (const std::string& name :
       std::vector<std::string>{"../x", "..", "/", "x/../../y", copy, "owner/..", "a/b/c", "x\\y/z"}) {
    const Outcome outcome = run(command({"models", "--remove", name}));
    EXPECT_EQ(outcome.code, 2) << name;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.err, "--remove takes OWNER/NAME")) << outcome.err;
  }
  EXPECT_TRUE(fs::exists(copy + "/config.json") && fs::exists(cache() + "/x/y"));
  const Outcome bundled = run(command({"models", "--remove", "en-fr"}));
  EXPECT_EQ(bundled.code, 2);
  EXPECT_TRUE(contains(bundled.err, "en-fr is not removed: it comes along with the program")) << bundled.err;
  EXPECT_EQ(run(command({"models", "--remove", "owner/model", "--json"})).code, 2);
  EXPECT_EQ(run(command({"models", "--remove", ""})).code, 2);
}

// A file of settings is read each time.
TEST_F(CliHub, SettingsRemoveNothing) {
  const std::string settings = folder.file("settings.toml", "[models]\nremove = owner/model\n");
  const Outcome outcome = run(command({"models", "--config", settings}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, "models has no switch \"remove\"")) << outcome.err;
}

// With the bundled model in the cache of other programs under another name, where they keep it by themselves.
class CliOtherCache : public CliHub {
 protected:
  CliOtherCache() {
    for (const char* name : {"config.json", "generation_config.json", "tokenizer_config.json", "vocab.json",
                             "model.safetensors", "source.spm", "target.spm"})
      other.copy(name, bundled_model());
  }
  std::string place() { return (folder.path() / ".cache/huggingface/hub").string(); }
  // Every name in it, with the time of its last change.
  std::string state() {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(place()))
      all += entry.path().string() + " " +
             std::to_string(fs::last_write_time(entry.path()).time_since_epoch().count()) + "\n";
    return all;
  }
  OtherCache other{place(), "owner", "model"};
};

TEST_F(CliOtherCache, IsUsedByNameWithoutANetworkAndNeverWritten) {
  const std::string before = state();
  for (const char* offline : {"HF_HUB_OFFLINE=0", "HF_HUB_OFFLINE=1"}) {
    Spawn inspect = command({"inspect", "owner/model"}), fetch = command({"fetch", "owner/model"});
    for (Spawn* spawn : {&inspect, &fetch})
      std::replace(spawn->environment.begin(), spawn->environment.end(), std::string("HF_HUB_OFFLINE"),
                   std::string(offline));
    const Outcome inspected = run(inspect), fetched = run(fetch);
    EXPECT_EQ(inspected.code, 0) << inspected.err;
    EXPECT_TRUE(contains(inspected.out, other.snapshot())) << inspected.out;
    EXPECT_EQ(fetched.code, 0) << fetched.err;
    EXPECT_EQ(fetched.out, other.snapshot() + "\n");
    EXPECT_TRUE(contains(fetched.err, "owner/model is there already, in the cache of other programs")) << fetched.err;
  }
  Spawn translate = command({"translate", "--model", "owner/model", "Hello."});
  translate.environment.insert(translate.environment.end(), kNoDriver.begin(), kNoDriver.end());
  EXPECT_EQ(run(translate).code, 4);
  EXPECT_TRUE(contains(run(command({"models"})).out, "\n* owner/model ")) << "shown";
  EXPECT_TRUE(contains(run(command({"models"})).out, "\n    " + other.snapshot() + "\n"));
  const Outcome removed = run(command({"models", "--remove", "owner/model"}));
  EXPECT_EQ(removed.code, 2);
  EXPECT_TRUE(contains(removed.err, "owner/model is not removed: it lies in " + other.snapshot() +
                                        ", the cache of other programs, which is only read"))
      << removed.err;
  EXPECT_EQ(state(), before);
  EXPECT_FALSE(fs::exists(cache() + "/models"));
}

TEST_F(CliOtherCache, LiesWhereTheVariablesSay) {
  const std::string elsewhere = (folder.path() / "elsewhere").string();
  fs::rename(place(), elsewhere);
  EXPECT_EQ(run(command({"inspect", "owner/model"})).code, 3);
  Spawn cache_named = command({"inspect", "owner/model"});
  std::replace(cache_named.environment.begin(), cache_named.environment.end(), std::string("HF_HUB_CACHE"),
               "HF_HUB_CACHE=" + elsewhere);
  EXPECT_EQ(run(cache_named).code, 0);
  fs::create_directories(folder.path() / "home");
  fs::rename(elsewhere, folder.path() / "home/hub");
  Spawn home_named = command({"inspect", "owner/model"});
  std::replace(home_named.environment.begin(), home_named.environment.end(), std::string("HF_HOME"),
               "HF_HOME=" + (folder.path() / "home").string());
  EXPECT_EQ(run(home_named).code, 0);
}

TEST_F(CliOtherCache, WhatIsNotWholeIsToldWithTheReason) {
  other.remove_blob("model.safetensors");
  const Outcome outcome = run(command({"inspect", "owner/model"}));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(contains(outcome.err, "owner/model is not a directory, and what lies in " + other.snapshot() +
                                        " is not whole: it has no weights"))
      << outcome.err;
  EXPECT_FALSE(contains(run(command({"models"})).out, "owner/model"));
}

TEST_F(CliHub, EveryTaskIsACommand) {
  const std::string help = run(command({"--help"})).out;
  for (const std::string& task : hub::task_names())
    EXPECT_TRUE(contains(help, "\n  " + task.substr(0, task.find(' ')) + " ")) << task << help;
}

TEST_F(CliHub, NamesThatAreNone) {
  const std::pair<const char*, const char*> cases[] = {
      {"opus-mt-en-de",
       "\"opus-mt-en-de\" is not OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME:FILE; did you mean "
       "Helsinki-NLP/opus-mt-en-de?"},
      {"xyzzy", "\"xyzzy\" is not OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME:FILE; lapilli models lists some"},
      {"../../etc", "is not OWNER/NAME"},
      {"a/b/c", "is not OWNER/NAME"},
      {"https://huggingface.co/google/flan-t5-small/tree/main", "did you mean google/flan-t5-small?"},
      {"https://huggingface.co/google/flan-t5-small?x=/a", "did you mean google/flan-t5-small?"},
      {"https://huggingface.co/google", "lapilli models lists some"},
      {"https://", "lapilli models lists some"},
      {"https://huggingface.co/", "lapilli models lists some"}};
  for (const auto& [name, message] : cases) {
    const Outcome outcome = run(command({"fetch", name}));
    EXPECT_EQ(outcome.code, 2) << name;
    EXPECT_TRUE(contains(outcome.err, message)) << outcome.err;
  }
  const Outcome unnamed = run(command({"fetch"}));
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_TRUE(contains(unnamed.err, "name the model: lapilli fetch OWNER/NAME")) << unnamed.err;
  const Outcome task = run(command({"models", "--task", "tagg"}));
  EXPECT_EQ(task.code, 2);
  EXPECT_TRUE(contains(task.err, "\"tagg\" is none of translate, ")) << task.err;
  EXPECT_TRUE(contains(task.err, "did you mean tag?")) << task.err;
}

TEST_F(CliHub, TheBundledModelIsThereAlready) {
  const Outcome fetched = run(command({"fetch", "en-fr"}));
  EXPECT_EQ(fetched.code, 0);
  EXPECT_EQ(fetched.out, bundled_model() + "\n");
  EXPECT_TRUE(contains(run(command({"inspect", "en-fr"})).out, "parameters   7,322,177"));
}

TEST_F(CliHub, ModelsThatAreNotThereAreNamedWithTheCommand) {
  const std::pair<const char*, const char*> cases[] = {
      {"Helsinki-NLP/opus-mt-en-de",
       "Helsinki-NLP/opus-mt-en-de is not a directory, and no model of that name was "
       "fetched; lapilli fetch Helsinki-NLP/opus-mt-en-de gets it\n"},
      {"owner/model@v1", "lapilli fetch owner/model@v1 gets it"},
      {"Helsinki-NLP/opus-mt-en-d", "did you mean Helsinki-NLP/opus-mt-en-de?"},
      {"opus-mt-en-de",
       "did you mean Helsinki-NLP/opus-mt-en-de? lapilli fetch Helsinki-NLP/opus-mt-en-de "
       "gets it"},
      {"/no/where",
       "/no/where is not a directory; name the directory of a published model, or one that lapilli models "
       "lists"}};
  for (const auto& [name, message] : cases) {
    std::vector<Spawn> spawns = {command({"inspect", name}),
                                 command({"bench", name}),
                                 command({"plan", name}),
                                 command({"translate", "--model", name, "Hello."}),
                                 command({"summarize", "--model", name, "Hello."}),
                                 command({"inspect"})};
    spawns.back().environment.push_back("LAPILLI_MODEL=" + std::string(name));
    for (const Spawn& spawn : spawns) {
      const Outcome outcome = run(spawn);
      EXPECT_EQ(outcome.code, 3) << spawn.arguments[1];
      const std::string text = &spawn == &spawns.back() ? "LAPILLI_MODEL names " : message;
      EXPECT_TRUE(contains(outcome.err, text)) << outcome.err;
    }
  }
}

TEST_F(CliHub, ModelsForLanguages) {
  const auto german = cli::models_for("eng", "de_DE");
  ASSERT_GE(german.size(), 5u);
  EXPECT_EQ(german[0], "Helsinki-NLP/opus-mt-en-de");
  EXPECT_EQ(cli::models_for("en", "fr")[0], "en-fr");
  EXPECT_TRUE(cli::models_for("en", "tlh").empty());
  EXPECT_EQ(cli::known_model_meant("flan-t5-smal"), "google/flan-t5-small");
  EXPECT_EQ(cli::known_model_meant("google/flan-t5-small"), "");
  EXPECT_EQ(cli::known_model_meant("patrickvonplaten/led-large-16384-pubme"),
            "patrickvonplaten/led-large-16384-pubmed");
}

TEST_F(CliHub, ModelsAsATable) {
  const Outcome all = run(command({"models"}));
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.err, "");
  EXPECT_TRUE(contains(all.out, "* en-fr ")) << all.out;
  for (const std::string& line : lines_of(all.out)) EXPECT_LE(line.size(), 80u) << line;
  const Outcome german = run(command({"models", "--from", "en", "--to", "de"}));
  EXPECT_TRUE(contains(german.out, "Helsinki-NLP/opus-mt-en-de") && !contains(german.out, "opus-mt-en-fr"));
  const Outcome none = run(command({"models", "--from", "is", "--task", "summarize"}));
  EXPECT_EQ(none.out, "");
  EXPECT_TRUE(contains(none.err, "no model that is listed does that"));
  const Outcome unknown = run(command({"models", "--from", "tlh"}));
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "no language is known as \"tlh\"")) << unknown.err;
  EXPECT_EQ(run(command({"models", "--task", "dance"})).code, 2);
  EXPECT_TRUE(nlohmann::json::accept(run(command({"models", "--json"})).out));
}

}  // namespace
}  // namespace lapilli::test
