// The program without a device: help, usage, inspect, and the messages for what is missing or broken.
#include <sys/stat.h>

#include <functional>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

TEST(CliUsage, HelpTeaches) {
  for (const char* flag : {"--help", "-h"}) {
    const Outcome help = run(lapilli({flag}));
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    for (const char* part : {"Examples:", "Exit codes:", "translate", "devices", "inspect", "LAPILLI_MODEL"}) {
      EXPECT_TRUE(contains(help.out, part)) << part;
    }
  }
  const Outcome translate = run(lapilli({"translate", "--help"}));
  EXPECT_EQ(translate.code, 0);
  for (const char* part : {"--model", "--beam", "--max-length", "--device", "--caps", "--json", "--ids", "--stats",
                           "--text", "--file", "Examples:", "Exit codes:"}) {
    EXPECT_TRUE(contains(translate.out, part)) << part;
  }
}

TEST(CliUsage, HelpStandsInGroupsOfAtMost100Columns) {
  std::vector<std::string> commands = {
      "translate", "summarize", "generate", "transcribe", "caption", "read",  "classify", "devices",    "doctor",
      "models",    "fetch",     "inspect",  "pack",       "plan",    "bench", "tune",     "completion", "search",
      "embed",     "rerank",    "tag",      "answer",     "fill",    "score", "chat"};
  for (const std::string& command : commands)
    for (const std::string& line : lines_of(run(lapilli({command, "--help"})).out))
      EXPECT_LE(line.size(), 100u) << command << ": " << line;
  for (const std::string& line : lines_of(run(lapilli({"--help"})).out)) EXPECT_LE(line.size(), 100u) << line;
  const std::string help = run(lapilli({"translate", "--help"})).out;
  size_t at = 0;
  for (const char* group :
       {"\nInput:\n", "\nOutput:\n", "\nModel:\n", "\nSearch:\n", "\nAttention:\n", "\nDevice:\n", "\nOptions:\n"}) {
    const size_t found = help.find(group);
    ASSERT_NE(found, std::string::npos) << group << help;
    EXPECT_GT(found, at) << group;
    at = found;
  }
}

TEST(CliUsage, HelpIsACommandToo) {
  EXPECT_EQ(run(lapilli({"help"})).out, run(lapilli({"--help"})).out);
  for (const char* command : {"translate", "devices", "bench"}) {
    const Outcome help = run(lapilli({"help", command}));
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_EQ(help.out, run(lapilli({command, "--help"})).out);
    EXPECT_TRUE(contains(help.out, std::string("lapilli ") + command)) << help.out;
  }
  EXPECT_EQ(run(lapilli({"-q", "help", "plan"})).out, run(lapilli({"plan", "--help"})).out);
}

TEST(CliUsage, Version) {
  for (const char* flag : {"--version", "-V"}) {
    const Outcome version = run(lapilli({flag}));
    EXPECT_EQ(version.code, 0);
    EXPECT_EQ(version.out, std::string("lapilli ") + LAPILLI_VERSION + "\n");
  }
}

TEST(CliUsage, SaysWhatWasMeant) {
  struct Case {
    std::vector<std::string> arguments;
    const char* message;
  };
  const Case cases[] = {
      {{"transalte", "Hello."}, "there is no command transalte; did you mean translate?"},
      {{"-q", "summarise"}, "there is no command summarise; did you mean summarize?"},
      {{"help", "inspec"}, "there is no command inspec; did you mean inspect?"},
      {{"nonsense", "--help"}, "there is no command nonsense; lapilli --help lists them"},
      {{"Where is the station?"}, "a text stands behind a command: lapilli translate TEXT"},
      {{"version"}, "lapilli --version tells it"},
      {{"translate", "--bean", "3", "Hello."}, "translate has no option --bean; did you mean --beam?"},
      {{"translate", "--temp=2", "Hello."}, "translate has no option --temp; did you mean --temperature?"},
      {{"devices", "--quite"}, "devices has no option --quite; did you mean --quiet?"},
      {{"--verison"}, "there is no option --verison; did you mean --version?"},
      {{"translate", "--Hello!"}, "a text that begins with - stands behind --"},
      {{"devices", "--xyzzy"}, "devices has no option --xyzzy; see lapilli devices --help"},
      {{"inspect", "a", "[b]"}, "inspect takes no argument [b]; see lapilli inspect --help"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = run(lapilli(c.arguments));
    EXPECT_EQ(outcome.code, 2) << c.message;
    EXPECT_EQ(outcome.out, "") << c.message;
    EXPECT_TRUE(contains(outcome.err, c.message)) << outcome.err;
  }
}

TEST(CliUsage, LimitsAreTrueAndOptionsNamedAsTyped) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"translate", "--beam", "100000", "Hello."}, "--beam: \"100000\" is no whole number from 1 to 32"},
      {{"translate", "-b", "0", "Hello."}, "lapilli: -b: \"0\" is no whole number from 1 to 32"},
      {{"translate", "--json", "--nbest", "257", "Hello."}, "--nbest: \"257\" is no whole number from 1 to 256"},
      {{"translate", "--max-length", "1048577", "Hello."}, "from 1 to 1048576"},
      {{"plan", "--beam", "33"}, "from 1 to 32"},
      {{"plan", "--batch", "1025"}, "from 1 to 1024"},
      {{"plan", "--source", "65537"}, "from 1 to 65536"},
      {{"bench", "--batch", "1,0"}, "from 1 to 1024"},
      {{"bench", "--runs", "65537"}, "from 1 to 65536"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = run(lapilli(arguments));
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_TRUE(contains(outcome.err, message)) << outcome.err;
  }
  // The library accepts all that the program allows.
  const Outcome plan = run(lapilli({"plan", "--shape", "tiny,layers=1", "--beam", "32", "--batch", "32"}));
  EXPECT_EQ(plan.code, 0) << plan.err;
}

