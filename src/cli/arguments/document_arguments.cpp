#include "cli/arguments/document_arguments.hpp"

#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/path.hpp"
#include "cli/arguments/model_choice.hpp"
#include "cli/arguments/typed_names.hpp"
#include "cli/commands.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr std::array<std::pair<std::string_view, char>, 4> kNamedDelimiters = {
    {{"tab", '\t'}, {"\\t", '\t'}, {"comma", ','}, {"semicolon", ';'}}};

// 0: it is none.
char delimiter_called(std::string_view name) {
  for (const auto& [called, delimiter] : kNamedDelimiters)
    if (called == name) return delimiter;
  const bool sign = name.size() == 1 && static_cast<unsigned char>(name[0]) < 0x80;
  return sign && name != "\"" && name != "\n" && name != "\r" ? name[0] : '\0';
}

CLI::Validator names_delimiter() {
  return {[](std::string& text) -> std::string {
            if (delimiter_called(text)) return "";
            return "\"" + text + "\" is no separator: give one sign of ASCII, or tab, comma or semicolon";
          },
          ""};
}

CLI::callback_t append_names(std::vector<std::string>& to) {
  return [&to](const CLI::results_t& given) {
    for (const std::string& name : given) to.push_back(unprotect(name));
    return true;
  };
}

void add_table_arguments(CLI::App& command, DocumentArguments& d) {
  command
      .add_option("--to-column", append_names(d.to_columns),
                  "CSV: the column that gets the translations of --column, by number or name; a new one if there is "
                  "none. Once for each --column")
      ->type_name("COLUMN")
      ->take_all()
      ->check(not_empty());
  command
      .add_option("--delimiter", d.delimiter,
                  "CSV: the sign between cells, or tab, comma, semicolon; without it, the file tells")
      ->type_name("SIGN")
      ->check(names_delimiter());
  command.add_flag("--no-header", d.no_header, "CSV: the first row is no row of names, and is translated");
}

// Names in lines of their own; blanks around them are no part of them.
void append_lines(const std::string& text, std::vector<std::string>& names) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (names.empty() && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    const size_t begin = line.find_first_not_of(" \t\r"), end = line.find_last_not_of(" \t\r");
    if (begin != std::string::npos) names.push_back(line.substr(begin, end - begin + 1));
  }
}

}  // namespace

void add_document_arguments(CLI::App& command, TextArguments& a) {
  DocumentArguments& d = a.documents;
  add_table_arguments(command, d);
  command.add_flag("--all", d.all, "Files of messages: translate those that have a translation anew, too");
  command.add_flag("--no-fuzzy", d.no_fuzzy, "Files of messages: do not mark for review what was made");
  command.add_option("--keep", d.keep, "A file of names, one a line, that stay as they are wherever they stand")
      ->type_name("FILE")
      ->check(not_empty());
  command
      .add_option("--tm", d.memory,
                  "A translation memory (TMX) that has texts already: equal ones, and those with other numbers")
      ->type_name("FILE")
      ->check(not_empty());
  command
      .add_option("--tm-out", d.output,
                  "A translation memory that gets what is made; one that this program wrote goes on")
      ->type_name("FILE")
      ->check(not_empty());
}

std::string contradiction_of_documents(const TextArguments& a) {
  const DocumentArguments& d = a.documents;
  if (!d.to_columns.empty() && d.to_columns.size() != a.files.columns.size())
    return "--to-column stands once for each --column";
  if (!d.output.empty() && (d.output == d.memory || same_file(d.output, d.memory)))
    return "--tm-out: " + d.output + " is the memory that is read; name another file";
  if ((!d.memory.empty() || !d.output.empty()) && (a.ids || a.stream))
    return "--tm and --tm-out take texts; they do not go with --ids or --stream";
  const bool table = a.files.format == "tsv" || a.files.format == "jsonl" || a.files.format == "lines";
  if (table && d.names_table())
    return "--to-column, --delimiter and --no-header are for tables that are documents: say --format csv";
  return "";
}

int read_kept_names(const std::string& file, std::vector<std::string>& names) {
  std::string text;
  const int error = file.empty() ? 0 : read_whole(file, text);
  if (error == 0) append_lines(text, names);
  return error;
}

documents::Options document_options(const TextArguments& a, const std::string& model) {
  documents::Options options;
  const RunLanguages known = languages_of_run(model, a.from, a.to);
  options.source_language = known.from;
  options.target_language = known.to;
  options.columns = a.files.columns;
  options.to_columns = a.documents.to_columns;
  options.delimiter = delimiter_called(a.documents.delimiter);
  options.header = !a.documents.no_header;
  options.all = a.documents.all;
  options.fuzzy = !a.documents.no_fuzzy;
  return options;
}

}  // namespace lapilli::cli
