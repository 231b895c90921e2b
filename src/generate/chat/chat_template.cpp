#include "generate/chat/chat_template.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "base/json_depth.hpp"
#include "jinja/template.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

using ChatJson = nlohmann::ordered_json;

Result<ChatJson> chat_json(const std::string& text, const std::string& what, ErrorCode code) {
  if (json_nests_too_deep(text)) return fail(code, "%s nests too deep", what);
  ChatJson json = ChatJson::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(code, "%s is no JSON", what);
  return json;
}

// A file that need not be there; null: it is not.
Result<ChatJson> optional_object(const Files& files, const char* name) {
  const FileName file = files / name;
  if (!file.there()) return ChatJson();
  LAPILLI_TRY(const std::string text, read_text_file(file));
  return chat_json(text, file.path(), ErrorCode::invalid_data);
}

// A template as the directory has it.
struct TemplateSource {
  std::string text, path;
};
using TemplateSources = std::map<std::string, TemplateSource>;

Status add_file(const Files& files, const std::string& name, const char* as, TemplateSources& to) {
  const FileName file = files / name.c_str();
  if (!file.there()) return {};
  LAPILLI_TRY(std::string text, read_text_file(file));
  to[as] = {std::move(text), file.path()};
  return {};
}

// A text, or a list of {name, template}.
Status add_member(const ChatJson& config, const std::string& path, TemplateSources& to) {
  const auto at = config.is_object() ? config.find("chat_template") : config.end();
  if (at == config.end() || at->is_null()) return {};
  if (at->is_string()) {
    to["default"] = {at->get<std::string>(), path};
    return {};
  }
  if (!at->is_array()) return fail(ErrorCode::invalid_data, "%s: chat_template is no text and no list", path);
  for (const ChatJson& one : *at) {
    const bool whole = one.is_object() && one.contains("name") && one["name"].is_string() && one.contains("template") &&
                       one["template"].is_string();
    if (!whole) return fail(ErrorCode::invalid_data, "%s: chat_template lists what is no {name, template}", path);
    to[one["name"].get<std::string>()] = {one["template"].get<std::string>(), path};
  }
  return {};
}

Result<TemplateSources> find_sources(const Files& files, const ChatJson& config) {
  TemplateSources found;
  for (const char* name : {"tool_use", "rag", "default"})
    LAPILLI_CHECK(add_file(files, "additional_chat_templates/" + std::string(name) + ".jinja", name, found));
  LAPILLI_CHECK(add_file(files, "chat_template.jinja", "default", found));
  if (!found.empty()) return found;
  LAPILLI_CHECK(add_member(config, (files / "tokenizer_config.json").path(), found));
  if (!found.empty()) return found;
  LAPILLI_TRY(const ChatJson processor, optional_object(files, "chat_template.json"));
  LAPILLI_CHECK(add_member(processor, (files / "chat_template.json").path(), found));
  return found;
}

// Special tokens by their names: a text, or an object with "content". null: there is none.
void add_tokens(const ChatJson& config, ChatJson& to) {
  if (!config.is_object()) return;
  for (const auto& member : config.items()) {
    if (!member.key().ends_with("_token") || to.contains(member.key())) continue;
    const ChatJson& value = member.value();
    if (value.is_string()) to[member.key()] = value;
    if (value.is_object() && value.contains("content") && value["content"].is_string())
      to[member.key()] = value["content"];
  }
}

Result<ChatJson> list_or_none(const std::string& text, const char* what) {
  if (text.empty()) return ChatJson();
  LAPILLI_TRY(ChatJson json, chat_json(text, what, ErrorCode::invalid_argument));
  if (!json.is_array()) return fail(ErrorCode::invalid_argument, "%s: a JSON list is needed", what);
  return json;
}

}  // namespace

struct ChatTemplate::Impl {
  struct Named {
    jinja::Template parsed;
    std::string text, path;
  };
  std::map<std::string, Named> templates;
  ChatJson tokens = ChatJson::object();