TEST(CliUsage, WrongUsageIsExitCodeTwo) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"nonsense"},
      {"translate", "--nonsense"},
      {"translate", "--beam", "0", "Hello."},
      {"translate", "--beam", "many", "Hello."},
      {"translate", "--max-length", "-3", "Hello."},
      {"translate", "--text", "--file", "Hello."},
      {"translate", "--nbest", "2", "Hello."},  // without --json
      {"translate", "--batch", "0", "Hello."},
      {"translate", "--beam", "0x4", "Hello."},
      {"translate", "--beam", "+4", "Hello."},
      {"translate", "--sample", "--seed", "-1", "Hello."},
      {"translate", "--sample", "--seed", "18446744073709551616", "Hello."},
      {"translate", "--sample", "--top-k", "-1", "Hello."},
      {"translate", "--sample", "--temperature", "nan", "Hello."},
      {"translate", "--sample", "--temperature", "inf", "Hello."},
      {"translate", "--sample", "--top-p", "1e999", "Hello."},
      {"plan", "--batch", "-1"},
      {"bench", "--batch", "1,-1"},
      {"bench", "--batch", "4294967295"},
      {"bench", "--source", "4294967295"},
      {"devices", "--", "x"},
      {"inspect", "a", "b"},
  };
  for (const auto& arguments : wrong) {
    const Outcome outcome = run(lapilli(arguments));
    const std::string shown = testing::PrintToString(arguments);
    EXPECT_EQ(outcome.code, 2) << shown;
    EXPECT_EQ(outcome.out, "") << shown;
    EXPECT_NE(outcome.err, "") << shown;
  }
}

TEST(CliUsage, OutputThatCannotBeWritten) {
  for (const auto& arguments : {std::vector<std::string>{"--help"}, {"inspect"}}) {
    Spawn spawn = lapilli(arguments);
    spawn.stdout_path = "/dev/full";
    const Outcome outcome = run(spawn);
    EXPECT_EQ(outcome.code, 6);
    EXPECT_TRUE(contains(outcome.err, "cannot be written")) << outcome.err;
  }
}

TEST(CliUsage, NoDriver) {
  for (const auto& arguments : {std::vector<std::string>{"translate", "Hello."}, {"devices"}, {"devices", "--json"}}) {
    Spawn spawn = lapilli(arguments);
    spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
    const Outcome outcome = run(spawn);
    EXPECT_EQ(outcome.code, 4);
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(contains(outcome.err, "driver")) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "install")) << outcome.err;
  }
}

TEST(CliUsage, InputFileThatIsNotThere) {
  TemporaryFolder folder;
  Spawn spawn = lapilli({"translate", "--file", (folder.path() / "letter.txt").string()});
  spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());  // it is noticed before
  const Outcome missing = run(spawn);
  EXPECT_EQ(missing.code, 3);
  EXPECT_TRUE(contains(missing.err, "letter.txt: No such file")) << missing.err;

  const Outcome directory = run(lapilli({"translate", "--file", folder.path().string()}));
  EXPECT_EQ(directory.code, 3);
  EXPECT_TRUE(contains(directory.err, "directory")) << directory.err;
}

