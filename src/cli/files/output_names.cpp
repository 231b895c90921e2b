#include "cli/files/output_names.hpp"

namespace lapilli::cli {

namespace {
#if defined(_WIN32)
constexpr std::string_view kPathSeparators = "/\\:";
#else
constexpr std::string_view kPathSeparators = "/";
#endif
}  // namespace

std::string_view last_part(std::string_view path) {
  const size_t at = path.find_last_of(kPathSeparators);
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

std::string folder_of(std::string_view path) {
  return std::string(path.substr(0, path.size() - last_part(path).size()));
}

std::string_view extension(std::string_view path) {
  const std::string_view name = last_part(path);
  const size_t dot = name.rfind('.');
  const bool hidden = name.find_first_not_of('.') > dot;  // only dots precede it
  return dot == std::string_view::npos || hidden || dot + 1 == name.size() ? "" : name.substr(dot);
}

bool names_folder(std::string_view path) {
  return !path.empty() && kPathSeparators.find(path.back()) != std::string_view::npos;
}

std::string path_in(std::string_view folder, std::string_view name) {
  return std::string(folder) + (folder.empty() || names_folder(folder) ? "" : "/") + std::string(name);
}

std::string with_suffix(std::string_view path, std::string_view suffix) {
  const std::string_view ending = extension(path);
  return std::string(path.substr(0, path.size() - ending.size())) + std::string(suffix) + std::string(ending);
}

bool has_suffix(std::string_view path, std::string_view suffix) {
  const std::string_view stem = last_part(path).substr(0, last_part(path).size() - extension(path).size());
  // In "letter.fr", which has no other ending, ".fr" may be the suffix or the kind of file; such a file is of no known
  // kind.
  return !suffix.empty() && stem.size() > suffix.size() && stem.ends_with(suffix);
}

}  // namespace lapilli::cli
