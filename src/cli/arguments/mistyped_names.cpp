#include "cli/arguments/mistyped_names.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/path.hpp"
#include "cli/files/blanks.hpp"
#include "cli/files/output_names.hpp"

namespace lapilli::cli {

namespace {

// Endings of files that hold text, or that people take for text. None is the ending of a web address or of a dotted
// word.
constexpr std::string_view kTextEndings[] = {"txt",   "text", "md",   "markdown", "rst", "tex", "log", "srt",
                                             "vtt",   "sub",  "html", "htm",      "xml", "tmx", "po",  "json",
                                             "jsonl", "tsv",  "csv",  "yaml",     "yml", "rtf", "doc", "docx",
                                             "odt",   "pdf",  "epub", "gz",       "zip", "ids"};

#if defined(_WIN32)
constexpr const char* kSeparators = "/\\";
#else
constexpr const char* kSeparators = "/";
#endif

bool has_usual_ending(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == 0 || dot == std::string_view::npos) return false;
  std::string ending(name.substr(dot + 1));
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(std::begin(kTextEndings), std::end(kTextEndings), ending) != std::end(kTextEndings);
}

bool begins_like_a_path(std::string_view name) {
  const size_t dots = std::min(name.find_first_not_of('.'), name.size());
  const std::string_view rest = name.substr(name.starts_with('~') ? 1 : dots <= 2 ? dots : 0);
  return !rest.empty() && std::string_view(kSeparators).find(rest[0]) != std::string_view::npos;
}

// "letter.txt" for "letter.tx": a name that was typed to its dot and not to its end. "": there is no such file.
std::string begun_name(const std::string& argument) {
  const std::string_view name = last_part(argument);
  const size_t dot = name.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == name.size() || has_blanks(argument)) return "";
  const std::string folder = folder_of(argument);
  std::vector<FolderEntry> entries;
  list_folder(folder.empty() ? "." : folder, entries);
  for (const FolderEntry& entry : entries)
    if (entry.name.size() > name.size() && entry.name.starts_with(name)) return folder + entry.name;
  return "";
}

bool reads_as_file_name(const std::string& argument) {
  if (argument.empty() || has_blanks(argument) || argument.find("://") != std::string::npos) return false;
  if (begins_like_a_path(argument)) return true;
  const size_t slash = argument.find_last_of(kSeparators);
  if (slash == std::string::npos) return has_usual_ending(argument);
  return has_usual_ending(std::string_view(argument).substr(slash + 1)) || directory_exists(argument.substr(0, slash));
}

}  // namespace

std::string why_no_text(const std::string& argument) {
  if (directory_exists(argument))
    return argument +
           " is a directory; name the files in it, say --suffix .fr or -o FOLDER/ to have them translated one by one, "
           "or --text if these words are the text";
  if (const std::string meant = begun_name(argument); !meant.empty())
    return "there is no file " + argument + "; did you mean " + meant + "? If it is a text, say --text";
  if (reads_as_file_name(argument))
    return "there is no file " + argument + "; if it is a text and no mistyped name, say --text";
  return "";
}

}  // namespace lapilli::cli
