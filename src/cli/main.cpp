// The lapilli program: reads the command line and starts a command.
#include <algorithm>
#include <cstdio>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/path.hpp"
#include "cli/arguments/command_tables.hpp"
#include "cli/arguments/config_file.hpp"
#include "cli/arguments/foreign_options.hpp"
#include "cli/arguments/suggestions.hpp"
#include "cli/commands.hpp"
#include "cli/library_messages.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {
constexpr char kMark = '\x1f';  // unit separator: occurs in no file name and no sentence
}  // namespace

std::string protect(std::string argument) {
  const bool list = argument.size() > 1 && argument.front() == '[' && argument.back() == ']';
  if (list || argument == "++") argument += kMark;
  return argument;
}

std::string unprotect(std::string argument) {
  const bool meant = !argument.empty() && (argument.front() == '[' || argument.front() == '+');
  if (meant && argument.size() > 2 && argument.back() == kMark) argument.pop_back();
  return argument;
}

namespace {

constexpr const char* kHelp =
    R"(Examples:
  lapilli translate "Where is the station?"       the bundled model: English to French
  lapilli translate letter.txt > lettre.txt       a file, line by line
  lapilli models --from en --to de                published models that should run
  lapilli fetch Helsinki-NLP/opus-mt-en-de        gets one; then:
  lapilli translate --model Helsinki-NLP/opus-mt-en-de < in
  lapilli summarize --model ./bart-large-cnn a.txt  a text in a few sentences
  lapilli transcribe --model ./whisper-small --srt talk.mp3   subtitles of a recording
  lapilli devices                                 what it can run on, and what it would choose
  lapilli help COMMAND                            all about a command

LAPILLI_MODEL names another model to use when --model is not given, LAPILLI_CAPS a capability mask.
LAPILLI_CACHE (~/.cache/lapilli) keeps data for a faster start, unless LAPILLI_NO_CACHE is set. The note that there is
no GPU comes once a day; with --verbose, or where nothing is kept, each time.

)";

void add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Tell all about a command, as COMMAND --help does");
  command->add_option("command")->type_name("COMMAND");
}

void add_commands(CLI::App& app, Context& context) {
  app.formatter(help_formatter());
  app.fallthrough();  // the options below are allowed behind the command, too
  app.set_version_flag("-V,--version", std::string("lapilli ") + lapilli_version());
  app.add_flag("-q,--quiet", context.quiet, "Errors only on stderr");
  app.add_flag("-v,--verbose", context.verbose, "More messages on stderr");
  app.add_option("--config", context.config, "Settings from this file; \"\": from none")->type_name("FILE");
  app.require_subcommand(0, 1);
  app.footer(kHelp + std::string(kConfigRule) + "\n" + kExitCodeHelp);
  add_text_commands(app, context);
  add_chat(app, context);
  add_transcribe(app, context);
  add_join(app, context);
  add_picture_commands(app, context);
  add_rerank(app, context);
  add_search(app, context);
  add_serve(app, context);
  add_devices(app, context);
  add_doctor(app, context);
  add_models(app, context);
  add_fetch(app, context);
  add_inspect(app, context);
  add_pack(app, context);
  add_plan(app, context);
  add_bench(app, context);
  add_tune(app, context);
  add_completion(app, context);
  add_help(app);
  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (!option->get_positional() && option->get_items_expected_max() == 1) option->transform(unprotect);
    }
  }
}

// Among the options allowed before the command, only --config has a value.
std::vector<std::string>::iterator find_command(std::vector<std::string>& arguments) {
  auto at = arguments.begin();
  while (at != arguments.end() && at->starts_with('-')) {
    const bool has_value = *at == "--config";
    ++at;
    if (has_value && at != arguments.end()) ++at;
  }
  return at;
}

// "help COMMAND" becomes "COMMAND --help".
void rewrite_help(std::vector<std::string>& arguments) {
  const auto command = find_command(arguments);
  if (command == arguments.end() || *command != "help") return;
  arguments.erase(command);
  arguments.emplace_back("--help");
}

std::vector<std::string> names_of(const std::vector<CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

// Advice on a word that is no command's name, nor like one.
std::string instead_of_command(const std::string& typed) {
  if (typed == "version") return "; lapilli --version tells it";
  if (typed.find(' ') != std::string::npos) return "; a text stands behind a command: lapilli translate TEXT";
  return "; lapilli --help lists them";
}

// An error message about the command's name; empty if there is none.
std::string wrong_command(CLI::App& app, std::vector<std::string>& arguments) {
  const auto typed = find_command(arguments);
  if (typed == arguments.end()) return "";
  const auto names = names_of(app.get_subcommands({}));
  if (std::find(names.begin(), names.end(), *typed) != names.end()) return "";
  const std::string meant = did_you_mean(*typed, names);
  return "there is no command " + *typed + (meant.empty() ? instead_of_command(*typed) : meant);
}

bool takes_texts(const CLI::App& command) {
  return command.get_option_no_throw("--text") != nullptr || command.get_option_no_throw("--in") != nullptr;
}

// The command's options, such as "--beam", and those of all commands.
std::vector<std::string> option_names(const CLI::App& app, const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* owner : {&app, &command}) {
    for (const CLI::Option* o : owner->get_options()) {
      for (const std::string& long_name : o->get_lnames()) names.push_back("--" + long_name);
    }
  }
  return names;
}

