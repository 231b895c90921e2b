#include "cli/arguments/manual.hpp"

#include <sstream>

#include "lapilli/lapilli.h"

namespace lapilli::cli {

namespace {

// Escapes text so that roff reads none of it as a request or an escape; minus signs stay ASCII.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string line(const std::string& text) {
  const bool request = text.starts_with('.') || text.starts_with('\'');
  return (request ? "\\&" : "") + roff(text) + "\n";
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

// "-m, --model DIR"
std::string heading(const SwitchInfo& info) {
  std::string text;
  for (const std::string& name : info.names) text += (text.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  return info.value.empty() || info.positional ? text : text + " \\fI" + roff(info.value) + "\\fR";
}

std::string switches(const CommandInfo& command) {
  std::string text;
  for (const SwitchInfo& info : command.switches) text += ".TP\n" + heading(info) + "\n" + line(info.description);
  return text;
}

// Fills paragraphs; lines that begin with a blank (examples) stay as they are.
std::string paragraphs(const std::string& footer) {
  std::string text;
  std::istringstream stream(footer);
  bool literal = false;
  for (std::string one; std::getline(stream, one);) {
    const bool example = one.starts_with(' ');
    if (example != literal) text += example ? ".PP\n.nf\n" : ".fi\n";
    literal = example;
    text += one.empty() ? ".PP\n" : line(one);
  }
  return text + (literal ? ".fi\n" : "");
}

std::string usage(const CommandTable& table, const CommandInfo& command) {
  std::string text = "\\fB" + roff(table.program.name) + "\\fR ";
  if (&command == &table.program) return text + "[\\fIOPTIONS\\fR] \\fICOMMAND\\fR ...\n";
  text += "\\fB" + roff(command.name) + "\\fR [\\fIOPTIONS\\fR]";
  for (const SwitchInfo& info : command.switches)
    if (info.positional) text += " [\\fI" + roff(info.value) + "\\fR ...]";
  return text + "\n";
}

std::string commands(const CommandTable& table) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandInfo& command : table.commands)
    text += ".TP\n\\fB" + roff(command.name) + "\\fR\n" + line(command.description);
  return text;
}

}  // namespace

std::string manual_name(const CommandTable& table, const CommandInfo& command) {
  return &command == &table.program ? command.name : table.program.name + "-" + command.name;
}

std::string manual_page(const CommandTable& table, const CommandInfo& command) {
  const bool program = &command == &table.program;
  const std::string name = manual_name(table, command);
  std::string text = ".TH " + upper(roff(name)) + " 1 \"\" \"Lapilli " + lapilli_version() + "\"\n";
  text += ".SH NAME\n" + roff(name) + " \\- " + roff(command.description) + "\n";
  text += ".SH SYNOPSIS\n" + usage(table, command);
  if (program) text += commands(table);
  text += ".SH OPTIONS\n" + switches(command);
  if (!program) text += ".SS Options of every command\n" + switches(table.program);
  return text + ".SH DESCRIPTION\n" + paragraphs(command.footer);
}

}  // namespace lapilli::cli
