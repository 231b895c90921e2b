// Chat templates of directories, and the prompts of translators.
#include "generate/chat/chat_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "generate/chat/framed_text.hpp"
#include "generate/chat/translators.hpp"
#include "generate/encoders/judging.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

const std::string kUser = "Hi";

class ChatFolder {
 public:
  const ChatFolder& with(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((std::filesystem::path(folder_.path()) / name).parent_path());
    std::ofstream(std::filesystem::path(folder_.path()) / name) << text;
    return *this;
  }
  [[nodiscard]] std::shared_ptr<const ChatTemplate> read() const {
    auto made = ChatTemplate::read(Files(folder_.path()));
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made ? *made : nullptr;
  }
  [[nodiscard]] std::string prompt(const ChatRequest& chat = {}) const {
    const auto text = read()->prompt(chat, &kUser);
    return text ? *text : "error: " + text.error().message;
  }

 private:
  TempDirectory folder_;
};

TEST(ChatTemplate, FilesGoBeforeTheConfiguration) {
  ChatFolder folder;
  EXPECT_EQ(folder.read(), nullptr);
  folder.with("chat_template.json", R"({"chat_template": "p"})");
  EXPECT_EQ(folder.prompt(), "p");
  folder.with("tokenizer_config.json", R"({"chat_template": "c"})");
  EXPECT_EQ(folder.prompt(), "c");
  folder.with("tokenizer_config.json",
              R"({"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]})");
  EXPECT_EQ(folder.prompt(), "d");
  EXPECT_EQ(folder.prompt({"", "", "[{}]", ""}), "t");
  folder.with("chat_template.jinja", "j");
  EXPECT_EQ(folder.prompt({"", "", "[{}]", ""}), "j");
  folder.with("additional_chat_templates/tool_use.jinja", "a");
  EXPECT_EQ(folder.prompt({"", "", "[{}]", ""}), "a");
}

TEST(ChatTemplate, KnowsSpecialTokensAsTextsAndAsObjects) {
  ChatFolder folder;
  folder.with("tokenizer_config.json", R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": null,
    "chat_template": "{{ bos_token }}{{ messages[0].content }}{{ eos_token }}{{ pad_token }}"})");
  EXPECT_EQ(folder.prompt(), "<s>Hi</s>");
}

// Templates cut texts by characters and trust them to be whole.
TEST(ChatTemplate, RefusesTextsThatAreNoUtf8) {
  ChatFolder folder;
  folder.with("chat_template.jinja", "{% for m in messages %}{{ m.content | trim }}{% endfor %}");
  const auto chat = folder.read();
  for (const std::string bad : {"\xE1\x9A", "a\xF0", "\xC3", "\xED\xA0\x80"}) {
    const auto text = chat->prompt({}, &bad);
    ASSERT_FALSE(text.ok());
    EXPECT_THAT(text.error().message, HasSubstr("the text"));
    EXPECT_THAT(folder.prompt({bad, "", "", ""}), HasSubstr("the system message"));
    EXPECT_THAT(folder.prompt({"", R"([{"role": "user", "content": ")" + bad + R"("}])", "", ""}),
                HasSubstr("no JSON"));
  }
}

TEST(ChatTemplate, TakesMessagesAndArguments) {
  ChatFolder folder;
  folder.with("chat_template.jinja",
              "{% for m in messages %}{{ m.role[0] }}:{{ m.content }} {% endfor %}{{ x | tojson }}");
  EXPECT_EQ(folder.prompt({"Be brief.", R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])",
                           "", R"({"x": {"b": 1, "a": 2}})"}),
            "s:Be brief. u:a a:b u:Hi {\"b\": 1, \"a\": 2}");
  EXPECT_THAT(folder.prompt({"", "{}", "", ""}), HasSubstr("a JSON list is needed"));
  EXPECT_THAT(folder.prompt({"", "[", "", ""}), HasSubstr("no JSON"));
  EXPECT_THAT(folder.prompt({"", "[1]", "", ""}), HasSubstr("an object with a role"));
}

TEST(ChatTemplate, RefusesInItsOwnWordsAndNamesWhatItCannotRun) {
  ChatFolder folder;
  folder.with("chat_template.jinja", "{{ raise_exception('System role not supported') }}");
  EXPECT_THAT(folder.prompt(), HasSubstr("System role not supported"));
  folder.with("chat_template.jinja", "\n{% include 'x' %}");
  const auto refused = ChatTemplate::read(Files("/nowhere"));
  EXPECT_TRUE(refused.ok() && !*refused);
}

TEST(ChatTemplate, TellsHowAnAnswerEnds) {
  ChatFolder folder;
  folder.with("chat_template.jinja", "{% for m in messages %}<s>{{ m.content }}<e>\n{% endfor %}");
  EXPECT_EQ(folder.read()->turn_end(), "<e>\n");
}

TEST(Judges, AreKnownByTheLastFolder) {
  EXPECT_TRUE(find_judge("qwen3", "x/Qwen3-Reranker-0.6B/"));
  EXPECT_TRUE(find_judge("qwen3", "hub/models--Qwen--Qwen3-Reranker-0.6B/snapshots/0af1"));
  EXPECT_FALSE(find_judge("qwen3", "qwen3-reranker/Qwen3-0.6B"));
  EXPECT_FALSE(find_judge("qwen3", "snapshots"));
  EXPECT_FALSE(find_judge("qwen3", "/"));
}

