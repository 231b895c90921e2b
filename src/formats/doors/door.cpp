#include "formats/doors/door.hpp"

#include <algorithm>
#include <optional>

#include "base/path.hpp"
#include "formats/doors/readers.hpp"

namespace lapilli::doors {

namespace {

// A reader: nothing if the files are not of its program. New ones go to the end.
struct Reader {
  Result<std::optional<Opened>> (*directory)(const Files& files);
  Result<std::optional<Opened>> (*file)(const FileName& file);
};
constexpr Reader kReaders[] = {{open_ctranslate2, nullptr},
                               {open_ggml_directory, open_ggml},
                               {open_marian_directory, open_marian},
                               {open_model_bin, nullptr},
                               {open_training_directory, open_training_file},
                               {open_tensor2tensor, nullptr}};

bool has_published_weights(const Files& files) {
  for (const std::string name : {"model.safetensors", "pytorch_model.bin"})
    if ((files / name).there() || (files / (name + ".index.json")).there()) return true;
  return false;
}

// A single file is the whole model.
bool is_file(const Files& files) {
  return files.on_disk() && !files.directory().empty() && file_kind(files.directory()) == FileKind::regular;
}

Result<std::optional<Opened>> look(const Files& files) {
  const bool single = is_file(files);
  for (const Reader& reader : kReaders) {
    if (single ? !reader.file : !reader.directory) continue;
    LAPILLI_TRY(auto opened, single ? reader.file(files.directory()) : reader.directory(files));
    if (opened) return opened;
  }
  return std::optional<Opened>();
}

}  // namespace

std::string first_bytes(const FileName& file, size_t count) {
  if (!file.there()) return {};
  const auto opened = File::open(file);
  if (!opened) return {};
  std::string text(static_cast<size_t>(std::min<uint64_t>(opened->size(), count)), '\0');
  return opened->read(0, std::as_writable_bytes(std::span(text))) ? text : std::string();
}

Result<Entered> enter(const Files& files) {
  if (has_published_weights(files) || !(is_file(files) || files.are_there())) return Entered{files, {}, {}};
  LAPILLI_TRY(auto opened, look(files));
  if (!opened) return Entered{files, {}, {}};
  std::vector<std::string> made;
  for (const auto& [name, text] : opened->files.texts) made.push_back(name);
  for (const auto& [name, of] : opened->files.others)
    if (name != "pytorch_model.bin") made.push_back(name);
  LAPILLI_TRY(auto laid, lay_over(std::move(opened->files), files.directory()));
  return Entered{std::move(laid), std::move(opened->origin), std::move(made)};
}

}  // namespace lapilli::doors
