// lapilli generate --chat, lapilli chat, and translators that are decoders, with a small model that always says the
// same.
#include <gmock/gmock.h>

#include "cli/sentence_models.hpp"

namespace lapilli::test {
namespace {

using ::testing::HasSubstr;

const std::string kTinyChat = LAPILLI_TEST_DATA "/chat/tiny";

Outcome answered(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {"generate", "--quiet", "--model", kTinyChat, "--chat"});
  return run(lapilli(std::move(arguments)), input);
}

TEST(CliDeviceChat, AnAnswerIsALine) {
  const Outcome said = answered({"--no-thoughts", "Hello!"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, "Good day! How are you?\n");
  EXPECT_EQ(answered({"--template-arg", "enable_thinking=false", "--stop", "! How", "Hello!"}).out, "Good day\n");
  EXPECT_EQ(answered({"--no-thoughts", "--stream", "--lines"}, "a\nb\n").out,
            "Good day! How are you?\nGood day! How are you?\n");
}

TEST(CliDeviceChat, MessagesOfAFileAreAnswered) {
  TemporaryFolder folder;
  const std::string file = folder.file("history.json", R"([{"role": "user", "content": "Hello!"}])");
  EXPECT_EQ(answered({"--no-thoughts", "--messages", file}).out, "Good day! How are you?\n");
  const std::string bad = folder.file("bad.json", R"([{"role": "tool", "content": "Hello!"}])");
  const Outcome refused = answered({"--messages", bad});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("There is no role tool."));
  EXPECT_EQ(refused.out, "");
}

TEST(CliChat, WhatCannotBeIsRefusedBeforeTheModelIsLoaded) {
  Spawn without = lapilli({"generate", "--model", LAPILLI_TEST_DATA "/decoders/gpt2/model", "--chat", "Hello!"});
  without.environment.insert(without.environment.end(), kNoDriver.begin(), kNoDriver.end());
  EXPECT_THAT(run(without).err, HasSubstr("no chat template"));
  EXPECT_THAT(run(lapilli({"generate", "--system", "Be brief.", "Hello!"})).err, HasSubstr("are for --chat"));
  EXPECT_THAT(answered({"--template-arg", "thinking", "Hello!"}).err, HasSubstr("NAME=VALUE"));
  EXPECT_THAT(answered({"--ids", "1 2"}).err, HasSubstr("--chat takes texts"));
}

TEST(CliChat, WithoutAModelItNamesOneThatChats) {
  Spawn alone = lapilli({"chat", "--quiet"});
  alone.environment.insert(alone.environment.end(), kNoDriver.begin(), kNoDriver.end());
  const Outcome refused = run(alone);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("does not chat: name one that does with --model (lapilli fetch Qwen/Qwen3-0.6B"));
}

TEST(CliChat, ATemplateThatCannotRunIsNamed) {
  TemporaryFolder folder;
  fs::copy(kTinyChat, folder.path() / "model", fs::copy_options::recursive);
  std::ofstream(folder.path() / "model/chat_template.jinja") << "\n{% include 'x' %}";
  const Outcome refused = run(lapilli({"generate", "--model", (folder.path() / "model").string(), "--chat", "Hello!"}));
  EXPECT_THAT(refused.err, HasSubstr("chat_template.jinja: the chat template: line 2: the tag \"include\" is not run"));
}

TEST(CliDeviceChat, ATalkKeepsWhatWasSaid) {
  const Outcome talk = run(lapilli({"chat", "--quiet", "--model", kTinyChat, "--no-thoughts"}),
                           "Hello!\n\nAnd you?\n/reset\nx\n/exit\ny\n");
  EXPECT_EQ(talk.code, 0) << talk.err;
  EXPECT_EQ(talk.out, "Good day! How are you?\nGood day! How are you?\nGood day! How are you?\n");
}

// TowerInstruct's prompt, for the name of the directory. Control tokens of a text end no turn.
TEST(CliDeviceChat, ADecoderTranslatesByItsName) {
  TemporaryFolder folder;
  fs::copy(kTinyChat, folder.path() / "TowerInstruct-7B-v0.2", fs::copy_options::recursive);
  const std::string model = (folder.path() / "TowerInstruct-7B-v0.2").string();
  const auto translated = [&](std::vector<std::string> arguments, const std::string& input) {
    arguments.insert(arguments.begin(), {"translate", "--quiet", "--no-unsure", "--model", model});
    return run(lapilli(std::move(arguments)), input);
  };
  const Outcome lines = translated({"--from", "pt", "--to", "en"}, "Bom dia.\n\nPress <|im_end|> now.\n");
  EXPECT_EQ(lines.code, 0) << lines.err;
  size_t answers = 0;
  for (size_t at = lines.out.find("Good day!"); at != std::string::npos; at = lines.out.find("Good day!", at + 1))
    ++answers;
  EXPECT_EQ(answers, 2u) << lines.out;
  EXPECT_THAT(translated({"--from", "pt", "--to", "xx"}, "Bom dia.\n").err, HasSubstr("xx"));
  EXPECT_THAT(translated({"--to", "en"}, "Bom dia.\n").err, HasSubstr("--from and --to"));
}

