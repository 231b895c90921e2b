#include "generate/chat/bare_name.hpp"

#include <cctype>

namespace lapilli {

namespace {

// Takes the last part off a path, with the slashes around it.
std::string_view take_last(std::string_view& path) {
  const auto trim = [&path] { path = path.substr(0, path.find_last_not_of("/\\") + 1); };
  trim();
  const std::string_view last = path.substr(path.find_last_of("/\\") + 1);
  path.remove_suffix(last.size());
  trim();
  return last;
}

}  // namespace

std::string bare_name(std::string_view directory) {
  std::string_view name = take_last(directory);
  if (take_last(directory) == "snapshots" && !directory.empty()) name = take_last(directory);
  for (const std::string_view between : {"--", "__"})  // OWNER--NAME
    if (const size_t at = name.rfind(between); at != name.npos) name.remove_prefix(at + 2);
  std::string bare;
  for (const char c : name)
    if (c != '-' && c != '_' && c != '.') bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return bare;
}

}  // namespace lapilli
