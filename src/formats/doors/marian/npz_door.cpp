// The door of Marian's own models: .npz with decoder.yml and vocabularies, as opus-mt publishes them, in a folder or in
// a zip file.
#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/path.hpp"
#include "formats/doors/argos.hpp"
#include "formats/doors/marian/network.hpp"
#include "formats/doors/marian/npz_file.hpp"
#include "formats/doors/marian/pieces.hpp"
#include "formats/doors/marian/vocabulary_file.hpp"
#include "formats/doors/readers.hpp"
#include "formats/quote.hpp"
#include "formats/zip.hpp"

namespace lapilli::doors {

namespace marian {

namespace {

using Names = std::vector<std::string>;

constexpr const char *kDecoderFile = "decoder.yml", *kPreprocess = "preprocess.sh", *kReadme = "README.md";
constexpr const char *kSourceCodes = "source.bpe", *kTargetCodes = "target.bpe";
constexpr const char* kStartPiece = "<pad>";  // the row of zeros, behind the vocabulary's
constexpr uint32_t kMostNewPieces = 512;
constexpr uint64_t kMostBeams = 32;

// A folder's files, or a zip file's, by name.
struct Folder {
  Files files;
  Names names;
  [[nodiscard]] bool has(const std::string& name) const { return std::ranges::find(names, name) != names.end(); }
  [[nodiscard]] Names ending(std::string_view end) const {
    Names found;
    std::ranges::copy_if(names, std::back_inserter(found), [&](const auto& name) { return name.ends_with(end); });
    return found;
  }
};

// The members of an .npz; none if the file is no archive of arrays.
Result<Names> arrays_in(const File& file) {
  LAPILLI_TRY(const auto entries, read_zip(file));
  Names names;
  for (const ZipEntry& entry : entries) names.emplace_back(entry.name);
  const bool arrays = std::ranges::all_of(names, [](const auto& name) { return name.ends_with(".npy"); });
  return arrays ? names : Names();
}

bool is_archive(const FileName& file) { return looks_like_zip(first_bytes(file, 4)); }

// A path's last part: decoder.yml may name files in other folders, and they lie beside it.
std::string last_part_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

Result<Settings> read_decoder(const Folder& folder) {
  if (!folder.has(kDecoderFile)) return Settings::parse("", "");
  const FileName file = folder.files / kDecoderFile;
  constexpr size_t kMost = size_t{1} << 20;
  LAPILLI_TRY(const auto text, read_text_file(file, kMost));
  return Settings::parse(text, file.path());
}

// The model that decoder.yml names, or the only one.
Result<std::string> find_model(const Folder& folder, const Settings& decoder) {
  const Names listed = decoder.list("models"), there = folder.ending(".npz");
  if (listed.size() > 1)
    return fail(ErrorCode::unsupported, "%s names %u models, and an ensemble is not run; leave one in its list",
                folder.files / kDecoderFile, listed.size());
  if (listed.size() == 1 && folder.has(last_part_of(listed[0]))) return last_part_of(listed[0]);
  if (there.size() == 1) return there[0];
  return fail(ErrorCode::invalid_argument, "%s holds %u models of Marian, and no decoder.yml names one; name the file",
              folder.files, there.size());
}

struct VocabularyNames {
  std::string source, target;
};

// Those that decoder.yml names; else by their endings.
Result<VocabularyNames> find_vocabulary_files(const Folder& folder, const Settings& decoder) {
  Names listed = decoder.list("vocabs");
  for (std::string& name : listed) name = last_part_of(name);
  if (listed.size() == 2 && folder.has(listed[0]) && folder.has(listed[1]))
    return VocabularyNames{listed[0], listed[1]};
  const Names sources = folder.ending(".src.vocab.yml"), targets = folder.ending(".trg.vocab.yml"),
              all = folder.ending("vocab.yml");
  if (sources.size() == 1 && targets.size() == 1) return VocabularyNames{sources[0], targets[0]};
  if (all.size() == 1) return VocabularyNames{all[0], all[0]};
  if (const Names pieces = folder.ending("vocab.spm"); pieces.size() == 1) return VocabularyNames{pieces[0], pieces[0]};
  return fail(ErrorCode::not_found,
              "%s has the model's weights and not its vocabularies: looked for the two that decoder.yml names, for "
              "*.vocab.yml, and for *.src.vocab.yml with *.trg.vocab.yml",
              folder.files);
}

Result<Names> read_vocabulary_of(const Folder& folder, const std::string& name, uint64_t ids) {
  const FileName file = folder.files / name;
  LAPILLI_TRY(auto pieces, name.ends_with(".spm") ? read_pieces(file) : read_vocabulary(file));
  if (pieces.size() != ids)
    return fail(ErrorCode::invalid_data, "%s has %u pieces, and the model %u ids: it is of another model", file,
                pieces.size(), ids);
  return pieces;
}

// Ids by piece, and the id that starts the decoder.
std::string ids_text(const Names& pieces) {
  nlohmann::json json = nlohmann::json::object();
  for (size_t i = 0; i < pieces.size(); ++i) json.emplace(pieces[i], i);
  json[kStartPiece] = pieces.size();
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

int32_t id_in(const Names& pieces, std::string_view piece) {
  const auto at = std::ranges::find(pieces, piece);
  return at == pieces.end() ? -1 : static_cast<int32_t>(at - pieces.begin());
}

struct SpecialPieces {
  int32_t end = -1, unknown = -1;
};

Result<SpecialPieces> find_special(const Folder& folder, const VocabularyNames& names, const Names& source,
                                   const Names& target) {
  const SpecialPieces ids{id_in(source, "</s>"), id_in(source, "<unk>")};
  if (ids.end >= 0 && ids.unknown >= 0 && id_in(target, "</s>") == ids.end && id_in(target, "<unk>") == ids.unknown)
    return ids;
  return fail(ErrorCode::unsupported, "%s and %s have no </s> and <unk> with the same ids", folder.files / names.source,
              quote_name(names.target, 80));
}

// Small files beside a model, of which the program reads a word or two; "" without them.
std::string small_text(const Folder& folder, const char* name) {
  constexpr size_t kMost = size_t{1} << 20;
  if (!folder.has(name)) return "";
  const auto text = read_text_file(folder.files / name, kMost);
  return text ? *text : "";
}

// Punctuation as the publisher's script changes it before texts are cut.
std::string punctuation_of(const std::string& script) {
  if (script.find("normalize-punctuation") != std::string::npos) return "moses";
  return script.find("\uFF0C") != std::string::npos ? "table" : "";  // a wide comma that becomes ","
}

// The word behind `key` if it is the only one of its line, as README.md of opus-mt's models names a language.
std::string only_word_behind(const std::string& text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return "";
  std::istringstream line(text.substr(at + key.size(), text.find('\n', at) - at - key.size()));
  std::string word, more;
  line >> word >> more;
  const bool is_code = word.size() <= 16 && std::ranges::all_of(word, [](unsigned char c) {
                         return c == '_' || c == '-' || (c < 0x80 && std::isalnum(c) != 0);
                       });
  return is_code && more.empty() ? word : std::string();
}

struct PairOfReadme {
  std::string source, target;
};

PairOfReadme languages_in(const Folder& folder) {
  const std::string readme = small_text(folder, kReadme);
  return {only_word_behind(readme, "source language(s):"), only_word_behind(readme, "target language(s):")};
}

// Texts are cut by source.spm and target.spm; a vocabulary that is such a model cuts by itself.
void add_cutters(const Folder& folder, const VocabularyNames& names, MadeFiles& made) {
  for (const auto& [cutter, vocabulary] : {std::pair("source.spm", names.source), {"target.spm", names.target}}) {
    const std::string file = vocabulary.ends_with(".spm") ? vocabulary : cutter;
    if (folder.has(file)) made.others[cutter] = file;
  }
}

// The vocabularies and what is known of a model's texts.
struct TextParts {
  VocabularyNames names;
  Names source, target;
  std::string script;
  PairOfReadme languages;
  [[nodiscard]] bool shared() const { return names.source == names.target; }
};

void add_sentence_pieces(const Folder& folder, const TextParts& parts, MadeFiles& made) {
  nlohmann::json tokenizer = {{"tokenizer_class", "MarianTokenizer"}, {"separate_vocabs", !parts.shared()}};
  const auto set = [&](const char* key, const std::string& text) {
    if (!text.empty()) tokenizer[key] = text;
  };
  set("punctuation", punctuation_of(parts.script));
  set("source_lang", parts.languages.source);
  set("target_lang", parts.languages.target);
  made.texts["tokenizer_config.json"] = tokenizer.dump(2) + "\n";
  made.texts["vocab.json"] = ids_text(parts.source);
  if (!parts.shared()) made.texts["target_vocab.json"] = ids_text(parts.target);
  add_cutters(folder, parts.names, made);
}

std::string json_of(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Names with_start(Names pieces) {
  pieces.emplace_back(kStartPiece);
  return pieces;
}

// Codes of subword-nmt over Moses' words, whose punctuation became uniform and ASCII before, as opus-mt's older scripts
// do. A text begins with its language's mark.
void add_codes(const Folder& folder, const TextParts& parts, MadeFiles& made) {
  nlohmann::json pieces = {{"source", with_start(parts.source)},
                           {"unknown", "<unk>"},
                           {"end", "</s>"},
                           {"padding", kStartPiece},
                           {"source_end", true},
                           {"source_language", parts.languages.source},
                           {"target_language", parts.languages.target}};
  for (const char* rule : {"moses", "normalize", "ascii_marks", "leading_mark"}) pieces[rule] = true;
  if (!parts.shared()) pieces["target"] = with_start(parts.target);
  if (parts.script.find("truecase") == std::string::npos)
    pieces["cut"] = "codes";
  else
    pieces["missing"] = "preprocess.sh changes the case of words (truecase), which is not done here; give ids";
  made.texts["tokenizer_config.json"] = "{\"tokenizer_class\": \"PiecesTokenizer\"}\n";
  made.texts["pieces.json"] = json_of(pieces);
  made.others["source.codes"] = kSourceCodes;
  made.others["target.codes"] = folder.has(kTargetCodes) ? kTargetCodes : kSourceCodes;
}

Result<TextParts> read_text_parts(const Folder& folder, const Settings& decoder, const Mapped& mapped) {
  TextParts parts;
  LAPILLI_TRY(parts.names, find_vocabulary_files(folder, decoder));
  LAPILLI_TRY(parts.source, read_vocabulary_of(folder, parts.names.source, mapped.source_ids));
  LAPILLI_TRY(parts.target, read_vocabulary_of(folder, parts.names.target, mapped.target_ids));
  parts.script = small_text(folder, kPreprocess);
  parts.languages = languages_in(folder);
  return parts;
}

Status add_texts_of(const Folder& folder, const Settings& decoder, const Mapped& mapped, Opened& opened,
                    SpecialPieces& ids) {
  LAPILLI_TRY(const auto parts, read_text_parts(folder, decoder, mapped));
  LAPILLI_TRY(ids, find_special(folder, parts.names, parts.source, parts.target));
  for (const std::string& name :
       {std::string(kDecoderFile), parts.names.source, parts.names.target, std::string(kPreprocess)})
    opened.own.push_back(name);
  if (folder.has(kSourceCodes) && !folder.has("source.spm"))
    add_codes(folder, parts, opened.files);
  else
    add_sentence_pieces(folder, parts, opened.files);
  return {};
}

// A setting from 0 to `most`; `absent` is marian-decoder's own.
Result<double> number_of(const Settings& decoder, const char* key, const char* absent, double most,
                         const std::string& where) {
  const std::string text = decoder.text(key, absent);
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || !(number >= 0 && number <= most))
    return fail(ErrorCode::invalid_data, "%s: %s is %s", where, key, quote_name(text, 40));
  return number;
}

// A score is (sum - penalty n) / n^normalize for n ids: with normalize 1 the penalty is the same for all.
Status check_word_penalty(double penalty, double normalize, const std::string& where) {
  if (penalty == 0 || normalize == 1) return {};
  return fail(ErrorCode::unsupported,
              "%s: word-penalty is %g with normalize %g, and no search here has one; set it to 0, or normalize to 1",
              where, penalty, normalize);
}

// As marian-decoder searches with these settings.
Result<nlohmann::json> search_of(const Settings& decoder, const std::string& where, Names& unused) {
  nlohmann::json json = {{"num_beams", 1}, {"early_stopping", "shrinking"}, {"max_length", kMostNewPieces}};
  const uint64_t beams = decoder.number("beam-size", 12, kMostBeams);
  if (beams == 0 || beams > kMostBeams)
    return fail(ErrorCode::unsupported, "%s: beam-size is %s, not a number from 1 to %u", where,
                quote_name(decoder.text("beam-size"), 40), kMostBeams);
  json["num_beams"] = beams;
  LAPILLI_TRY(json["length_penalty"], number_of(decoder, "normalize", "0", 10, where));
  LAPILLI_TRY(json["new_tokens_per_source_token"], number_of(decoder, "max-length-factor", "3", 1000, where));
  LAPILLI_TRY(const double penalty, number_of(decoder, "word-penalty", "0", 1000, where));
  LAPILLI_CHECK(check_word_penalty(penalty, json["length_penalty"], where));
  if (penalty != 0) unused.push_back("word-penalty of decoder.yml, which changes nothing where normalize is 1");
  return json;
}

Result<Parameters> read_parameters(const FileName& name) {
  LAPILLI_TRY(const auto file, File::open(name));
  LAPILLI_TRY(const auto arrays, arrays_in(file));
  if (std::ranges::find(arrays, kSettingsArray) == arrays.end())
    return fail(ErrorCode::unsupported,
                "%s is no model of Marian: it lacks special:model.yml, which says what network it is", name);
  LAPILLI_TRY(auto source, make_zip_source(file, ""));
  return read_npz(Files(std::move(source), name.path()), arrays, name.path());
}

Result<Opened> read_folder(const Folder& folder, const std::string& model) {
  LAPILLI_TRY(const auto decoder, read_decoder(folder));
  const FileName name = folder.files / model;
  LAPILLI_TRY(const auto parameters, read_parameters(name));
  LAPILLI_TRY(const auto settings, Settings::parse(parameters.settings, name.path()));
  LAPILLI_TRY(auto mapped, map_network(parameters, settings, name.path()));
  Opened opened{{"Marian", settings.text("version", "without a version"), "Marian's .npz", mapped.unused},
                {folder.files, {}, {}, std::move(mapped.tensors)},
                {model}};
  SpecialPieces ids;
  LAPILLI_CHECK(add_texts_of(folder, decoder, mapped, opened, ids));
  LAPILLI_TRY(auto search, search_of(decoder, (folder.files / kDecoderFile).path(), opened.origin.unused));
  const uint64_t start = mapped.target_ids;
  for (nlohmann::json* json : {&mapped.config, &search}) {
    (*json)["eos_token_id"] = ids.end;
    (*json)["pad_token_id"] = (*json)["decoder_start_token_id"] = start;
  }
  search["suppress_tokens"] = {ids.unknown, start};
  opened.files.texts["config.json"] = json_of(mapped.config);
  opened.files.texts["generation_config.json"] = json_of(search);
  return opened;
}

Folder folder_on_disk(const Files& files) { return {files, names_in(files.directory())}; }

// The folder in which a file lies, and its name there.
std::pair<std::string, std::string> place_of(const std::string& path) {
  const size_t slash = path.find_last_of("/\\");
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, std::max<size_t>(slash, 1)), path.substr(slash + 1)};
}

// The files of a zip file that holds a model, without the folder that they lie in.
Result<Folder> folder_in_zip(const FileName& name) {
  LAPILLI_TRY(const auto file, File::open(name));
  LAPILLI_TRY(const auto entries, read_zip(file));
  const std::string top = folder_of_all(entries);
  LAPILLI_TRY(auto source, make_zip_source(file, top));
  Folder folder{Files(std::move(source), name.path()), {}};
  for (const ZipEntry& entry : entries) folder.names.emplace_back(entry.name.substr(top.size()));
  return folder;
}

}  // namespace

}  // namespace marian

