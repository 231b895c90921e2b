#include "vulkan/driver/driver_files.hpp"

#include <algorithm>

#include "base/path.hpp"

namespace lapilli::vulkan {
namespace {

#if defined(_WIN32) || defined(__ANDROID__)

std::vector<std::string> folders_of_drivers() { return {}; }

#else

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(':', at), list.size());
    if (end > at) parts.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string or_else(const char* name, const std::string& usual) {
  const std::string value = environment(name);
  return value.empty() ? usual : value;
}

// The order of the loader's documentation.
std::vector<std::string> folders_of_drivers() {
  const std::string home = environment("HOME");
  const std::string roots = or_else("XDG_CONFIG_HOME", home + "/.config") + ":" +
                            or_else("XDG_CONFIG_DIRS", "/etc/xdg") +
                            ":/etc:" + or_else("XDG_DATA_HOME", home + "/.local/share") + ":" +
                            or_else("XDG_DATA_DIRS", "/usr/local/share:/usr/share");
  std::vector<std::string> folders;
  for (const std::string& root : parts_of(roots)) folders.push_back(root + "/vulkan/icd.d");
  return folders;
}

#endif

void add_files_of(const std::string& folder, std::vector<std::string>& files) {
  std::vector<FolderEntry> entries;
  if (!list_folder(folder, entries)) return;
  const size_t before = files.size();
  for (const FolderEntry& entry : entries)
    if (entry.name.ends_with(".json")) files.push_back(folder + "/" + entry.name);
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
}

// The variables replace the folders.
std::string named_files() {
  const std::string named = environment("VK_DRIVER_FILES");
  return named.empty() ? environment("VK_ICD_FILENAMES") : named;
}

}  // namespace

std::vector<std::string> driver_files() {
  std::vector<std::string> files;
  for (const std::string& folder : folders_of_drivers()) add_files_of(folder, files);
  return files;
}

std::string driver_files_text() {
  if (const std::string named = named_files(); !named.empty())
    return "drivers' files (VK_DRIVER_FILES, VK_ICD_FILENAMES): " + named;
  std::string text;
  for (const std::string& file : driver_files()) text += (text.empty() ? "" : ", ") + file;
  return text.empty() ? "no driver's file (vulkan/icd.d/*.json) was found: no Vulkan driver is installed"
                      : "drivers' files (ICD): " + text;
}

}  // namespace lapilli::vulkan