  // "tool_use" if there are tools, else "default", else the only one.
  [[nodiscard]] Result<const Named*> choose(bool tools) const {
    if (const auto at = templates.find("tool_use"); tools && at != templates.end()) return &at->second;
    if (const auto at = templates.find("default"); at != templates.end()) return &at->second;
    if (templates.size() == 1) return &templates.begin()->second;
    std::string names;
    for (const auto& [name, one] : templates) names += (names.empty() ? "" : ", ") + name;
    return fail(ErrorCode::unsupported, "the directory has chat templates for %s and none called default", names);
  }
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::~ChatTemplate() = default;

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::read(const Files& files) {
  LAPILLI_TRY(const ChatJson config, optional_object(files, "tokenizer_config.json"));
  LAPILLI_TRY(const TemplateSources sources, find_sources(files, config));
  if (sources.empty()) return std::shared_ptr<const ChatTemplate>();
  auto made = std::make_unique<Impl>();
  for (const auto& [name, source] : sources) {
    auto parsed = jinja::Template::parse(source.text);
    if (!parsed) return std::move(parsed).error().in(source.path + ": the chat template");
    made->templates.emplace(name, Impl::Named{std::move(*parsed), source.text, source.path});
  }
  LAPILLI_TRY(const ChatJson map, optional_object(files, "special_tokens_map.json"));
  add_tokens(config, made->tokens);
  add_tokens(map, made->tokens);
  return std::shared_ptr<const ChatTemplate>(new ChatTemplate(std::move(made)));
}

Result<std::string> ChatTemplate::render(const ChatJson& messages, const ChatRequest& chat, bool answer) const {
  ChatJson variables = impl_->tokens;
  LAPILLI_TRY(variables["tools"], list_or_none(chat.tools, "tools"));
  variables["documents"] = nullptr;
  variables["add_generation_prompt"] = answer;
  if (!chat.arguments.empty()) {
    LAPILLI_TRY(const ChatJson more,
                chat_json(chat.arguments, "arguments of the template", ErrorCode::invalid_argument));
    if (!more.is_object())
      return fail(ErrorCode::invalid_argument, "arguments of the template: a JSON object is needed");
    variables.update(more);
  }
  variables["messages"] = messages;
  LAPILLI_TRY(const Impl::Named* chosen, impl_->choose(!variables["tools"].empty()));
  auto text = chosen->parsed.render(variables);
  if (text) return text;
  // A refusal in the template's own words is the caller's business, all else the file's.
  const bool own = text.error().code == ErrorCode::invalid_argument;
  return std::move(text).error().in(own ? "the chat template refuses" : chosen->path + ": the chat template");
}

Result<std::string> ChatTemplate::prompt(const ChatRequest& chat, const std::string* user) const {
  LAPILLI_TRY(const ChatJson messages, messages_of(chat, user));
  return render(messages, chat);
}

std::string ChatTemplate::turn_end() const {
  constexpr const char* kAnswer = "lapilli-answer-mark";
  const ChatJson messages = {{{"role", "user"}, {"content", "a"}}, {{"role", "assistant"}, {"content", kAnswer}}};
  const auto text = render(messages, {}, false);
  const size_t at = text ? text->rfind(kAnswer) : std::string::npos;
  return at == std::string::npos ? std::string() : text->substr(at + std::string_view(kAnswer).size());
}

bool ChatTemplate::has(std::string_view text) const {
  for (const auto& [name, one] : impl_->templates)
    if (one.text.find(text) != std::string::npos) return true;
  return false;
}

Result<ChatJson> messages_of(const ChatRequest& chat, const std::string* user) {
  // Templates cut texts by characters; the parser checks those within JSON.
  LAPILLI_CHECK(check_utf8(chat.system, "the system message"));
  if (user) LAPILLI_CHECK(check_utf8(*user, "the text"));
  LAPILLI_TRY(ChatJson messages, list_or_none(chat.messages, "messages"));
  if (messages.is_null()) messages = ChatJson::array();
  for (const ChatJson& one : messages)
    if (!one.is_object() || !one.contains("role") || !one["role"].is_string())
      return fail(ErrorCode::invalid_argument,
                  "messages: each is an object with a role, such as \"user\", and a content");
  if (!chat.system.empty()) messages.insert(messages.begin(), ChatJson{{"role", "system"}, {"content", chat.system}});
  if (user) messages.push_back(ChatJson{{"role", "user"}, {"content", *user}});
  if (messages.empty()) return fail(ErrorCode::invalid_argument, "a chat without a message");
  return messages;
}

}  // namespace lapilli