// Without a device: what is a text gets as far as looking for one.
Outcome translate_nowhere(std::vector<std::string> arguments, const std::string& directory = "/") {
  arguments.insert(arguments.begin(), {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"", directory, program(), "translate"});
  Spawn spawn;
  spawn.arguments = std::move(arguments);
  spawn.environment = kNoDriver;
  return run(spawn);
}

TEST(CliUsage, MistypedFileNamesAreNoTexts) {
  TemporaryFolder folder;
  const std::string here = folder.path().string();
  fs::create_directory(folder.path() / "letters");
  fs::create_directory(folder.path() / "My letters");
  for (const std::string name : {"leter.txt", "LETER.TXT", "./leter", "../leter", "~/leter", "/leter", "letters/leter",
                                 "leters/l.md", "notes.2024.docx", "site.com/page.html"}) {
    const Outcome outcome = translate_nowhere({name}, here);
    EXPECT_EQ(outcome.code, 2) << name;
    EXPECT_TRUE(contains(outcome.err, "no file " + name) && contains(outcome.err, "--text")) << outcome.err;
    EXPECT_EQ(translate_nowhere({"--text", name}, here).code, 4) << name;
  }
  for (const std::string name : {"letters", "letters/", "./letters", "My letters"}) {
    const Outcome outcome = translate_nowhere({name}, here);
    EXPECT_EQ(outcome.code, 2) << name;
    EXPECT_TRUE(contains(outcome.err, name + " is a directory") && contains(outcome.err, "--text")) << outcome.err;
    EXPECT_EQ(translate_nowhere({"--text", name}, here).code, 4) << name;
  }
}

TEST(CliUsage, NamesThatWereNotTypedToTheirEnd) {
  TemporaryFolder folder;
  folder.file("letter.txt", "Hello.\n");
  const std::string here = folder.path().string();
  for (const std::string name : {"letter.tx", "letter.t", "./letter.tx"}) {
    const Outcome outcome = translate_nowhere({name}, here);
    EXPECT_EQ(outcome.code, 2) << name;
    EXPECT_TRUE(contains(outcome.err, "letter.txt? If it is a text, say --text")) << outcome.err;
  }
  for (const std::string text : {"letter", "letter.", "letters.t"})
    EXPECT_EQ(translate_nowhere({text}, here).code, 4) << text;
}

TEST(CliUsage, WordsWithDotsAndSlashesAreTexts) {
  TemporaryFolder folder;
  for (const std::string text :
       {"and/or", "km/h", "24/7", "e.g.", "3.14", "1.5/2.5", "...", ".../...", ".txt", "Node.js", "example.com",
        "Hello.", "https://example.com/letter.txt", "Read ./letter.txt", "the file letter.txt", "/ or \\ ?",
        "letter.txt.", "", "I\u00a0lost\u3000letter.txt"}) {
    const Outcome outcome = translate_nowhere({text}, folder.path().string());
    EXPECT_EQ(outcome.code, 4) << text << ": " << outcome.err;
  }
}

TEST(CliUsage, OptionsFileThatIsNotThere) {
  TemporaryFolder folder;
  const std::string file = (folder.path() / "settings.json").string();
  const Outcome missing = translate_nowhere({"--options", "@" + file, "Hello."});
  EXPECT_EQ(missing.code, 3);
  EXPECT_TRUE(contains(missing.err, "settings.json: No such file")) << missing.err;
  const Outcome directory = translate_nowhere({"--options", "@" + folder.path().string(), "Hello."});
  EXPECT_EQ(directory.code, 3);
  EXPECT_TRUE(contains(directory.err, "directory")) << directory.err;
}

