#include <algorithm>
#include <exception>

#include "base/path.hpp"
#include "formats/doors/ctranslate2/directory.hpp"
#include "formats/doors/readers.hpp"
#include "formats/hf_config.hpp"
#include "formats/quantization.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors {

namespace ct2 {

namespace {

using Map = void (*)(Mapper&, const Beside&, Fields&);
struct Specification {
  const char* name;
  Map map;
};
// Version 1 has no name.
constexpr Specification kSpecifications[] = {{"TransformerSpec", map_transformer},
                                             {"WhisperSpec", map_whisper},
                                             {"TransformerEncoderSpec", map_encoder},
                                             {"TransformerDecoderSpec", map_decoder},
                                             {"", map_transformer}};

Result<const Specification*> find_specification(const ModelFile& file, const std::string& where) {
  std::string known;
  for (const Specification& spec : kSpecifications) {
    if (file.spec == spec.name) return &spec;
    if (*spec.name) known += (known.empty() ? "" : ", ") + std::string(spec.name);
  }
  return fail(ErrorCode::unsupported, "%s is of the specification %s, which is not read; these are: %s", where,
              quote_name(file.spec), known);
}

Result<Beside> read_beside(const Files& files) {
  Beside beside{nlohmann::json::object(), {}};
  if (const FileName config = files / "config.json"; config.there()) {
    LAPILLI_TRY(beside.settings, read_json_file(config));
  }
  LAPILLI_TRY(beside.vocabularies, read_vocabularies(files));
  return beside;
}

std::string version_of(const ModelFile& file) {
  return format("binary version %u, %s revision %u", file.version, file.spec.empty() ? "TransformerSpec" : file.spec,
                file.revision);
}

// Marian's vocabularies, for the pieces of source.spm and target.spm. The id that starts the decoder has no token in
// CTranslate2's.
void add_marian_vocabularies(const nlohmann::json& config, Vocabularies v, MadeFiles& made) {
  const auto ids = config.value("vocab_size", uint64_t{0});
  for (Tokens* tokens : {&v.source, &v.target})
    if (tokens->size() + 1 == ids && !id_of(*tokens, "<pad>")) tokens->push_back("<pad>");
  made.texts["vocab.json"] = vocabulary_json(v.source);
  if (v.shared) return;
  made.texts["target_vocab.json"] = vocabulary_json(v.target);
  made.texts["tokenizer_config.json"] = R"({"separate_vocabs": true})";
}

// Texts of the directory; those that it has itself stay, but for config.json, which is CTranslate2's own there.
void add_texts(const Files& files, const Directory& d, MadeFiles& made) {
  made.texts["config.json"] = config_text(d);
  const auto add = [&](const char* name, const std::string& text) {
    if (!(files / name).there()) made.texts[name] = text;
  };
  add("generation_config.json", json_text(d.fields.generation));
  if (!d.fields.preprocessor.is_null()) add("preprocessor_config.json", json_text(d.fields.preprocessor));
  if (d.fields.config["model_type"] == "marian") add_marian_vocabularies(d.fields.config, d.beside.vocabularies, made);
}

std::vector<std::string> own_files(const Files& files) {
  std::vector<std::string> own = {"model.bin"};
  if (!files.on_disk()) return own;
  for (const std::string& name : names_in(files.directory()))
    if (is_vocabulary_file(name)) own.push_back(name);
  return own;
}

// Settings of texts, which files of 2020 to 2022 have among the weights.
void add_old_settings(const ModelFile& file, nlohmann::json& settings) {
  for (const std::string name : {"source_bos", "source_eos"})
    if (const auto number = file.number("with_" + name); number && !settings.contains("add_" + name))
      settings["add_" + name] = *number != 0;
}

}  // namespace

Result<Directory> read_directory(const Files& files) {
  const FileName name = files / "model.bin";
  LAPILLI_TRY(const auto file, read_model_file(name));
  LAPILLI_TRY(const auto* specification, find_specification(file, name.path()));
  Directory d;
  LAPILLI_TRY(d.beside, read_beside(files));
  Mapper mapper(file);
  specification->map(mapper, d.beside, d.fields);
  mapper.refuse_unused();
  LAPILLI_CHECK(mapper.verdict(name.path()));
  add_old_settings(file, d.beside.settings);
  d.origin = {"CTranslate2", version_of(file), "CTranslate2's model.bin", mapper.unused()};
  d.tensors = mapper.take();
  d.scaled = mapper.scaled();
  return d;
}

std::string json_text(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string config_text(const Directory& d) {
  nlohmann::json config = d.fields.config;
  if (d.scaled) config["quantization_config"] = quantization_json({.dtype = "int8", .tied = {}});
  return json_text(config);
}

std::string Beside::text(const char* key, const char* missing) const {
  const auto at = settings.find(key);
  return at != settings.end() && at->is_string() ? at->get<std::string>() : missing;
}

}  // namespace ct2

Result<std::optional<Opened>> open_ctranslate2(const Files& files) {
  if (!ct2::looks_like_model(first_bytes(files / "model.bin", 16))) return std::optional<Opened>();
  LAPILLI_TRY(auto directory, ct2::read_directory(files));
  Opened opened{directory.origin, {files, {}, {}, std::move(directory.tensors)}, ct2::own_files(files)};
  name_unused(files, opened);
  ct2::add_texts(files, directory, opened.files);
  return std::optional(std::move(opened));
}

}  // namespace lapilli::doors
