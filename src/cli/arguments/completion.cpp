#include "cli/arguments/completion.hpp"

namespace lapilli::cli {

namespace {

enum class Completes { nothing, files, directories };

Completes completes(const SwitchInfo& info) {
  if (info.value == "DIR" || info.value == "MODEL") return Completes::directories;
  return info.value == "INPUT" || info.value == "FILE" || info.value == "JSON" ? Completes::files : Completes::nothing;
}

// Single-quotes the text for a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& names, const char* between) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : between) + name;
  return text;
}

std::vector<std::string> command_names(const CommandTable& table) {
  std::vector<std::string> names;
  for (const CommandInfo& command : table.commands) names.push_back(command.name);
  return names;
}

// The names of all switches, or of those whose value completes that way.
std::vector<std::string> switch_names(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const SwitchInfo& info : command.switches)
    if (!info.positional) names.insert(names.end(), info.names.begin(), info.names.end());
  return names;
}
std::vector<std::string> switch_names(const CommandInfo& command, Completes how) {
  std::vector<std::string> names;
  for (const SwitchInfo& info : command.switches)
    if (!info.positional && !info.value.empty() && completes(info) == how)
      names.insert(names.end(), info.names.begin(), info.names.end());
  return names;
}

std::string bash_case(const std::vector<std::string>& names, const char* reply) {
  return names.empty() ? "" : "    " + joined(names, "|") + ") " + reply + "; return ;;\n";
}

// The previous word decides on a value; otherwise switches of the typed command, or files.
std::string bash_command(const CommandTable& table, const CommandInfo& command) {
  CommandInfo all = command;
  all.switches.insert(all.switches.end(), table.program.switches.begin(), table.program.switches.end());
  std::string text = "  " + command.name + ")\n    case $before in\n";
  text += bash_case(switch_names(all, Completes::directories), "COMPREPLY=($(compgen -d -- \"$word\"))");
  text += bash_case(switch_names(all, Completes::files), "COMPREPLY=($(compgen -f -- \"$word\"))");
  text += bash_case(switch_names(all, Completes::nothing), "COMPREPLY=()");
  return text + "    esac\n    switches='" + joined(switch_names(all), " ") + "' ;;\n";
}

std::string bash_script(const CommandTable& table) {
  std::string text = R"(# bash completion for lapilli; made by: lapilli completion bash
_lapilli() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= switches= i
  compopt -o filenames 2>/dev/null
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
    -*) ;;
    *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command in
)";
  const std::string names = joined(command_names(table), " ");
  for (const CommandInfo& command : table.commands) {
    if (command.name == "help")
      text += "  help) COMPREPLY=($(compgen -W '" + names + "' -- \"$word\")); return ;;\n";
    else
      text += bash_command(table, command);
  }
  text += "  *) switches='" + names + " " + joined(switch_names(table.program), " ") + "' ;;\n  esac\n";
  return text + R"(  if [[ -z $command || $word == -* ]]; then
    COMPREPLY=($(compgen -W "$switches" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -F _lapilli lapilli
)";
}

// Escapes text for a specification of zsh's _arguments.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += (c == '[' || c == ']' || c == ':' || c == '\\') ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string zsh_value(const SwitchInfo& info) {
  const char* action = completes(info) == Completes::directories ? "_files -/"
                       : completes(info) == Completes::files     ? "_files"
                                                                 : " ";
  return ":" + zsh_text(info.value) + ":" + action;
}

std::string zsh_specification(const SwitchInfo& info) {
  if (info.positional) return "      " + quoted("*" + zsh_value(info)) + " \\\n";
  std::string text;
  for (const std::string& name : info.names)
    text += "      " +
            quoted(name + "[" + zsh_text(info.description) + "]" + (info.value.empty() ? "" : zsh_value(info))) +
            " \\\n";
  return text;
}

std::string zsh_script(const CommandTable& table) {
  std::string text =
      "#compdef lapilli\n# made by: lapilli completion zsh\n_lapilli() {\n  local -a commands\n  commands=(\n";
  for (const CommandInfo& command : table.commands)
    text += "    " + quoted(command.name + ":" + zsh_text(command.description)) + "\n";
  text += R"(  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  words=("${(@)words[2,-1]}")
  ((CURRENT--))
  case $command in
)";
  for (const CommandInfo& command : table.commands) {
    if (command.name == "help") {
      text += "  help) _describe command commands ;;\n";
      continue;
    }
    text += "  " + command.name + ")\n    _arguments \\\n";
    for (const SwitchInfo& info : command.switches) text += zsh_specification(info);
    for (const SwitchInfo& info : table.program.switches)
      if (info.names.back() != "--help") text += zsh_specification(info);
    text += "      && return ;;\n";
  }
  return text + "  esac\n}\n_lapilli \"$@\"\n";
}

std::string fish_switch(const SwitchInfo& info, const std::string& condition) {
  std::string text = "complete -c lapilli" + condition;
  for (const std::string& name : info.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!info.value.empty()) {
    text += completes(info) == Completes::nothing ? " -x" : " -r";
    if (completes(info) == Completes::directories) text += " -a '(__fish_complete_directories)'";
  }
  return text + " -d " + quoted(info.description) + "\n";
}

std::string fish_script(const CommandTable& table) {
  std::string text = "# made by: lapilli completion fish\n";
  for (const CommandInfo& command : table.commands)
    text += "complete -c lapilli -f -n __fish_use_subcommand -a " + command.name + " -d " +
            quoted(command.description) + "\n";
  text += "complete -c lapilli -f -n '__fish_seen_subcommand_from help' -a " +
          quoted(joined(command_names(table), " ")) + "\n";
  for (const SwitchInfo& info : table.program.switches) text += fish_switch(info, "");
  for (const CommandInfo& command : table.commands) {
    for (const SwitchInfo& info : command.switches)
      if (!info.positional && info.names.back() != "--help")
        text += fish_switch(info, " -n '__fish_seen_subcommand_from " + command.name + "'");
  }
  return text;
}

}  // namespace

const Shell kShells[kShellCount] = {
    {"bash", "bash-completion/completions/lapilli", bash_script},
    {"zsh", "zsh/site-functions/_lapilli", zsh_script},
    {"fish", "fish/vendor_completions.d/lapilli.fish", fish_script},
};

}  // namespace lapilli::cli