TEST(CliInspect, BundledModel) {
  const Outcome table = run(lapilli({"inspect"}));
  EXPECT_EQ(table.code, 0) << table.err;
  for (const char* part : {"marian", "4 layers, 4 heads, feed-forward 1024", "8,001", "F16", "languages    en to fr",
                           "This model runs here: translate,", "lapilli translate --model "}) {
    EXPECT_TRUE(contains(table.out, part)) << part << " is not in\n" << table.out;
  }
  EXPECT_FALSE(contains(table.out, "model.shared.weight")) << table.out;
  const Outcome tensors = run(lapilli({"inspect", "--tensors"}));
  EXPECT_TRUE(contains(tensors.out, "model.shared.weight")) << tensors.out;
  const Outcome json_text = run(lapilli({"inspect", "--json", bundled_model()}));
  const auto json = nlohmann::json::parse(json_text.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << json_text.out << json_text.err;
  EXPECT_EQ(json["family"], "marian");
  EXPECT_EQ(json["encoder"]["layers"], 4);
  EXPECT_EQ(json["decoder"]["layers"], 2);
  EXPECT_EQ(json["max_positions"], 256);
  EXPECT_EQ(json["tokenizer"], "ok");
  EXPECT_EQ(json["languages"]["source"], nlohmann::json::array({"en"}));
  EXPECT_EQ(json["languages"]["target"], nlohmann::json::array({"fr"}));
  EXPECT_FALSE(json.contains("tensors"));
  EXPECT_GT(json["parameters"], 7000000);
  EXPECT_GE(json["device_weight_bytes"].get<uint64_t>(), 4 * json["parameters"].get<uint64_t>());
}

TEST(Cli, ATraceThatCannotBeWrittenIsSaidBeforeAnythingIsLoaded) {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  for (const char* command : {"translate", "bench"}) {
    const auto traced = [&](const std::string& file) {
      Spawn spawn = lapilli({command, "--trace", file});
      spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
      return run(spawn);
    };
    const Outcome to_folder = traced(path), to_nowhere = traced(path + "/no/trace.json");
    EXPECT_EQ(to_folder.code, 2) << command;
    EXPECT_TRUE(contains(to_folder.err, "--trace: " + path + " is a folder")) << to_folder.err;
    EXPECT_EQ(to_nowhere.code, 2) << command;
    EXPECT_TRUE(contains(to_nowhere.err, "--trace: there is no folder ")) << to_nowhere.err;
    const Outcome too_long = traced(path + "/" + std::string(300, 'x'));  // root may write where others may not
    EXPECT_EQ(too_long.code, 6) << command;
    EXPECT_TRUE(contains(too_long.err, "cannot be written: ")) << too_long.err;
  }
}

TEST(Cli, AModelsLanguageMustBeKnown) {
  for (const char* option : {"--from", "--to"}) {
    const Outcome unknown = run(lapilli({"models", option, "xx"}));
    EXPECT_EQ(unknown.code, 2) << option;
    EXPECT_TRUE(contains(unknown.err, "no language is known as \"xx\"")) << unknown.err;
  }
  const Outcome none = run(lapilli({"models", "--family", "fsmt", "--from", "zul_Latn", "--json"}));
  EXPECT_EQ(none.code, 0) << none.err;  // known, but no model's of the family
  EXPECT_EQ(none.out, "[]\n");
}

// Models of sound and pictures whose directory does not say how their input is made.
TEST(CliInspect, SaysThatNothingMakesTheInput) {
  for (const char* model : {"whisper", "trocr"}) {
    const Outcome out = run(lapilli({"inspect", std::string(LAPILLI_TEST_DATA "/models/") + model + "/model"}));
    EXPECT_EQ(out.code, 0) << out.err;
    EXPECT_TRUE(contains(out.out, "nothing makes its input: cannot open ")) << out.out;
    EXPECT_FALSE(contains(out.out, "This model runs here")) << out.out;
  }
}

// Not of the tokenizer, which knows more than the model was trained for.
TEST(CliInspect, NamesLanguagesThatAreHeard) {
  const Outcome out = run(lapilli({"inspect", LAPILLI_TEST_DATA "/models/whisper-long/model"}));
  EXPECT_EQ(out.code, 0) << out.err;
  EXPECT_TRUE(contains(out.out, "languages    transcribes de, en, fr; translates to en\n")) << out.out;
}

// The variable is for both: what inspect describes is what translate would use.
TEST(CliInspect, ModelOfTheEnvironment) {
  TemporaryFolder folder;
  Spawn spawn = lapilli({"inspect"});
  spawn.environment = {"LAPILLI_MODEL=" + folder.model_copy()};
  const Outcome outcome = run(spawn);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.out, folder.path().string())) << outcome.out;
}

TEST(CliInspect, SaysThatTheModelIsThatOfTheEnvironment) {
  TemporaryFolder folder;
  const std::string nothing = (folder.path() / "nothing").string();
  for (const std::string& directory : {nothing, folder.path().string()}) {
    for (const char* command : {"inspect", "plan"}) {
      Spawn spawn = lapilli({command});
      spawn.environment = {"LAPILLI_MODEL=" + directory};
      const Outcome outcome = run(spawn);
      EXPECT_EQ(outcome.code, 3);
      EXPECT_TRUE(contains(outcome.err, "LAPILLI_MODEL names " + directory + ",")) << outcome.err;
    }
  }
  Spawn named = lapilli({"inspect", nothing});
  named.environment = {"LAPILLI_MODEL=" + nothing};
  EXPECT_FALSE(contains(run(named).err, "LAPILLI_MODEL"));
}

