#include "formats/doors/argos.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/path.hpp"
#include "formats/doors/ctranslate2/directory.hpp"
#include "formats/doors/readers.hpp"
#include "formats/hf_config.hpp"
#include "formats/quote.hpp"
#include "formats/zip.hpp"

namespace lapilli::doors {

namespace {

using Json = nlohmann::json;

constexpr const char *kMetadata = "metadata.json", *kModel = "model";
constexpr const char *kSentencePieceFile = "sentencepiece.model", *kCodesFile = "bpe.model";

// A text; none for one that could steer the terminal that shows it.
std::string text_in(const Json& json, const char* key) {
  const auto at = json.find(key);
  const std::string text = at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
  const bool plain =
      std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  return plain ? text : std::string();
}

// The one language of a list ([{"code": "en"}]), where metadata has lists; "" for several.
std::string only_code(const Json& json, const char* key) {
  const auto list = json.find(key);
  if (list == json.end() || !list->is_array() || list->size() != 1 || !list->front().is_object()) return "";
  return text_in(list->front(), "code");
}

// How texts are cut: by the file that is there, or the reason why they are not.
void add_cutting(const Files& files, const ArgosPackage& package, Json& pieces, MadeFiles& made) {
  pieces["source_language"] = package.from;
  pieces["target_language"] = package.to;
  const auto use = [&](const char* cut, const char* file, const char* ending) {
    pieces["cut"] = cut;
    for (const std::string side : {"source", "target"}) made.others[side + ending] = file;
  };
  if ((files / kSentencePieceFile).there()) return use("sentencepiece", kSentencePieceFile, ".spm");
  if ((files / kCodesFile).there()) {
    pieces["moses"] = pieces["normalize"] = pieces["keep_dashes"] = true;
    return use("codes", kCodesFile, ".codes");
  }
  pieces["missing"] = format("the package has no tokenizer: neither %s nor %s is in it; unpack the package again",
                             kSentencePieceFile, kCodesFile);
}

Json pieces_of(const ct2::Beside& beside, const ArgosPackage& package) {
  const auto flag = [&](const char* key) {
    const auto at = beside.settings.find(key);
    return at != beside.settings.end() && at->is_boolean() && at->get<bool>();
  };
  Json pieces = {{"unknown", beside.text("unk_token", "<unk>")}, {"start", beside.text("bos_token", "<s>")},
                 {"end", beside.text("eos_token", "</s>")},      {"source_start", flag("add_source_bos")},
                 {"source_end", flag("add_source_eos")},         {"keep_spaces", true},
                 {"source", beside.vocabularies.source}};
  if (!beside.vocabularies.shared) pieces["target"] = beside.vocabularies.target;
  if (!package.target_prefix.empty()) pieces["hidden"] = Json::array({package.target_prefix});
  return pieces;
}

// Argos searches with four beams and this penalty.
Status add_search(const ct2::Beside& beside, const ArgosPackage& package, const FileName& name, Json& generation) {
  generation["num_beams"] = 4;
  generation["length_penalty"] = 0.2;
  if (package.target_prefix.empty()) return {};
  const auto id = ct2::id_of(beside.vocabularies.target, package.target_prefix);
  if (!id)
    return fail(ErrorCode::invalid_data, "%s: target_prefix is %s, which the model's vocabulary does not have", name,
                quote_name(package.target_prefix));
  generation["forced_bos_token_id"] = *id;
  return {};
}

bool is_used(const std::string& name) {
  constexpr const char* kUsed[] = {kMetadata, kModel, kSentencePieceFile, kCodesFile};
  return std::ranges::find(kUsed, name) != std::end(kUsed);
}

// A folder is named for all that is in it.
std::vector<std::string> unused_of(std::vector<std::string> names) {
  for (std::string& name : names) name = name.substr(0, name.find('/'));
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::erase_if(names, [](const std::string& name) { return name.empty() || is_used(name); });
  return names;
}

Result<Opened> read_package(const Files& files, const std::vector<std::string>& names) {
  LAPILLI_TRY(const auto package, read_argos_package(files));
  const FileName metadata = files / kMetadata;
  if (package.type != "translate")
    return fail(ErrorCode::unsupported, "%s: a package of the type %s translates nothing", metadata,
                quote_name(package.type));
  LAPILLI_TRY(auto inner, ct2::read_directory(files.below(kModel)));
  LAPILLI_CHECK(add_search(inner.beside, package, metadata, inner.fields.generation));
  Opened opened{
      {"Argos Translate",
       format("package %s for Argos %s, CTranslate2 %s", package.version, package.program, inner.origin.version),
       inner.origin.weights, unused_of(names)},
      {files, {}, {}, std::move(inner.tensors)},
      {kMetadata, kSentencePieceFile, kCodesFile}};
  Json pieces = pieces_of(inner.beside, package);
  add_cutting(files, package, pieces, opened.files);
  opened.files.texts = {{"config.json", ct2::config_text(inner)},
                        {"generation_config.json", ct2::json_text(inner.fields.generation)},
                        {"tokenizer_config.json", R"({"tokenizer_class": "PiecesTokenizer"})"},
                        {"pieces.json", ct2::json_text(pieces)}};
  return opened;
}

Result<std::vector<std::string>> names_in_zip(const FileName& name) {
  LAPILLI_TRY(const auto file, File::open(name));
  LAPILLI_TRY(const auto entries, read_zip(file));
  const std::string folder = folder_of_all(entries);
  std::vector<std::string> names;
  for (const ZipEntry& entry : entries) names.emplace_back(entry.name.substr(folder.size()));
  return names;
}

int64_t number_of(std::string_view part) {
  int64_t number = -1;
  std::from_chars(part.data(), part.data() + part.size(), number);
  return number;
}

}  // namespace

bool looks_like_zip(const std::string& start) { return start.starts_with("PK\x03\x04"); }

Result<Files> files_of_zip(const FileName& name) {
  LAPILLI_TRY(const auto file, File::open(name));
  LAPILLI_TRY(const auto entries, read_zip(file));
  LAPILLI_TRY(auto source, make_zip_source(file, folder_of_all(entries)));
  return Files(std::move(source), name.path());
}

Result<ArgosPackage> read_argos_package(const Files& files) {
  LAPILLI_TRY(const auto json, read_json_file(files / kMetadata));
  ArgosPackage package{text_in(json, "from_code"),     text_in(json, "to_code"), text_in(json, "package_version"),
                       text_in(json, "argos_version"), text_in(json, "type"),    text_in(json, "target_prefix")};
  if (package.from.empty()) package.from = only_code(json, "source_languages");
  if (package.to.empty()) package.to = only_code(json, "target_languages");
  if (package.type.empty()) package.type = "translate";
  return package;
}

bool is_newer_version(const std::string& version, const std::string& than) {
  std::string_view a = version, b = than;
  while (!a.empty() || !b.empty()) {
    const std::string_view left = a.substr(0, a.find('.')), right = b.substr(0, b.find('.'));
    if (number_of(left) != number_of(right)) return number_of(left) > number_of(right);
    a.remove_prefix(std::min(a.size(), left.size() + 1));
    b.remove_prefix(std::min(b.size(), right.size() + 1));
  }
  return false;
}

Result<std::optional<Opened>> open_argos_directory(const Files& files) {
  const bool is_package =
      (files / kMetadata).there() && ct2::looks_like_model(first_bytes(files.below(kModel) / "model.bin", 16));
  if (!is_package) return std::optional<Opened>();
  LAPILLI_TRY(auto opened,
              read_package(files, files.on_disk() ? names_in(files.directory()) : std::vector<std::string>()));
  return std::optional(std::move(opened));
}

Result<std::optional<Opened>> open_argos(const FileName& file) {
  if (!looks_like_zip(first_bytes(file, 4))) return std::optional<Opened>();
  LAPILLI_TRY(const auto names, names_in_zip(file));
  if (std::ranges::find(names, kMetadata) == names.end()) return std::optional<Opened>();
  LAPILLI_TRY(const auto files, files_of_zip(file));
  LAPILLI_TRY(auto opened, read_package(files, names));
  return std::optional(std::move(opened));
}

}  // namespace lapilli::doors
