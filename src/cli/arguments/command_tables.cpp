#include "cli/arguments/command_tables.hpp"

#include <algorithm>

namespace lapilli::cli {

namespace {

SwitchInfo describe(const CLI::Option& option) {
  SwitchInfo info;
  info.positional = option.get_positional();
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  const bool takes_value = info.positional || option.get_items_expected_max() > 0;
  if (takes_value) info.value = option.get_type_name();
  if (info.names.empty()) info.names.push_back(info.value);
  info.description = option.get_description();
  return info;
}

CommandInfo describe(const CLI::App& app) {
  CommandInfo info{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) info.switches.push_back(describe(*option));
  return info;
}

class HelpFormatter final : public CLI::Formatter {
 public:
  // Puts the program's switches in front of the footer: CLI11's own lists above it cannot be extended.
  std::string make_footer(const CLI::App* app) const override {
    std::string footer = CLI::Formatter::make_footer(app);
    if (app->get_parent() == nullptr) return footer;
    const auto shared = app->get_parent()->get_options([](const CLI::Option* option) {
      return !option->check_lname("help") && !option->check_lname("version") && !option->get_group().empty();
    });
    const std::string group = make_group("Options of every command", false, shared);
    return group.substr(std::min(group.find_first_not_of('\n'), group.size())) + "\n" + footer;
  }
};

}  // namespace

CommandTable command_table(const CLI::App& app) {
  CommandTable table{describe(app), {}};
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) table.commands.push_back(describe(*command));
  return table;
}

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace lapilli::cli
