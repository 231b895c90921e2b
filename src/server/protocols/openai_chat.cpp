// POST /v1/chat/completions: what a decoder answers by the chat template of its directory, as `lapilli generate
// --chat`.
#include <algorithm>
#include <utility>

#include "server/protocols/openai_text.hpp"

namespace lapilli::server {

namespace {

constexpr size_t kMostMessages = 4096;

std::string role_of(const nlohmann::json& message) {
  const auto role = message.find("role");
  if (role == message.end() || !role->is_string()) return "";
  const std::string name = role->get<std::string>();
  return name == "developer" ? "system" : name;
}

// The text of one part of a content, or why it is none.
std::string part_text(const nlohmann::json& part, const std::string& where, Asked& from) {
  const auto type = part.is_object() ? part.find("type") : part.end();
  if (!part.is_object() || type == part.end() || !type->is_string()) {
    from.refuse("messages", where + " must be an object with a type");
    return "";
  }
  const std::string name = type->get<std::string>();
  const auto text = part.find("text");
  if (name == "text" && text != part.end() && text->is_string()) return text->get<std::string>();
  from.refuse("messages",
              where + (name == "text" ? " has no text" : " is of the type \"" + name + "\", and only text is served"));
  return "";
}

// Parts are joined; no content is as an empty one.
std::string content_of(const nlohmann::json& message, const std::string& where, Asked& from) {
  const auto content = message.find("content");
  if (content == message.end() || content->is_null()) return "";
  if (content->is_string()) return content->get<std::string>();
  std::string all;
  if (!content->is_array()) from.refuse("messages", where + ".content must be a text or a list of parts");
  for (size_t i = 0; content->is_array() && i < content->size(); ++i)
    all += part_text((*content)[i], where + ".content[" + std::to_string(i) + "]", from);
  return all;
}

// A call of a tool, or something else that no template would get to see.
std::string unserved_member(const nlohmann::json& message) {
  for (const char* name : {"tool_calls", "function_call", "audio"}) {
    const auto member = message.find(name);
    if (member != message.end() && !member->is_null() && !member->empty()) return name;
  }
  return "";
}

nlohmann::json read_message(const nlohmann::json& message, const std::string& where, Asked& from) {
  if (!message.is_object()) {
    from.refuse("messages", where + " must be an object");
    return nullptr;
  }
  const std::string role = role_of(message), unserved = unserved_member(message);
  if (role != "system" && role != "user" && role != "assistant")
    from.refuse("messages", where + ".role must be system, developer, user or assistant");
  if (!unserved.empty()) from.refuse("messages", where + "." + unserved + " is not served");
  return {{"role", role}, {"content", content_of(message, where, from)}};
}

void read_messages(Asked& from, TextRequest& to) {
  const nlohmann::json* given = from.json("messages");
  if (!given || !given->is_array() || given->empty()) return from.refuse("messages", "give a list of messages");
  if (given->size() > kMostMessages)
    return from.refuse("messages",
                       std::to_string(given->size()) + " are above the limit of " + std::to_string(kMostMessages));
  nlohmann::json messages = nlohmann::json::array();
  std::vector<std::string> texts;
  for (size_t i = 0; i < given->size() && !from.refusal(); ++i) {
    messages.push_back(read_message((*given)[i], "[" + std::to_string(i) + "]", from));
    if (!from.refusal()) texts.push_back(messages.back()["content"].get<std::string>());
  }
  check_characters(from, "messages", texts);
  if (!from.refusal()) to.options.chat.messages = messages.dump();
}

void read_template_arguments(Asked& from, TextRequest& to) {
  const nlohmann::json* arguments = from.json("chat_template_kwargs");
  if (!arguments) return;
  if (!arguments->is_object()) return from.refuse("chat_template_kwargs", "must be an object");
  to.options.chat.arguments = arguments->dump();
}

}  // namespace

void openai_chat(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  constexpr int64_t kMostTop = 20;
  Asked from(desk, *exchange);
  TextRequest request;
  request.chat = request.options.chat.use = true;
  request.texts = {""};
  read_messages(from, request);
  read_template_arguments(from, request);
  read_text_options(desk, from, request);
  const int64_t top = from.whole("top_logprobs", 0, kMostTop).value_or(0);
  request.log_probabilities = from.flag("logprobs").value_or(false);
  if (top > 0 && !request.log_probabilities) from.refuse("top_logprobs", "goes with logprobs");
  read_log_probabilities(from, request, top > 0 ? "top_logprobs" : "logprobs", top);
  if (from.refusal()) return refuse_openai(*exchange, from.refusal());
  start_text(desk, exchange, std::move(request));
}

}  // namespace lapilli::server
