#include "cli/run/drawing_file.hpp"

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/target_file.hpp"

namespace lapilli::cli {

std::string drawing_format(const std::string& name) {
  const std::string_view ending = extension(name);
  return ending == ".svg" || ending == ".png" ? std::string(ending.substr(1)) : "";
}

std::string obstacle_to_drawing(const std::string& name) {
  if (name.empty()) return "";
  if (drawing_format(name).empty()) return "--attention: " + name + " ends with neither .svg nor .png";
  if (directory_exists(name)) return "--attention: " + name + " is a folder";
  const std::string missing = missing_folder(name);
  return missing.empty() ? "" : "--attention: " + missing;
}

int write_drawing(const std::string& name, size_t number, const std::string& content) {
  const size_t stem = name.size() - extension(name).size();
  TargetFile file(name.substr(0, stem) + (number > 1 ? "-" + std::to_string(number) : "") + name.substr(stem));
  int code = file.begin();
  if (code == exit_ok) code = file.write(content);
  return code == exit_ok ? file.finish() : code;
}

}  // namespace lapilli::cli