// Installed under a prefix that was moved: the model is found relative to the program.
TEST(CliInspect, ModelRelativeToTheProgram) {
  TemporaryFolder folder;
  fs::create_directories(folder.path() / "opt/bin");
  fs::create_directories(folder.path() / "opt/share/lapilli/models");
  fs::copy(bundled_model(), folder.path() / "opt/share/lapilli/models/en-fr");
  fs::copy_file(program(), folder.path() / "opt/bin/lapilli");
  fs::rename(folder.path() / "opt", folder.path() / "moved");
  Spawn spawn = lapilli({"inspect"});
  spawn.arguments[0] = (folder.path() / "moved/bin/lapilli").string();
  const Outcome found = run(spawn);
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_TRUE(contains(found.out, (folder.path() / "moved/share/lapilli/models/en-fr").string())) << found.out;

  fs::remove_all(folder.path() / "moved/share");
  const Outcome missing = run(spawn);
  EXPECT_EQ(missing.code, 3);
  EXPECT_TRUE(contains(missing.err, "LAPILLI_MODEL")) << missing.err;
}

// A program found by its name alone is not in the current directory, whatever lies there.
TEST(CliInspect, ModelsOfTheCurrentDirectoryAreNotTheBundledOne) {
  TemporaryFolder folder;
  fs::create_directories(folder.path() / "bin");
  fs::create_directories(folder.path() / "here/models");
  fs::copy(bundled_model(), folder.path() / "here/models/en-fr");
  fs::copy_file(program(), folder.path() / "bin/lapilli");
  Spawn spawn = lapilli({});
  spawn.arguments = {"/bin/sh", "-c", "cd \"$1/here\" && PATH=\"$1/bin\" && lapilli inspect", "sh",
                     folder.path().string()};
  const Outcome outcome = run(spawn);
  EXPECT_EQ(outcome.code, 3) << outcome.out;
  EXPECT_TRUE(contains(outcome.err, "LAPILLI_MODEL")) << outcome.err;
}

struct Damage {
  const char* name;
  void (*apply)(const std::string& model);
  const char* message;  // a part of what is said
};

void rewrite(const std::string& path, const std::function<void(nlohmann::json&)>& change) {
  auto json = read_json(path);
  change(json);
  std::ofstream(path) << json;
}

const Damage kDamages[] = {
    {"no config", [](const std::string& m) { fs::remove(m + "/config.json"); }, "config.json"},
    {"config is no JSON", [](const std::string& m) { std::ofstream(m + "/config.json") << "{"; }, "config.json"},
    {"unknown family",
     [](const std::string& m) { rewrite(m + "/config.json", [](auto& j) { j["model_type"] = "volcano"; }); },
     "volcano"},
    {"no weights", [](const std::string& m) { fs::remove(m + "/model.safetensors"); }, "model.safetensors"},
    {"weights cut off", [](const std::string& m) { fs::resize_file(m + "/model.safetensors", 100000); },
     "model.safetensors"},
    {"a layer more than there are weights",
     [](const std::string& m) { rewrite(m + "/config.json", [](auto& j) { j["decoder_layers"] = 3; }); },
     "decoder.layers.2"},
    {"another shape than the weights'",
     [](const std::string& m) { rewrite(m + "/config.json", [](auto& j) { j["decoder_ffn_dim"] = 512; }); }, "fc1"},
};

TEST(CliInspect, DamagedModels) {
  for (const Damage& damage : kDamages) {
    TemporaryFolder folder;
    const std::string model = folder.model_copy();
    damage.apply(model);
    const Outcome outcome = run(lapilli({"inspect", model}));
    EXPECT_EQ(outcome.code, 3) << damage.name;
    EXPECT_EQ(outcome.out, "") << damage.name;
    EXPECT_TRUE(contains(outcome.err, damage.message)) << damage.name << ": " << outcome.err;
  }
}

