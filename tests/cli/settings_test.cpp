// Settings from a file, completions and manual pages.
#include <algorithm>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

Outcome with_config(const std::string& file, std::vector<std::string> arguments) {
  Spawn spawn = lapilli(std::move(arguments));
  spawn.environment.push_back("LAPILLI_CONFIG=" + file);
  return run(spawn);
}

TEST(CliConfig, WhatIsWrongWithAFileIsSaidWithItsName) {
  TemporaryFolder folder;
  const struct {
    const char *text, *message;
  } cases[] = {
      {"bam = 3\n", "no command has switch \"bam\"; did you mean beam?"},
      {"[translate]\nbeam = many\n", "--beam: \"many\" is no whole number from 1 to 32"},
      {"[trans]\nbeam = 1\n", "there is no command \"trans\""},
      {"[devices]\nbeam = 1\n", "devices has no switch \"beam\""},
      {"beam = [1, 2]\n", "beam must have one value"},
      {"quiet = maybe\n", "Could not convert: --quiet"},
      {"text = true\nfile = true\n", "--text excludes --file"},
      {"json = true\nstream = true\n", "what is set there is --json, --stream"},
      {"\x1b[[[=\n=", "no"},
  };
  for (const auto& c : cases) {
    const std::string file = folder.file("settings.toml", c.text);
    const Outcome outcome = with_config(file, {"translate", "Hello."});
    EXPECT_EQ(outcome.code, 2) << c.text;
    EXPECT_TRUE(contains(outcome.err, "settings in " + file + ": ") && contains(outcome.err, c.message)) << outcome.err;
    EXPECT_FALSE(contains(outcome.err, "\x1b")) << outcome.err;
  }
  const Outcome missing = run(lapilli({"translate", "--config", "/nowhere/settings.toml", "Hello."}));
  EXPECT_EQ(missing.code, 3);
  EXPECT_TRUE(contains(missing.err, "settings in /nowhere/settings.toml: No such file")) << missing.err;
}

// The model's directory tells which value counted.
TEST(CliDeviceConfig, WhatIsTypedWinsThenTheCommandsThenAll) {
  TemporaryFolder folder;
  const std::string file =
      folder.file("settings.toml", "# mine\nmodel = \"all models\"\nfrom = en\n[summarize]\nmodel = of-summaries\n");
  const auto model_of = [&](std::vector<std::string> arguments, const char* model) {
    const Outcome outcome = with_config(file, std::move(arguments));
    EXPECT_TRUE(contains(outcome.err, std::string(model) + " is not a directory")) << outcome.err;
  };
  model_of({"translate", "Hello."}, "all models");
  model_of({"summarize", "Hello."}, "of-summaries");
  model_of({"translate", "-m", "typed", "Hello."}, "typed");
  model_of({"summarize", "--model=typed", "Hello."}, "typed");
  EXPECT_EQ(with_config(file, {"--config", "", "inspect"}).code, 0);
}

// A switch of the file gives way to a typed one that it does not go with, and waits for one that it needs.
TEST(CliDeviceConfig, SwitchesThatDoNotGoWithWhatIsTyped) {
  TemporaryFolder folder;
  const std::string file = folder.file("settings.toml", "no-split = true\nseed = 7\nscores = true\n");
  const Outcome outcome = with_config(file, {"translate", "--split", "--json", "-m", "/nowhere", "Hello."});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "/nowhere")) << outcome.err;
}

TEST(CliConfig, TheUsualFile) {
  TemporaryFolder folder;
  fs::create_directories(folder.path() / "lapilli");
  folder.file("lapilli/config.toml", "bam = 3\n");
  Spawn spawn = lapilli({"inspect"});
  spawn.environment = {"LAPILLI_MODEL", "LAPILLI_CONFIG", "XDG_CONFIG_HOME=" + folder.path().string()};
  EXPECT_TRUE(contains(run(spawn).err, "lapilli/config.toml: no command has switch")) << run(spawn).err;
  fs::create_directories(folder.path() / ".config");
  fs::rename(folder.path() / "lapilli", folder.path() / ".config/lapilli");
  spawn.environment = {"LAPILLI_MODEL", "LAPILLI_CONFIG", "XDG_CONFIG_HOME", "HOME=" + folder.path().string()};
  EXPECT_TRUE(contains(run(spawn).err, ".config/lapilli/config.toml: no command has switch")) << run(spawn).err;
}

