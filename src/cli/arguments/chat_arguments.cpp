#include "cli/arguments/chat_arguments.hpp"

#include <cstring>

#include "base/path.hpp"
#include "cli/commands.hpp"
#include "cli/files/json_object.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

// Taken raw: CLI11's own conversion would interpret braces and brackets.
CLI::callback_t appended_to(std::vector<std::string>& to) {
  return [&to](const CLI::results_t& given) {
    for (const std::string& one : given) to.push_back(unprotect(one));
    return true;
  };
}

}  // namespace

void add_answer_arguments(CLI::App& command, ChatArguments& a) {
  command.add_option("--system", a.system, "Words for the model before all else, as far as its template takes them")
      ->type_name("TEXT");
  command
      .add_option(
          "--template-arg", appended_to(a.template_arguments),
          "A variable of the chat template, its value as JSON or as text (enable_thinking=false); may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("NAME=VALUE");
  command.add_option("--stop", appended_to(a.stops), "End the output before this text; may be repeated")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->type_name("TEXT");
  command.add_flag("--no-thoughts", a.no_thoughts, "Leave out <think>...</think> at the beginning of an output");
  command
      .add_option("--max-new-tokens", a.max_new_tokens,
                  "Longest output in tokens; without it, the model's files decide, or 20, and 512 for an answer")
      ->type_name("N")
      ->transform(whole_number(1, kMostLength));
}

void add_chat_arguments(CLI::App& command, ChatArguments& a) {
  command.add_flag("--chat", a.use, "Say each text to the model, by the chat template of its directory, for an answer");
  command
      .add_option("--messages", a.messages,
                  "A JSON list of messages before each text; without a text, the model answers the last of them")
      ->type_name("FILE");
  add_answer_arguments(command, a);
}

std::string contradiction_of_chat(const TextArguments& a) {
  const ChatArguments& c = a.chat;
  const bool needs_chat = !c.system.empty() || !c.messages.empty() || !c.template_arguments.empty();
  if (needs_chat && !c.use) return "--system, --messages and --template-arg are for --chat";
  if (c.use && a.ids) return "--chat takes texts, not --ids";
  for (const std::string& stop : c.stops)
    if (stop.empty()) return "--stop: a text is needed";
  for (const std::string& one : c.template_arguments)
    if (one.find('=') == std::string::npos || one.front() == '=')
      return "--template-arg " + one + ": NAME=VALUE is needed, such as enable_thinking=false";
  return "";
}

std::string read_chat(const ChatArguments& a, ChatOptions& to) {
  to.use = a.use;
  to.system = a.system;
  to.stops = a.stops;
  to.leave_out_thoughts = a.no_thoughts;
  for (const std::string& one : a.template_arguments) {
    const std::string name = one.substr(0, one.find('=')), value = one.substr(name.size() + 1);
    const std::string object = to.arguments.empty() ? "{}" : to.arguments;
    const bool json = JsonObject("{\"value\":" + value + "}").error().empty();
    to.arguments = json ? JsonObject(object).with_json(name, value) : JsonObject(object).with(name, value);
  }
  if (a.messages.empty()) return "";
  if (const int error = read_whole(a.messages, to.messages)) return a.messages + ": " + std::strerror(error);
  return "";
}

}  // namespace lapilli::cli