// With a device, translate says the same.
TEST(CliDevice, DamagedModels) {
  for (const Damage& damage : kDamages) {
    TemporaryFolder folder;
    const std::string model = folder.model_copy();
    damage.apply(model);
    const Outcome outcome = run(lapilli({"translate", "-q", "--model", model, "Hello."}));
    EXPECT_EQ(outcome.code, 3) << damage.name;
    EXPECT_EQ(outcome.out, "") << damage.name;
    EXPECT_TRUE(contains(outcome.err, damage.message)) << damage.name << ": " << outcome.err;
  }
}

// Damage that inspect, which reads no weight, does not see, or reports without an error.
const Damage kDamagesOfUse[] = {
    {"a weight is no number",
     [](const std::string& m) {
       fs::permissions(m + "/model.safetensors", fs::perms::owner_all);
       std::fstream file(m + "/model.safetensors", std::ios::in | std::ios::out | std::ios::binary);
       file.seekp(-2, std::ios::end);
       file.write("\x00\x7e", 2);
     },
     "the weights are damaged"},
    {"another model's tokenizer",
     [](const std::string& m) {
       rewrite(m + "/vocab.json", [](auto& j) {
         for (int i = 0; i < 20000; ++i) j["more" + std::to_string(i)] = 8001 + i;
       });
     },
     "does not fit the model"},
    {"a pointer in place of a vocabulary",
     [](const std::string& m) {
       std::ofstream(m + "/vocab.json") << "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4\n";
     },
     "vocab.json is a Git LFS pointer"},
    {"a pointer in place of the generation settings",
     [](const std::string& m) { std::ofstream(m + "/generation_config.json") << "version https://git-lfs.x\n"; },
     "generation_config.json is a Git LFS pointer"},
    {"a link that leads nowhere in place of a tokenizer",
     [](const std::string& m) {
       fs::remove(m + "/source.spm");
       fs::create_symlink("../blobs/1234", m + "/source.spm");
     },
     "source.spm is a link to ../blobs/1234, which is not there"},
    {"a link that leads nowhere in place of weights",
     [](const std::string& m) {
       fs::remove(m + "/model.safetensors");
       fs::create_symlink("../blobs/1234", m + "/model.safetensors");
     },
     "model.safetensors is a link to"},
    {"a link that leads nowhere in place of settings that need not be there",
     [](const std::string& m) {
       fs::remove(m + "/tokenizer_config.json");
       fs::create_symlink("../blobs/1234", m + "/tokenizer_config.json");
     },
     "tokenizer_config.json is a link to"},
    {"a pipe in place of weights",
     [](const std::string& m) {
       fs::remove(m + "/model.safetensors");
       ASSERT_EQ(::mkfifo((m + "/model.safetensors").c_str(), 0600), 0);
     },
     "model.safetensors is a pipe"},
};

TEST(CliDevice, DamageThatShowsInUse) {
  for (const Damage& damage : kDamagesOfUse) {
    TemporaryFolder folder;
    const std::string model = folder.model_copy();
    damage.apply(model);
    const Outcome outcome = run(lapilli({"translate", "-q", "--model", model, "Hello."}));
    EXPECT_EQ(outcome.code, 3) << damage.name;
    EXPECT_EQ(outcome.out, "") << damage.name;
    EXPECT_TRUE(contains(outcome.err, damage.message)) << damage.name << ": " << outcome.err;
  }
}

// A file must not be able to steer the terminal that prints what is in it.
TEST(CliInspect, QuotesNames) {
  TemporaryFolder folder;
  const std::string model = folder.model_copy(), weights = model + "/model.safetensors";
  std::string bytes;
  {
    std::ifstream in(weights, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  uint64_t size = 0;
  for (int i = 7; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(bytes.at(static_cast<size_t>(i)));
  auto header = nlohmann::json::parse(bytes.substr(8, size), nullptr, false);
  ASSERT_TRUE(header.is_object());
  const uint64_t data = bytes.size() - 8 - size;
  header["\x1b[31mred"] = {{"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {data, data + 4}}};
  const std::string text = header.dump();
  std::string changed;
  for (int i = 0; i < 8; ++i) changed += static_cast<char>(uint64_t{text.size()} >> (8 * i) & 0xff);
  changed += text + bytes.substr(8 + size) + std::string(4, '\0');
  fs::permissions(weights, fs::perms::owner_all);
  std::ofstream(weights, std::ios::binary | std::ios::trunc) << changed;
  const Outcome outcome = run(lapilli({"inspect", "--tensors", model}));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "'\\x1b[31mred'")) << outcome.out;
  EXPECT_FALSE(contains(outcome.out, "\x1b"));
}

}  // namespace
}  // namespace lapilli::test
