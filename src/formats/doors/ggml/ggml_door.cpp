// The door of whisper.cpp's files.
#include "base/path.hpp"
#include "formats/doors/ggml/ggml_file.hpp"
#include "formats/doors/ggml/ggml_whisper.hpp"
#include "formats/doors/readers.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors {

namespace {

// Files of whisper.cpp have these endings. Their content decides.
bool may_be_ggml(const std::string& name) {
  return name.ends_with(".bin") || name.ends_with(".ggml") || name.ends_with(".gguf");
}

std::vector<std::string> ggml_files_in(const Files& files) {
  std::vector<std::string> found;
  if (!files.on_disk() || files.directory().empty() || !directory_exists(files.directory())) return found;
  for (const std::string& name : names_in(files.directory()))
    if (may_be_ggml(name) && is_ggml(first_bytes(files / name, 4))) found.push_back(name);
  return found;
}

std::string folder_of_file(const std::string& path) {
  const auto slash = path.find_last_of("/\\");
  return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

}  // namespace

Result<std::optional<Opened>> open_ggml(const FileName& name) {
  if (!is_ggml(first_bytes(name, 4))) return std::optional<Opened>();
  LAPILLI_TRY(const auto file, File::open(name));
  LAPILLI_TRY(auto opened, read_ggml_whisper(file, Files(folder_of_file(name.path()))));
  return std::optional(std::move(opened));
}

Result<std::optional<Opened>> open_ggml_directory(const Files& files) {
  const auto found = ggml_files_in(files);
  if (found.empty()) return std::optional<Opened>();
  if (found.size() == 1) return open_ggml(files / found[0]);
  return fail(ErrorCode::invalid_argument, "%s holds %u models of whisper.cpp (%s and %s, say); name the file", files,
              found.size(), quote_name(found[0]), quote_name(found[1]));
}

}  // namespace lapilli::doors