// The tiny model by another name, with another end in its tokenizer, and a template whose turns end with a blank and
// <|im_end|>.
std::string by_template_alone(const TemporaryFolder& folder, const std::string& name) {
  const fs::path model = folder.path() / name;
  fs::copy(kTinyChat, model, fs::copy_options::recursive);
  std::stringstream read;
  read << std::ifstream(model / "tokenizer_config.json").rdbuf();
  std::string config = read.str();
  const auto replace = [&config](const std::string& from, const std::string& to) {
    const size_t at = config.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    config.replace(at, from.size(), to);
  };
  replace("\"eos_token\": \"<|im_end|>\"", "\"eos_token\": \"<|end|>\"");
  replace("+ '<|im_end|>\\\\n'", "+ ' <|im_end|>\\\\n'");
  std::ofstream(model / "tokenizer_config.json") << config;
  std::ofstream(model / "generation_config.json") << R"({"eos_token_id": 163, "do_sample": true})";
  return model.string();
}

TEST(CliDeviceChat, ABlankBeforeTheEndOfATurnIsNoEnd) {
  TemporaryFolder folder;
  const std::string model = by_template_alone(folder, "model");
  const Outcome said = run(lapilli(
      {"generate", "--model", model, "--chat", "--no-thoughts", "--options", R"({"do_sample": false})", "Hello!"}));
  EXPECT_EQ(said.out, "Good day! How are you?\n") << said.err;
}

TEST(CliDeviceChat, TranslationsEndWithTheTemplatesTurnAndAreNotDrawn) {
  TemporaryFolder folder;
  const std::string model = by_template_alone(folder, "TowerInstruct-7B-v0.2");
  const Outcome said = run(lapilli({"translate", "--model", model, "--from", "pt", "--to", "en", "Bom dia."}));
  EXPECT_TRUE(said.out.ends_with("Good day! How are you?\n")) << said.out << said.err;
  EXPECT_THAT(said.err, HasSubstr("translations take the best ones instead"));
}

TEST(CliDeviceChat, WordsOfADecoderAreNotAligned) {
  TemporaryFolder folder;
  const std::string model = by_template_alone(folder, "TowerInstruct-7B-v0.2");
  const auto translated = [&](std::vector<std::string> arguments, const std::string& input) {
    arguments.insert(arguments.begin(), {"translate", "--model", model, "--from", "pt", "--to", "en"});
    return run(lapilli(std::move(arguments)), input);
  };
  const Outcome refused = translated({"--alignment", "Bom dia."}, "");
  EXPECT_NE(refused.code, 0);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("--alignment: llama models have no encoder"));
  EXPECT_THAT(translated({"--attention", (folder.path() / "a.svg").string(), "Bom dia."}, "").err,
              HasSubstr("--attention: llama models have no encoder"));
  const std::string note = "tags within a line stand in proportion";
  const std::string page =
      translated({"--format", "html"}, "<p>Bom <b>dia</b> hoje.</p><p>A <i>casa</i> velha.</p>").err;
  EXPECT_THAT(page, HasSubstr(note));
  EXPECT_EQ(page.find(note), page.rfind(note));
}

// ---- numbers beyond those of 16 bits --------------------------------------------------------------------------------

struct Widened {
  const char *decoder, *up, *down;
};
constexpr Widened kGemma{"gemma3", "model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.down_proj.weight"};
constexpr Widened kGptNeo{"gpt_neo", "transformer.h.0.mlp.c_fc.weight", "transformer.h.0.mlp.c_proj.weight"};

Outcome continued(const std::string& model, const char* dtype) {
  return run(lapilli(
      {"generate", "--quiet", "--model", model, "--dtype", dtype, "--max-new-tokens", "5", "--ids", "5 7 9 11"}));
}

// A decoder whose feed-forward layer has sums `by` times as large inside.
std::string widened(const TemporaryFolder& folder, const Widened& of, float by) {
  const auto scale = [](float factor) {
    return [factor](Vector& v) {
      for (float& x : v) x *= factor;
    };
  };
  const std::string from = std::string("../models/") + of.decoder;
  (void)changed_model(folder, from, of.up, scale(by));
  return changed_model(folder, from, of.down, scale(1 / by));
}

TEST(CliDeviceChat, SumsBeyondHalfPrecisionStayFinite) {
  for (const Widened& decoder : {kGemma, kGptNeo}) {
    const TemporaryFolder folder;
    const std::string model = widened(folder, decoder, 0x1p17f);
    const Outcome whole = continued(model, "fp32"), half = continued(model, "fp16");
    EXPECT_EQ(whole.code, 0) << whole.err;
    EXPECT_EQ(half.code, 0) << half.err;
    EXPECT_EQ(half.out, whole.out);
  }
}

TEST(CliDeviceChat, ScoresThatAreNoNumbersChooseNoWord) {
  for (const Widened& decoder : {kGemma, kGptNeo}) {
    const TemporaryFolder folder;
    const std::string model = changed_model(folder, std::string("../models/") + decoder.decoder, decoder.up,
                                            [](Vector& v) { v.assign(v.size(), 3e38f); });
    for (const char* dtype : {"fp32", "fp16"}) {
      const Outcome said = continued(model, dtype);
      EXPECT_EQ(said.code, 3);
      EXPECT_EQ(said.out, "");
      EXPECT_THAT(said.err, HasSubstr("are no numbers"));
    }
  }
}

}  // namespace
}  // namespace lapilli::test
