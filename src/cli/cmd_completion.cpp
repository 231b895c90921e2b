// lapilli completion, and the other files that an installation puts below share/.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/path.hpp"
#include "cli/arguments/completion.hpp"
#include "cli/arguments/manual.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace lapilli::cli {

namespace {

int print_script(const CommandTable& table, const std::string& shell) {
  for (const Shell& known : kShells)
    if (shell == known.name) return print(known.script(table));
  return exit_internal;  // the argument was checked
}

int write_file(const std::string& path, const std::string& text) {
  std::FILE* file = open_stream(path, "wb");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return exit_ok;
  std::fprintf(stderr, "lapilli: %s: %s\n", path.c_str(), std::strerror(errno));
  return exit_output;
}

// Laid out as in an installed share/, whose folders exist.
int write_shared_files(const CommandTable& table, const std::string& share) {
  std::vector<const CommandInfo*> pages{&table.program};
  for (const CommandInfo& command : table.commands) pages.push_back(&command);
  for (const CommandInfo* page : pages) {
    const std::string path = share + "/man/man1/" + manual_name(table, *page) + ".1";
    if (const int code = write_file(path, manual_page(table, *page))) return code;
  }
  for (const Shell& shell : kShells)
    if (const int code = write_file(share + "/" + shell.file, shell.script(table))) return code;
  return exit_ok;
}

constexpr const char* kFooter = R"(An installation has these scripts where the shells look for them. Without one:
  bash   lapilli completion bash > ~/.local/share/bash-completion/completions/lapilli
  zsh    lapilli completion zsh > DIR/_lapilli, DIR being one of $fpath
  fish   lapilli completion fish > ~/.config/fish/completions/lapilli.fish
)";

}  // namespace

void add_completion(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a shell's completion script for this program");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""));
  command->footer(kFooter);
  command->callback(
      [&app, &context, shell] { context.run = [&app, shell] { return print_script(command_table(app), *shell); }; });
  // A hidden command for the build, which installs these files.
  auto share = std::make_shared<std::string>();
  CLI::App* files = app.add_subcommand("shared-files", "")->group("");
  files->add_option("share", *share)->required();
  files->callback([&app, &context, share] {
    context.run = [&app, share] { return write_shared_files(command_table(app), *share); };
  });
}

}  // namespace lapilli::cli