// ---- translators --------------------------------------------------------------------------------------------------

std::shared_ptr<const ChatTemplate> published_template(const ChatFolder& folder, const std::string& name) {
  std::ifstream file(LAPILLI_TEST_DATA "/jinja/chat.json");
  const Json record = Json::parse(file);
  folder.with("chat_template.jinja", record["templates"][name]["default"].get<std::string>());
  return folder.read();
}

std::string whole_prompt(const std::string& directory, const ChatTemplate* chat, const char* from, const char* to) {
  const Translator* row = find_translator(directory, chat);
  if (!row) return "no translator";
  const auto made = translator_prompt(*row, chat, from, to);
  if (!made) return made.error().message;
  EXPECT_EQ(made->options.do_sample, false);
  return made->frame.before + "TEXT" + made->frame.behind;
}

TEST(Translators, ArePromptedAsTheirCardsSay) {
  EXPECT_EQ(whole_prompt("models/ALMA-7B-R", nullptr, "zh", "en"),
            "Translate this from Chinese to English:\nChinese: TEXT\nEnglish:");
  EXPECT_EQ(whole_prompt("x/models--ByteDance-Seed--Seed-X-PPO-7B/snapshots/0af1/", nullptr, "en", "zh"),
            "Translate the following English sentence into Chinese:\nTEXT <zh>");
  EXPECT_THAT(whole_prompt("LLaMAX3-8B-Alpaca", nullptr, "en", "sw"),
              HasSubstr("Translate the following sentences from English to Swahili.\n### Input:\nTEXT\n### Response:"));
  EXPECT_EQ(whole_prompt("/home/alma/Qwen3-0.6B", nullptr, "en", "fr"), "no translator");
  EXPECT_EQ(whole_prompt("snapshots/alma7b", nullptr, "zh", "en").substr(0, 14), "Translate this");
  EXPECT_EQ(whole_prompt("snapshots/abc", nullptr, "en", "fr"), "no translator");
}

TEST(Translators, GoThroughTheTemplateOfTheirDirectory) {
  ChatFolder hunyuan, tower, gemma;
  const auto hy = published_template(hunyuan, "tencent__HY-MT1.5-1.8B");
  EXPECT_THAT(whole_prompt("tencent__HY-MT1.5-1.8B", hy.get(), "", "fr"),
              HasSubstr("Translate the following segment into French, without additional explanation.\n\nTEXT<"));
  EXPECT_THAT(whole_prompt("renamed", hy.get(), "en", "zh"), HasSubstr("将以下文本翻译为中文"));
  const auto ti = published_template(tower, "Unbabel__TowerInstruct-7B-v0.2");
  EXPECT_THAT(whole_prompt("TowerInstruct-7B-v0.2", ti.get(), "pt", "en"),
              HasSubstr("Translate the following text from Portuguese into English.\nPortuguese: TEXT\nEnglish:"));
  const auto tg = published_template(gemma, "google__translategemma-4b-it");
  EXPECT_THAT(whole_prompt("renamed", tg.get(), "cs", "de_DE"), HasSubstr("TEXT"));
  EXPECT_THAT(whole_prompt("renamed", tg.get(), "xx", "de"), HasSubstr("are these languages of TranslateGemma?"));
}

TEST(Translators, RefuseLanguagesThatTheyDoNotHave) {
  EXPECT_THAT(whole_prompt("ALMA-13B", nullptr, "en", "fr"), HasSubstr("\"fr\""));
  EXPECT_THAT(whole_prompt("ALMA-13B", nullptr, "", "en"), HasSubstr("--from and --to"));
  EXPECT_THAT(whole_prompt("EuroLLM-1.7B-Instruct", nullptr, "en", "fr"), HasSubstr("the directory has none"));
}

// Control tokens of a text are letters; those of the frame are not.
TEST(Translators, ControlTokensOfATextStayText) {
  const auto tokenizer = load_tokenizer(Files(LAPILLI_TEST_DATA "/chat/tiny"), "llama");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  const std::string text = " Press <|im_end|> or <|im_start|>now. ";
  TextFrame frame;
  frame.before = "<|im_start|>user\n";
  frame.behind = "<|im_end|>\n";
  const auto e = encode_framed(**tokenizer, frame, text);
  ASSERT_TRUE(e.ok()) << e.error().message;
  const auto id = [&](const char* token) { return (**tokenizer).encode(token, EncodeOptions())->front(); };
  EXPECT_EQ(std::count(e->ids.begin(), e->ids.end(), id("<|im_end|>")), 1);
  EXPECT_EQ(std::count(e->ids.begin(), e->ids.end(), id("<|im_start|>")), 1);
  std::string covered;
  for (size_t i = 0; i < e->ids.size(); ++i)
    covered += text.substr(e->offsets[i].begin, e->offsets[i].end - e->offsets[i].begin);
  EXPECT_EQ(covered, "Press <|im_end|> or <|im_start|>now.");
  EXPECT_EQ(*(**tokenizer).decode(e->ids, false), "<|im_start|>user\n" + covered + "<|im_end|>\n");
}

}  // namespace
}  // namespace lapilli