// The completions that bash offers for the last of the words.
std::vector<std::string> completed(const std::string& words, size_t last) {
  Spawn spawn = lapilli({});
  spawn.arguments = {
      "/bin/bash",
      "-c",
      "eval \"$(\"$1\" completion bash)\"; COMP_WORDS=($2) COMP_CWORD=$3; [ ${#COMP_WORDS[@]} -gt $3 ] || "
      "COMP_WORDS+=(''); _lapilli; printf '%s\\n' \"${COMPREPLY[@]}\"",
      "bash",
      program(),
      words,
      std::to_string(last)};
  const Outcome outcome = run(spawn);
  EXPECT_EQ(outcome.err, "");
  return lines_of(outcome.out);
}

TEST(CliCompletion, Bash) {
  if (!fs::exists("/bin/bash")) GTEST_SKIP() << "there is no bash";
  using Words = std::vector<std::string>;
  EXPECT_EQ(completed("lapilli transl", 1), Words{"translate"});
  EXPECT_EQ(completed("lapilli tr", 1), (Words{"translate", "transcribe"}));
  EXPECT_EQ(completed("lapilli help ins", 2), Words{"inspect"});
  EXPECT_EQ(completed("lapilli translate --no-s", 2), Words{"--no-split"});
  EXPECT_EQ(completed("lapilli -q translate --quie", 3), Words{"--quiet"});
  EXPECT_EQ(completed("lapilli translate --model " LAPILLI_SOURCE_DIR "/model", 3),
            Words{LAPILLI_SOURCE_DIR "/models"});
  EXPECT_EQ(completed("lapilli translate " LAPILLI_SOURCE_DIR "/CHANGE", 2), Words{LAPILLI_SOURCE_DIR "/CHANGELOG.md"});
  EXPECT_EQ(completed("lapilli translate --beam 1", 3), Words{""});
  const auto commands = completed("lapilli", 1);
  EXPECT_TRUE(std::find(commands.begin(), commands.end(), "devices") != commands.end());
  EXPECT_TRUE(std::find(commands.begin(), commands.end(), "shared-files") == commands.end());
}

// Without the shells themselves: each switch of each command's help is in their scripts.
TEST(CliCompletion, ZshAndFishKnowEverySwitch) {
  const std::string zsh = run(lapilli({"completion", "zsh"})).out, fish = run(lapilli({"completion", "fish"})).out;
  for (const char* command : {"translate", "summarize", "generate", "search", "devices", "doctor", "inspect", "pack",
                              "plan", "bench", "tune", "chat"}) {
    const size_t in_zsh = zsh.find(std::string("\n  ") + command + ")\n");
    ASSERT_NE(in_zsh, std::string::npos) << command;
    const std::string own = zsh.substr(in_zsh, zsh.find("return ;;", in_zsh) - in_zsh);
    for (const std::string& line : lines_of(run(lapilli({command, "--help"})).out)) {
      const size_t at = line.find("--");
      if (!line.starts_with("  -") || at == std::string::npos) continue;
      const std::string name = line.substr(at, line.find_first_of(" ", at) - at);
      EXPECT_TRUE(contains(own, "'" + name + "[")) << command << " " << name;
      EXPECT_TRUE(contains(fish, " -l " + name.substr(2) + " ")) << command << " " << name;
    }
  }
  const Outcome other = run(lapilli({"completion", "tcsh"}));
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "tcsh")) << other.err;
}

TEST(CliManual, APageForEachCommand) {
  const fs::path pages = LAPILLI_BINARY_DIR "/share/man/man1";
  for (const char* name : {"lapilli", "lapilli-translate", "lapilli-devices", "lapilli-completion"}) {
    std::ifstream file(pages / (std::string(name) + ".1"));
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    for (const char* part : {".TH LAPILLI", ".SH NAME\nlapilli", ".SH OPTIONS\n", "\\-\\-help"})
      EXPECT_TRUE(contains(page, part)) << name << " lacks " << part;
  }
  Spawn groff = lapilli({});
  groff.arguments = {"/bin/sh", "-c", "command -v groff >/dev/null || exit 77; groff -man -ww -z -Tutf8 \"$1\"/*.1",
                     "sh", pages.string()};
  const Outcome outcome = run(groff);
  if (outcome.code == 77) GTEST_SKIP() << "there is no groff";
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace lapilli::test
