#include "formats/doors/door.hpp"

#include <algorithm>
#include <optional>
#include <set>

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
                               {open_tensor2tensor, nullptr},
                               {open_argos_directory, open_argos},
                               {open_marian_folder, open_marian_archive}};

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

constexpr const char* kFetchRecord = "lapilli-model.json";  // of `lapilli fetch`, in directories that it has made

// With those that go by another name behind the door.
std::set<std::string> names_of_own(const Opened& opened) {
  std::set<std::string> names(opened.own.begin(), opened.own.end());
  for (const auto& [name, of] : opened.files.others) names.insert(of);
  return names;
}

}  // namespace

bool is_read_beside(const std::string& name) {
  constexpr const char* kNames[] = {"config.json",
                                    "generation_config.json",
                                    "preprocessor_config.json",
                                    "tokenizer_config.json",
                                    "tokenizer.json",
                                    "special_tokens_map.json",
                                    "added_tokens.json",
                                    "normalizer.json",
                                    "vocab.json",
                                    "target_vocab.json",
                                    "vocab.txt",
                                    "merges.txt",
                                    "source.spm",
                                    "target.spm",
                                    "spiece.model",
                                    "tokenizer.model",
                                    "chat_template.json",
                                    "sentencepiece.bpe.model",
                                    "chat_template.jinja",
                                    "modules.json",
                                    "pieces.json",
                                    "processor_config.json",
                                    "source.codes",
                                    "target.codes"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

std::string first_bytes(const FileName& file, size_t count) {
  if (!file.there()) return {};
  const auto opened = File::open(file);
  if (!opened) return {};
  std::string text(static_cast<size_t>(std::min<uint64_t>(opened->size(), count)), '\0');
  return opened->read(0, std::as_writable_bytes(std::span(text))) ? text : std::string();
}

void name_unused(const Files& directory, Opened& opened) {
  if (!directory.on_disk() || !directory_exists(directory.directory())) return;
  opened.own.emplace_back(kFetchRecord);
  const auto own = names_of_own(opened);
  for (const std::string& name : names_in(directory.directory()))
    if (!name.starts_with('.') && !is_read_beside(name) && !own.contains(name)) opened.origin.unused.push_back(name);
}

Result<Entered> enter(const Files& files) {
  if (has_published_weights(files) || !(is_file(files) || files.are_there())) return Entered{files, {}, {}, {}};
  LAPILLI_TRY(auto opened, look(files));
  if (!opened) return Entered{files, {}, {}, {}};
  std::vector<std::string> made;
  for (const auto& [name, text] : opened->files.texts) made.push_back(name);
  for (const auto& [name, of] : opened->files.others)
    if (name != "pytorch_model.bin") made.push_back(name);
  const auto own = names_of_own(*opened);
  LAPILLI_TRY(auto laid, lay_over(std::move(opened->files), files.directory()));
  std::vector<std::string> left_out(own.begin(), own.end());
  left_out.insert(left_out.end(), opened->origin.unused.begin(), opened->origin.unused.end());
  return Entered{std::move(laid), std::move(opened->origin), std::move(made), std::move(left_out)};
}

}  // namespace lapilli::doors
