#include "cli/arguments/config_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>
#include <sstream>

#include "base/path.hpp"
#include "cli/arguments/suggestions.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr std::string_view kSwitch = "--config";

// The value of --config; nothing if it was not typed.
std::optional<std::string> typed_path(const std::vector<std::string>& typed) {
  for (size_t i = 0; i < typed.size(); ++i) {
    if (typed[i] == kSwitch && i + 1 < typed.size()) return typed[i + 1];
    if (typed[i].starts_with(std::string(kSwitch) + "=")) return typed[i].substr(kSwitch.size() + 1);
  }
  return {};
}

std::string usual_path() {
#if defined(_WIN32)
  const std::string folder = environment("APPDATA");
#else
  std::string folder = environment("XDG_CONFIG_HOME");
  if (folder.empty() && !environment("HOME").empty()) folder = environment("HOME") + "/.config";
#endif
  return folder.empty() ? "" : folder + "/lapilli/config.toml";
}

// A file that is named must exist; "" names none.
struct ConfigPath {
  std::string path;
  bool named = false;
};
ConfigPath config_path(const std::vector<std::string>& typed) {
  if (const auto path = typed_path(typed)) return {*path, true};
  if (const std::string path = environment("LAPILLI_CONFIG"); !path.empty()) return {path, true};
  const std::string path = usual_path();
  return {file_exists(path) ? path : "", false};
}

bool was_typed(const CLI::Option& option, const std::vector<std::string>& typed) {
  const auto begins = [&](const std::string& name) {
    return std::any_of(typed.begin(), typed.end(), [&](const std::string& a) { return a.starts_with(name); });
  };
  const auto is = [&](const std::string& name) {
    return std::any_of(typed.begin(), typed.end(),
                       [&](const std::string& a) { return a == name || a.starts_with(name + "="); });
  };
  const auto& shorts = option.get_snames();
  const auto& longs = option.get_lnames();
  return std::any_of(shorts.begin(), shorts.end(), [&](const auto& name) { return begins("-" + name); }) ||
         std::any_of(longs.begin(), longs.end(), [&](const auto& name) { return is("--" + name); });
}

// Switches that a file can set: named ones that do more than print help and make sense in more than one call.
std::vector<std::string> switch_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_configurable()) continue;
    for (const std::string& name : option->get_lnames())
      if (name != "help" && name != "version" && name != kSwitch.substr(2)) names.push_back(name);
  }
  return names;
}

class ConfigReader {
 public:
  ConfigReader(const CLI::App& app, const CLI::App& command, const std::vector<std::string>& typed)
      : app_(app), command_(command), typed_(typed) {}

  // Reads the settings into `found`; gives an error message, or "".
  std::string read(const std::string& text, std::vector<std::string>& found) {
    std::istringstream stream(text);
    items_ = CLI::ConfigTOML().from_config(stream);
    for (const CLI::ConfigItem& item : items_) {
      if (item.name == "++" || item.name == "--") continue;  // CLI11's marks of a section's beginning and end
      if (std::string wrong = check(item); !wrong.empty()) return wrong;
      if (is_for_this(item) && !gives_way(item)) found.push_back("--" + item.name + "=" + item.inputs.front());
    }
    return "";
  }

 private:
  static std::string section(const CLI::ConfigItem& item) {
    return item.parents.empty() || item.parents.front() == "default" ? "" : item.parents.front();
  }

  [[nodiscard]] std::string check(const CLI::ConfigItem& item) const {
    const std::string name = section(item);
    std::set<std::string> known;
    for (const CLI::App* command : app_.get_subcommands({})) {
      if (!name.empty() && command->get_name() != name) continue;
      for (const std::string& one : switch_names(*command)) known.insert(one);
      for (const std::string& one : switch_names(app_)) known.insert(one);
    }
    if (known.empty()) return "there is no command " + json_string(name);
    if (!known.contains(item.name))
      return (name.empty() ? "no command has" : name + " has no") + std::string(" switch ") + json_string(item.name) +
             did_you_mean(item.name, {known.begin(), known.end()});
    return item.inputs.size() == 1 ? "" : item.name + " must have one value";
  }

  [[nodiscard]] const CLI::Option* option_of(const CLI::ConfigItem& item) const {
    const CLI::Option* own = command_.get_option_no_throw("--" + item.name);
    return own ? own : app_.get_option_no_throw("--" + item.name);
  }

  [[nodiscard]] bool is_for_this(const CLI::ConfigItem& item) const {
    const std::string name = section(item);
    return (name.empty() || name == command_.get_name()) && option_of(item) != nullptr;
  }

  [[nodiscard]] bool is_set(const CLI::Option& option) const {
    return was_typed(option, typed_) || std::any_of(items_.begin(), items_.end(), [&](const auto& item) {
             return is_for_this(item) && option_of(item) == &option;
           });
  }

  // True if the setting yields: to a typed switch, to its section's own value, or because a switch that it needs is not
  // set.
  [[nodiscard]] bool gives_way(const CLI::ConfigItem& item) const {
    const CLI::Option& option = *option_of(item);
    if (was_typed(option, typed_)) return true;
    for (const CLI::Option* other : option.get_excludes())
      if (was_typed(*other, typed_)) return true;
    for (const CLI::Option* other : option.get_needs())
      if (!is_set(*other)) return true;
    return section(item).empty() && std::any_of(items_.begin(), items_.end(), [&](const auto& other) {
             return other.name == item.name && section(other) == command_.get_name();
           });
  }

  const CLI::App& app_;
  const CLI::App& command_;
  const std::vector<std::string>& typed_;
  std::vector<CLI::ConfigItem> items_;
};

}  // namespace

Configured read_config(const CLI::App& app, const CLI::App& command, const std::vector<std::string>& typed) {
  const ConfigPath from = config_path(typed);
  Configured configured;
  configured.path = from.path;
  if (from.path.empty()) return configured;
  std::string text;
  if (const int error = read_whole(from.path, text)) {
    configured.error = std::strerror(error);
    configured.code = exit_input;
  } else {
    configured.error = ConfigReader(app, command, typed).read(text, configured.arguments);
    configured.code = exit_usage;
  }
  if (!configured.error.empty()) configured.error = "settings in " + from.path + ": " + configured.error;
  return configured;
}

}  // namespace lapilli::cli
