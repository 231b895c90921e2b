// The lapilli program: reads the command line and starts a command.
#include <algorithm>
#include <cstdio>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {
constexpr char kMark = '\x1f';  // unit separator: in no file name and no sentence
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
  lapilli translate --model opus-mt-en-de < in    a published model directory
  lapilli summarize --model bart-large-cnn a.txt  a text in a few sentences
  lapilli devices                                 what it can run on, and what it would choose
  lapilli COMMAND --help                          all about a command

LAPILLI_MODEL names another model to use when --model is not given, LAPILLI_CAPS a capability mask.

)";

int run(std::vector<std::string> arguments) {
  CLI::App app{"Lapilli translates and summarizes text with Transformer models on any Vulkan 1.1 device.", "lapilli"};
  Context context;
  app.fallthrough();  // the options below may stand behind the command, too
  app.set_version_flag("--version", std::string("lapilli ") + lapilli_version());
  app.add_flag("-q,--quiet", context.quiet, "Errors only on stderr");
  app.add_flag("-v,--verbose", context.verbose, "More messages on stderr");
  app.require_subcommand(0, 1);
  app.footer(kHelp + std::string(kExitCodeHelp));
  add_text_commands(app, context);
  add_devices(app, context);
  add_inspect(app, context);
  add_plan(app, context);
  add_bench(app, context);

  for (CLI::App* command : app.get_subcommands({})) {
    for (CLI::Option* option : command->get_options()) {
      if (!option->get_positional() && option->get_items_expected_max() == 1) option->transform(unprotect);
    }
  }
  // CLI11 would give what is behind "--" to the main command.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) {
    context.behind_dashes.assign(dashes + 1, arguments.end());
    arguments.erase(dashes, arguments.end());
  }
  std::vector<std::string> reversed;
  for (auto it = arguments.rbegin(); it != arguments.rend(); ++it) reversed.push_back(protect(std::move(*it)));
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& e) {
    const bool asked = e.get_exit_code() == 0;  // --help, --version
    std::ostringstream out, err;
    app.exit(e, out, err);
    if (asked) return print(out.str());
    std::fprintf(stderr, "lapilli: %s", err.str().c_str());
    return exit_usage;
  }
  const bool texts =
      app.got_subcommand("translate") || app.got_subcommand("summarize") || app.got_subcommand("generate");
  if (!context.behind_dashes.empty() && !texts) {
    std::fprintf(stderr, "lapilli: only translate, summarize and generate take arguments behind --\n");
    return exit_usage;
  }
  if (!context.run) {
    std::fprintf(stderr, "%s", app.help().c_str());
    return exit_usage;
  }
  lapilli_set_log(context.quiet     ? LAPILLI_LOG_ERROR
                  : context.verbose ? LAPILLI_LOG_VERBOSE
                                    : LAPILLI_LOG_NOTE,
                  nullptr, nullptr);
  return context.run();
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
