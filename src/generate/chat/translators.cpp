#include "generate/chat/translators.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "generate/chat/bare_name.hpp"
#include "text/kinds/languages.hpp"

namespace lapilli {

// A language by its names in prompts. `chinese`: null where no row needs it.
struct PromptLanguage {
  std::string_view code, name;
  const char* chinese = nullptr;
};

// {from} and {to}: names; {to_chinese}; {to_code}; {text}.
struct Wording {
  const char* user;
  const char* chinese = nullptr;  // instead, where Chinese is on one side
  const char* system = nullptr;
};

namespace {

// HY-MT's, by its card.
constexpr PromptLanguage kHunyuan[] = {
    {"ar", "Arabic", "阿拉伯语"},     {"bn", "Bengali", "孟加拉语"},
    {"bo", "Tibetan", "藏语"},        {"cs", "Czech", "捷克语"},
    {"de", "German", "德语"},         {"en", "English", "英语"},
    {"es", "Spanish", "西班牙语"},    {"fa", "Persian", "波斯语"},
    {"fr", "French", "法语"},         {"gu", "Gujarati", "古吉拉特语"},
    {"he", "Hebrew", "希伯来语"},     {"hi", "Hindi", "印地语"},
    {"id", "Indonesian", "印尼语"},   {"it", "Italian", "意大利语"},
    {"ja", "Japanese", "日语"},       {"kk", "Kazakh", "哈萨克语"},
    {"km", "Khmer", "高棉语"},        {"ko", "Korean", "韩语"},
    {"mn", "Mongolian", "蒙古语"},    {"mr", "Marathi", "马拉地语"},
    {"ms", "Malay", "马来语"},        {"my", "Burmese", "缅甸语"},
    {"nl", "Dutch", "荷兰语"},        {"pl", "Polish", "波兰语"},
    {"pt", "Portuguese", "葡萄牙语"}, {"ru", "Russian", "俄语"},
    {"ta", "Tamil", "泰米尔语"},      {"te", "Telugu", "泰卢固语"},
    {"th", "Thai", "泰语"},           {"tl", "Filipino", "菲律宾语"},
    {"tr", "Turkish", "土耳其语"},    {"ug", "Uyghur", "维吾尔语"},
    {"uk", "Ukrainian", "乌克兰语"},  {"ur", "Urdu", "乌尔都语"},
    {"vi", "Vietnamese", "越南语"},   {"yue", "Cantonese", "粤语"},
    {"zh", "Chinese", "中文"},        {"zh-Hant", "Traditional Chinese", "繁体中文"}};

constexpr PromptLanguage kEuroLlm[] = {
    {"ar", "Arabic"},     {"bg", "Bulgarian"},  {"ca", "Catalan"},  {"cs", "Czech"},     {"da", "Danish"},
    {"de", "German"},     {"el", "Greek"},      {"en", "English"},  {"es", "Spanish"},   {"et", "Estonian"},
    {"fi", "Finnish"},    {"fr", "French"},     {"ga", "Irish"},    {"gl", "Galician"},  {"hi", "Hindi"},
    {"hr", "Croatian"},   {"hu", "Hungarian"},  {"it", "Italian"},  {"ja", "Japanese"},  {"ko", "Korean"},
    {"lt", "Lithuanian"}, {"lv", "Latvian"},    {"mt", "Maltese"},  {"nl", "Dutch"},     {"no", "Norwegian"},
    {"pl", "Polish"},     {"pt", "Portuguese"}, {"ro", "Romanian"}, {"ru", "Russian"},   {"sk", "Slovak"},
    {"sl", "Slovenian"},  {"sv", "Swedish"},    {"tr", "Turkish"},  {"uk", "Ukrainian"}, {"zh", "Chinese"}};

constexpr PromptLanguage kTower[] = {{"de", "German"},  {"en", "English"}, {"es", "Spanish"}, {"fr", "French"},
                                     {"it", "Italian"}, {"ko", "Korean"},  {"nl", "Dutch"},   {"pt", "Portuguese"},
                                     {"ru", "Russian"}, {"zh", "Chinese"}};

constexpr PromptLanguage kTowerPlus[] = {{"cs", "Czech"},
                                         {"da", "Danish"},
                                         {"de", "German"},
                                         {"en", "English"},
                                         {"es", "Spanish"},
                                         {"fi", "Finnish"},
                                         {"fr", "French"},
                                         {"hi", "Hindi"},
                                         {"hu", "Hungarian"},
                                         {"is", "Icelandic"},
                                         {"it", "Italian"},
                                         {"ja", "Japanese"},
                                         {"ko", "Korean"},
                                         {"nb", "Norwegian (Bokmål)"},
                                         {"nl", "Dutch"},
                                         {"nn", "Norwegian (Nynorsk)"},
                                         {"pl", "Polish"},
                                         {"pt", "Portuguese (Portugal)"},
                                         {"pt-BR", "Portuguese (Brazil)"},
                                         {"ro", "Romanian"},
                                         {"ru", "Russian"},
                                         {"sv", "Swedish"},
                                         {"uk", "Ukrainian"},
                                         {"zh", "Chinese (Simplified)"},
                                         {"zh-Hant", "Chinese (Traditional)"}};

constexpr PromptLanguage kAlma[] = {{"cs", "Czech"},     {"de", "German"},  {"en", "English"},
                                    {"is", "Icelandic"}, {"ru", "Russian"}, {"zh", "Chinese"}};

// The codes stand in Seed-X's prompts.
constexpr PromptLanguage kSeedX[] = {
    {"ar", "Arabic"},           {"cs", "Czech"},      {"da", "Danish"},    {"de", "German"},   {"en", "English"},
    {"es", "Spanish"},          {"fi", "Finnish"},    {"fr", "French"},    {"hr", "Croatian"}, {"hu", "Hungarian"},
    {"id", "Indonesian"},       {"it", "Italian"},    {"ja", "Japanese"},  {"ko", "Korean"},   {"ms", "Malay"},
    {"nb", "Norwegian Bokmal"}, {"nl", "Dutch"},      {"no", "Norwegian"}, {"pl", "Polish"},   {"pt", "Portuguese"},
    {"ro", "Romanian"},         {"ru", "Russian"},    {"sv", "Swedish"},   {"th", "Thai"},     {"tr", "Turkish"},
    {"uk", "Ukrainian"},        {"vi", "Vietnamese"}, {"zh", "Chinese"}};

// Rows that name languages in English and have many.
constexpr PromptLanguage kMany[] = {
    {"af", "Afrikaans"},  {"ar", "Arabic"},    {"az", "Azerbaijani"}, {"be", "Belarusian"}, {"bg", "Bulgarian"},
    {"bn", "Bengali"},    {"bs", "Bosnian"},   {"ca", "Catalan"},     {"cs", "Czech"},      {"cy", "Welsh"},
    {"da", "Danish"},     {"de", "German"},    {"el", "Greek"},       {"en", "English"},    {"es", "Spanish"},
    {"et", "Estonian"},   {"fa", "Persian"},   {"fi", "Finnish"},     {"fr", "French"},     {"ga", "Irish"},
    {"gl", "Galician"},   {"gu", "Gujarati"},  {"he", "Hebrew"},      {"hi", "Hindi"},      {"hr", "Croatian"},
    {"hu", "Hungarian"},  {"hy", "Armenian"},  {"id", "Indonesian"},  {"is", "Icelandic"},  {"it", "Italian"},
    {"ja", "Japanese"},   {"ka", "Georgian"},  {"kk", "Kazakh"},      {"km", "Khmer"},      {"kn", "Kannada"},
    {"ko", "Korean"},     {"ky", "Kyrgyz"},    {"lo", "Lao"},         {"lt", "Lithuanian"}, {"lv", "Latvian"},
    {"mk", "Macedonian"}, {"ml", "Malayalam"}, {"mn", "Mongolian"},   {"mr", "Marathi"},    {"ms", "Malay"},
    {"mt", "Maltese"},    {"my", "Burmese"},   {"ne", "Nepali"},      {"nl", "Dutch"},      {"no", "Norwegian"},
    {"pa", "Punjabi"},    {"pl", "Polish"},    {"ps", "Pashto"},      {"pt", "Portuguese"}, {"ro", "Romanian"},
    {"ru", "Russian"},    {"sk", "Slovak"},    {"sl", "Slovenian"},   {"so", "Somali"},     {"sr", "Serbian"},
    {"sv", "Swedish"},    {"sw", "Swahili"},   {"ta", "Tamil"},       {"te", "Telugu"},     {"th", "Thai"},
    {"tl", "Tagalog"},    {"tr", "Turkish"},   {"uk", "Ukrainian"},   {"ur", "Urdu"},       {"uz", "Uzbek"},
    {"vi", "Vietnamese"}, {"xh", "Xhosa"},     {"yo", "Yoruba"},      {"zh", "Chinese"},    {"zu", "Zulu"}};

}  // namespace

struct Translator {
  const char* name;
  const char* marks;        // in the directory's name, without hyphens and the like, and with blanks between
  const char* in_template;  // what only its template has; null: the name alone counts
  Wording wording;
  std::span<const PromptLanguage> languages;  // empty: the template has the table
  bool plain = false;                         // no template
  bool first_line = false;
  bool names_source = true;
  uint32_t beams = 1;
};

namespace {

constexpr const char* kBriefly = "Translate the following segment into {to}, without additional explanation.\n\n{text}";

// Rows with longer names stand before those whose names they hold.
const Translator kTranslators[] = {
    {"HY-MT1.5 and Hy-MT2",
     " hymt hymt15 hymt2 ",
     "hy_place▁holder",
     {kBriefly, "将以下文本翻译为{to_chinese}，注意只需要输出翻译后的结果，不要额外解释：\n\n{text}"},
     kHunyuan,
     false,
     false,
     false},
    {"Hunyuan-MT",
     " hunyuanmt ",
     nullptr,
     {kBriefly, "把下面的文本翻译成{to_chinese}，不要额外解释。\n\n{text}"},
     kHunyuan,
     false,
     false,
     false},
    {"TranslateGemma", " translategemma ", "source_lang_code", {"{text}"}, {}},
    {"EuroLLM",
     " eurollm ",
     nullptr,
     {"Translate the following {from} source text to {to}:\n{from}: {text} \n{to}: "},
     kEuroLlm},
    {"Tower+",
     " towerplus tower+ ",
     nullptr,
     {"Translate the following {from} source text to {to}:\n{from}: {text}\n{to}: "},
     kTowerPlus},
    {"TowerInstruct",
     " towerinstruct ",
     nullptr,
     {"Translate the following text from {from} into {to}.\n{from}: {text}\n{to}:"},
     kTower},
    {"LLaMAX",
     " llamax ",
     nullptr,
     {"Below is an instruction that describes a task, paired with an input that provides further context. Write a "
      "response that appropriately completes the request.\n### Instruction:\nTranslate the following sentences from "
      "{from} to {to}.\n### Input:\n{text}\n### Response:"},
     kMany,
     true},
    {"ALMA",
     " alma7b alma13b ",
     nullptr,
     {"Translate this from {from} to {to}:\n{from}: {text}\n{to}:"},
     kAlma,
     true,
     true,
     true,
     5},
    {"Seed-X",
     " seedx ",
     nullptr,
     {"Translate the following {from} sentence into {to}:\n{text} <{to_code}>"},
     kSeedX,
     true,
     false,
     true,
     4},
    {"YanoljaNEXT-Rosetta",
     " yanoljanextrosetta ",
     nullptr,
     {"{text}", nullptr, "Translate the user's text to {to}."},
     kMany,
     false,
     false,
     false},
};

bool is_named(std::string_view marks, std::string_view name) {
  for (size_t begin = 1, end; (end = marks.find(' ', begin)) != marks.npos; begin = end + 1)
    if (name.starts_with(marks.substr(begin, end - begin))) return true;
  return false;
}

// A text that stands for the user's while the frame is made: no template has it, and none trims it.
constexpr std::string_view kTextMark = "lapilli-text-mark";

std::string worded(std::string text, const std::vector<std::pair<std::string_view, std::string_view>>& values) {
  for (const auto& [name, value] : values)
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  return text;
}

Result<PromptLanguage> prompt_language(const Translator& row, const std::string& asked) {
  if (row.languages.empty()) return PromptLanguage{asked, asked};
  LanguageTable table;
  for (size_t i = 0; i < row.languages.size(); ++i) {
    if (row.languages[i].code == asked) return row.languages[i];
    table.add(row.languages[i].code, static_cast<int32_t>(i));
  }
  LAPILLI_TRY(const auto* entry, table.require(asked));
  return row.languages[static_cast<size_t>(entry->id)];
}

bool is_chinese(const PromptLanguage& language) { return language.code == "yue" || language.code.starts_with("zh"); }

// TranslateGemma's: a content of one part, with codes.
nlohmann::ordered_json coded_message(std::string from, std::string to) {
  std::replace(from.begin(), from.end(), '_', '-');
  std::replace(to.begin(), to.end(), '_', '-');
  nlohmann::ordered_json part = {
      {"type", "text"}, {"source_lang_code", from}, {"target_lang_code", to}, {"text", kTextMark}};
  return {{"role", "user"}, {"content", nlohmann::ordered_json::array({part})}};
}

Result<nlohmann::ordered_json> messages_of(const Translator& row, const PromptLanguage& from, const PromptLanguage& to,
                                           const std::string& user) {
  auto messages = nlohmann::ordered_json::array();
  if (row.wording.system)
    messages.push_back({{"role", "system"}, {"content", worded(row.wording.system, {{"{to}", to.name}})}});
  if (row.languages.empty())
    messages.push_back(coded_message(std::string(from.code), std::string(to.code)));
  else
    messages.push_back({{"role", "user"}, {"content", user}});
  return messages;
}

Result<std::string> framed_mark(const Translator& row, const ChatTemplate* chat, const PromptLanguage& from,
                                const PromptLanguage& to) {
  const bool chinese = row.wording.chinese && (is_chinese(from) || is_chinese(to));
  const std::string user =
      worded(chinese ? row.wording.chinese : row.wording.user, {{"{from}", from.name},
                                                                {"{to}", to.name},
                                                                {"{to_code}", to.code},
                                                                {"{to_chinese}", to.chinese ? to.chinese : ""},
                                                                {"{text}", kTextMark}});
  if (row.plain) return user;
  if (!chat)
    return fail(ErrorCode::unsupported,
                "prompts of %s go through the model's chat template, and the directory has none: get "
                "chat_template.jinja or tokenizer_config.json of the published model",
                row.name);
  LAPILLI_TRY(const auto messages, messages_of(row, from, to, user));
  auto text = chat->render(messages, {});
  if (!text && row.languages.empty())
    return std::move(text).error().in("\"" + std::string(from.code) + "\" to \"" + std::string(to.code) +
                                      "\" (are these languages of " + row.name + "?)");
  return text;
}

Result<TextFrame> frame_of(const Translator& row, const std::string& prompt) {
  const size_t at = prompt.find(kTextMark);
  if (at == prompt.npos || prompt.find(kTextMark, at + 1) != prompt.npos)
    return fail(ErrorCode::unsupported, "the chat template does not write the text once, as one of %s does", row.name);
  TextFrame frame;
  frame.before = prompt.substr(0, at);
  frame.behind = prompt.substr(at + kTextMark.size());
  frame.add_special = row.plain;
  frame.first_line = row.first_line;
  return frame;
}

Status both_given(const Translator& row, const std::string& from, const std::string& to) {
  if (!to.empty() && (!from.empty() || !row.names_source)) return {};
  return fail(ErrorCode::invalid_argument,
              "%s translates between several languages, and its prompt names %s: give %s (--from and --to, "
              "source_language and target_language)",
              row.name, row.names_source ? "both" : "the target", row.names_source ? "both" : "it");
}

}  // namespace

const Translator* find_translator(std::string_view directory, const ChatTemplate* chat) {
  const std::string name = bare_name(directory);
  for (const Translator& row : kTranslators)
    if (chat && row.in_template && chat->has(row.in_template)) return &row;
  for (const Translator& row : kTranslators)
    if (is_named(row.marks, name)) return &row;
  return nullptr;
}

Result<TranslatorPrompt> translator_prompt(const Translator& row, const ChatTemplate* chat, const std::string& from,
                                           const std::string& to) {
  LAPILLI_CHECK(both_given(row, from, to));
  LAPILLI_TRY(const PromptLanguage target, prompt_language(row, to));
  PromptLanguage source = row.names_source ? PromptLanguage{} : PromptLanguage{"", ""};
  if (!from.empty()) {
    LAPILLI_TRY(source, prompt_language(row, from));
  }
  LAPILLI_TRY(const std::string prompt, framed_mark(row, chat, source, target));
  TranslatorPrompt made;
  LAPILLI_TRY(made.frame, frame_of(row, prompt));
  made.options.do_sample = false;
  made.options.num_beams = row.beams;
  return made;
}

std::vector<std::string> translator_languages(const Translator& row) {
  std::vector<std::string> codes;
  for (const PromptLanguage& language : row.languages) codes.emplace_back(language.code);
  return codes;
}

std::string translator_names() {
  std::string names;
  for (const Translator& row : kTranslators) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace lapilli