// A message about arguments that CLI11 did not expect.
std::string unexpected(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  const CLI::App& command = commands.empty() ? app : *commands.back();
  const std::string help = "; see lapilli " + (commands.empty() ? "" : command.get_name() + " ") + "--help";
  const auto left = app.remaining(true);
  const auto option = std::find_if(left.begin(), left.end(), [](const auto& a) { return a.starts_with('-'); });
  if (option == left.end()) return command.get_name() + " takes no argument " + unprotect(left.front()) + help;
  const auto known = option_names(app, command);
  const std::string typed = option->substr(0, option->find('='));
  std::string hint = foreign_option(typed, known);
  if (hint.empty()) hint = did_you_mean(typed, known);
  if (hint.empty()) hint = takes_texts(command) ? "; a text that begins with - stands behind --" : help;
  return (commands.empty() ? "there is" : command.get_name() + " has") + " no option " + typed + hint;
}

// CLI11 calls an option by its long name; this restores the typed one.
std::string named_as_typed(std::string message, const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_snames().empty() || option->get_lnames().empty()) continue;
      const std::string long_name = "--" + option->get_lnames()[0], short_name = "-" + option->get_snames()[0];
      const auto typed = [&](const std::string& name) {
        return std::any_of(arguments.begin(), arguments.end(), [&](const auto& a) { return a.starts_with(name); });
      };
      if (message.starts_with(long_name + ":") && !typed(long_name) && typed(short_name))
        message.replace(0, long_name.size(), short_name);
    }
  }
  return message;
}

std::string switch_of(const std::string& argument) { return argument.substr(0, argument.find('=')); }

bool names(const std::string& message, const std::string& option) {
  for (size_t at = message.find(option); at != std::string::npos; at = message.find(option, at + 1)) {
    const size_t end = at + option.size();
    if (end == message.size() || message.find_first_of(" :=\n", end) == end) return true;
  }
  return false;
}

// Adds the file's name if the message names a switch from the file.
std::string configured_by(const Configured& configured, const std::string& message) {
  for (const std::string& argument : configured.arguments)
    if (names(message, switch_of(argument))) return "settings in " + configured.path + ": " + message;
  return message;
}

// Points to the settings' file after a command's own error, which does not know of it.
int tell_configured(const Configured& configured) {
  std::string switches;
  for (const std::string& argument : configured.arguments)
    switches += (switches.empty() ? "" : ", ") + switch_of(argument);
  return switches.empty()
             ? int{exit_usage}
             : complain(exit_usage, "settings in " + configured.path + ": what is set there is " + switches);
}

int wrong_usage(const std::string& message) { return complain(exit_usage, message); }

// Empty if commands and options are set now; otherwise the program's exit code.
std::optional<int> parse(CLI::App& app, const std::vector<std::string>& arguments, const Configured& configured) {
  std::vector<std::string> reversed = configured.arguments;
  for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) reversed.push_back(protect(*it));
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ExtrasError&) {
    return wrong_usage(unexpected(app));
  } catch (const CLI::ParseError& e) {
    const bool asked = e.get_exit_code() == 0;  // --help, --version
    std::ostringstream out, err;
    app.exit(e, out, err);
    if (asked) return print(out.str());
    const std::string message = configured_by(configured, err.str());
    std::fprintf(stderr, "lapilli: %s", named_as_typed(message, app, arguments).c_str());
    return exit_usage;
  }
  return {};
}

bool wants_no_cache(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("--no-cache");
  return !environment("LAPILLI_NO_CACHE").empty() || (option && option->count() > 0 && option->as<bool>());
}

int run(std::vector<std::string> arguments) {
  CLI::App app{
      "Lapilli translates and summarizes text, transcribes speech, reads pictures, and makes vectors, labels and "
      "answers of texts, with Transformer models on any Vulkan 1.1 device.",
      "lapilli"};
  // On Windows CLI11 reads arguments that begin with / as options; here they are texts or files, as elsewhere.
  app.allow_windows_style_options(false);
  Context context;
  add_commands(app, context);
  // CLI11 would pass arguments behind "--" to the main command.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    context.behind_dashes.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  rewrite_help(arguments);
  if (const std::string wrong = wrong_command(app, arguments); !wrong.empty()) return wrong_usage(wrong);
  Configured configured;
  if (const auto command = find_command(arguments); command != arguments.end()) {
    const CLI::App& named = *app.get_subcommand(*command);
    const std::string wrong = foreign_spelling(arguments, option_names(app, named));
    if (!wrong.empty()) return wrong_usage(wrong);
    configured = read_config(app, named, arguments);
  }
  if (!configured.error.empty()) return complain(configured.code, configured.error);
  if (const auto code = parse(app, arguments, configured)) return *code;
  const auto commands = app.get_subcommands();
  if (!context.behind_dashes.empty() && (commands.empty() || !takes_texts(*commands.back())))
    return wrong_usage("only commands on texts take arguments behind --");
  if (!context.run) {
    std::fprintf(stderr, "%s", app.help().c_str());
    return exit_usage;
  }
  const bool remember = !context.verbose && !wants_no_cache(*commands.back());
  show_library_messages(context.quiet     ? LAPILLI_LOG_ERROR
                        : context.verbose ? LAPILLI_LOG_VERBOSE
                                          : LAPILLI_LOG_NOTE,
                        remember);
  const int code = context.run();
  return code == exit_usage ? tell_configured(configured) : code;
}

}  // namespace

}  // namespace lapilli::cli

int main(int argc, char** argv) {
  using namespace lapilli::cli;
  try {
    prepare_streams();
    return run(utf8_arguments(argc, argv));
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "lapilli: out of memory\n");
    return exit_memory;
  } catch (const std::length_error&) {
    std::fprintf(stderr, "lapilli: out of memory\n");
    return exit_memory;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lapilli: %s\n", e.what());
    return exit_internal;
  }
}
