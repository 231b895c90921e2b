#include "cli/files/folder_files.hpp"

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
    if (entry.name.starts_with('.')) continue;
    if (entry.kind == FileKind::regular) files.push_back({path, name});
    if (entry.kind != FileKind::directory || same_file(path, but)) continue;
    if (const int code = add_below(path, name, depth + 1, but, files)) return code;
  }
  return exit_ok;
}

}  // namespace

int files_below(const std::string& folder, const std::string& but, std::vector<FolderFile>& files) {
  return add_below(folder, "", 0, but, files);
}

}  // namespace lapilli::cli