Result<std::optional<Opened>> open_marian_archive(const FileName& name) {
  if (!marian::is_archive(name)) return std::optional<Opened>();
  LAPILLI_TRY(const auto file, File::open(name));
  LAPILLI_TRY(const auto arrays, marian::arrays_in(file));
  if (!arrays.empty()) {
    const auto [folder, model] = marian::place_of(name.path());
    LAPILLI_TRY(auto opened, marian::read_folder(marian::folder_on_disk(Files(folder)), model));
    return std::optional(std::move(opened));
  }
  LAPILLI_TRY(const auto folder, marian::folder_in_zip(name));
  if (folder.ending(".npz").empty()) return std::optional<Opened>();
  LAPILLI_TRY(const auto decoder, marian::read_decoder(folder));
  LAPILLI_TRY(const auto model, marian::find_model(folder, decoder));
  LAPILLI_TRY(auto opened, marian::read_folder(folder, model));
  return std::optional(std::move(opened));
}

Result<std::optional<Opened>> open_marian_folder(const Files& files) {
  if (!files.on_disk() || !directory_exists(files.directory())) return std::optional<Opened>();
  const auto folder = marian::folder_on_disk(files);
  if (folder.ending(".npz").empty()) return std::optional<Opened>();
  LAPILLI_TRY(const auto decoder, marian::read_decoder(folder));
  LAPILLI_TRY(const auto model, marian::find_model(folder, decoder));
  LAPILLI_TRY(auto opened, marian::read_folder(folder, model));
  name_unused(files, opened);
  return std::optional(std::move(opened));
}

}  // namespace lapilli::doors
