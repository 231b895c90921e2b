// lapilli chat: lines from a terminal or a pipe, each answered with those before in mind.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "cli/arguments/model_names.hpp"
#include "cli/arguments/text_arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/blanks.hpp"
#include "cli/files/json_object.hpp"
#include "cli/files/line_reader.hpp"
#include "cli/output.hpp"
#include "cli/run/interruption.hpp"
#include "cli/run/text_model.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr TextCommand kChat = {"chat", "generate", "Talk with a model that was trained for chats", "", "answer",
                               false,  false};

constexpr const char* kChatFooter =
    R"(Each line is said to the model, by the chat template of its directory, and the answer is printed as it comes. The model
knows what was said before, until it has no room for more. /reset forgets it, /exit or the end of input ends the
program. From a pipe each line is read and answered in turn; an answer ends its line.

Examples:
  lapilli chat --model Qwen/Qwen3-0.6B --no-thoughts
  lapilli chat --model ./SmolLM2-135M-Instruct --system "Be brief." --sample --seed 7
  printf 'Hello!\nAnd in French?\n' | lapilli chat --model Qwen/Qwen2.5-0.5B-Instruct

)";

std::string message_of(const char* role, const std::string& text) {
  const std::string object = JsonObject("{}").with("role", role);
  return JsonObject(object).with("content", text);
}

class ChatRun {
 public:
  ChatRun(TextArguments arguments, const Context& context)
      : arguments_(std::move(arguments)), context_(context), model_(kChat, arguments_) {}

  int run() {
    if (const int code = prepare()) return code;
    catch_interrupts();
    LineReader lines(InputFile::standard_input());
    for (int code = exit_ok; !interrupted();) {
      ask_for_line();
      const auto read = lines.read(1);
      if (read.empty()) break;
      if (read.front().text == "/exit") break;
      if ((code = take(read.front()))) return code;
    }
    if (interrupted()) return 128 + interrupted();
    return failed_ ? exit_some_failed : exit_ok;
  }

 private:
  int prepare() {
    if (const std::string wrong = contradiction(arguments_, false); !wrong.empty()) return complain(exit_usage, wrong);
    std::string options;
    if (const int error = read_options(arguments_, options))
      return complain(exit_input, arguments_.options.substr(1) + ": " + std::strerror(error));
    std::string directory = arguments_.model;
    constexpr Ability kChats = {"does not chat", "does", "Qwen/Qwen3-0.6B"};
    if (const int code = find_model_with(kChats, directory)) return code;
    if (const auto loaded = model_.load(directory, options); !loaded)
      return complain(exit_code(loaded.error().status()), loaded.error().message());
    return exit_ok;
  }

  void ask_for_line() const {
    if (!is_terminal(0) || context_.quiet) return;
    std::fputs("> ", stderr);
    std::fflush(stderr);
  }

  // Gives the exit code of what ends the program.
  int take(const Line& line) {
    if (line.text == "/reset") {
      history_.clear();
      return exit_ok;
    }
    if (is_blank(line.text)) return exit_ok;
    if (line.too_long) return fail_line(line, "the line is too long");
    Options options = model_.options();
    options.chat.messages = history_.empty() ? "" : "[" + history_ + "]";
    int code = exit_ok;
    options.stream = [&code](size_t, std::string_view text, const Ids&) {
      code = print(text);
      return code == exit_ok;
    };
    options.progress = [](uint64_t, uint64_t) { return interrupted() == 0; };
    const auto made = model_.model().generate({line.text}, options);
    if (code != exit_ok || interrupted()) return code;
    if (!made) return complain(exit_code(made.error().status()), made.error().message());
    if (!(*made)[0].ok()) return fail_line(line, (*made)[0].error->message());
    remember(line.text, (*made)[0].sequences.front().text);
    return print("\n");
  }

  int fail_line(const Line& line, const std::string& why) {
    failed_ = true;
    return complain(exit_ok, "line " + std::to_string(line.number) + ": " + why);
  }

  void remember(const std::string& said, const std::string& answer) {
    history_ += (history_.empty() ? "" : ",") + message_of("user", said) + "," + message_of("assistant", answer);
  }

  const TextArguments arguments_;
  const Context& context_;
  TextModel model_;
  std::string history_;  // messages as JSON, with commas between
  bool failed_ = false;
};

}  // namespace

void add_chat(CLI::App& app, Context& context) {
  auto a = std::make_shared<TextArguments>();
  CLI::App* command = app.add_subcommand(kChat.name, kChat.description);
  add_text_arguments(*command, kChat, *a);
  command->footer(std::string(kChatFooter) + kExitCodeHelp);
  command->callback([&context, a] {
    a->chat.use = a->stream = true;
    context.run = [&context, a] { return ChatRun(*a, context).run(); };
  });
}

}  // namespace lapilli::cli
