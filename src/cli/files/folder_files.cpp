#include "cli/files/folder_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/output_names.hpp"
#include "cli/output.hpp"

namespace lapilli::cli {

namespace {

constexpr int kDeepestBelow = 100;

int add_below(const std::string& folder, const std::string& below, int depth, const std::string& but,
              std::vector<FolderFile>& files) {
  std::vector<FolderEntry> entries;
  if (!list_folder(folder, entries) || depth > kDeepestBelow)
    return complain(exit_input, folder + ": " + std::strerror(depth > kDeepestBelow ? ELOOP : errno));
  for (const FolderEntry& entry : entries) {
    const std::string path = path_in(folder, entry.name), name = path_in(below, entry.name);
    const bool hidden = entry.name.starts_with('.'), folder_of_its_own = entry.kind == FileKind::directory;
    if (hidden)
      files.push_back({path, name, &left_out::kHidden});
    else if (!folder_of_its_own)
      files.push_back({path, name, entry.kind == FileKind::regular ? nullptr : &left_out::kLink});
    if (hidden || !folder_of_its_own || same_file(path, but)) continue;
    if (const int code = add_below(path, name, depth + 1, but, files)) return code;
  }
  return exit_ok;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

void settle_places(const std::vector<std::string>& inputs, std::string& output, std::string& suffix) {
  if (!suffix.empty() && is_letter(suffix[0])) suffix.insert(0, 1, '.');
  if (output.empty() || output == "-" || names_folder(output) || !extension(output).empty()) return;
  if (file_kind(output) != FileKind::none) return;
  if (std::any_of(inputs.begin(), inputs.end(), [](const std::string& input) { return directory_exists(input); }))
    output += '/';
}

int files_below(const std::string& folder, const std::string& but, std::vector<FolderFile>& files) {
  return add_below(folder, "", 0, but, files);
}

}  // namespace lapilli::cli
