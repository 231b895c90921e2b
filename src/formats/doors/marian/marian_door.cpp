// The door of Firefox's and Bergamot's students: folders with model.XXYY.*.bin, vocab.XXYY.spm and lex.*.XXYY.s2t.bin.
#include <algorithm>
#include <set>

#include "base/log.hpp"
#include "base/path.hpp"
#include "formats/doors/marian/network.hpp"
#include "formats/doors/marian/packed_files.hpp"
#include "formats/doors/marian/parameters.hpp"
#include "formats/doors/marian/pieces.hpp"
#include "formats/doors/readers.hpp"
#include "formats/quantization.hpp"
#include "formats/quote.hpp"
#include "formats/shortlist.hpp"

namespace lapilli::doors {

namespace marian {

namespace {

using Json = nlohmann::json;
using Pieces = std::vector<std::string>;

constexpr uint32_t kMostNewTokens = 512;
constexpr int32_t kEnd = 0, kUnknown = 1;  // in all of Marian's vocabularies
constexpr size_t kStart = 32;              // bytes that tell the format

// A packed file that cannot be unpacked is an error if its name says that it is a model.
Result<std::vector<std::string>> bins_in(const Files& files) {
  std::vector<std::string> found;
  if (!files.on_disk() || files.directory().empty() || !directory_exists(files.directory())) return found;
  const Files folder = unpacked(files);
  for (const std::string& name : unpacked_names(files.directory())) {
    if (!name.ends_with(".bin")) continue;
    if (name.starts_with("model.")) LAPILLI_CHECK(File::open(folder / name));
    if (is_bin(first_bytes(folder / name, kStart))) found.push_back(name);
  }
  return found;
}

// "enpt" of "model.enpt.intgemm.alphas.bin"; empty if the name tells no pair.
std::string pair_of(const std::string& name) {
  const size_t begin = name.find('.'), end = begin == std::string::npos ? begin : name.find('.', begin + 1);
  return end == std::string::npos ? std::string() : name.substr(begin + 1, end - begin - 1);
}

// The folder's file with this beginning and end: the pair's own, or the only one.
std::string file_of_pair(const std::vector<std::string>& names, const std::string& begin, const std::string& pair,
                         const std::string& end) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (!name.starts_with(begin) || !name.ends_with(end)) continue;
    if (!pair.empty() && name.ends_with("." + pair + end)) return name;
    found.push_back(name);
  }
  return found.size() == 1 ? found.front() : std::string();
}

// The list of the pair's own direction. Another direction's is left aside.
void add_shortlist(const Files& folder, const std::string& pair, MadeFiles& made, std::vector<std::string>& unused) {
  constexpr const char *kListBegin = "lex.", *kListEnd = "s2t.bin";
  std::string own;
  for (const std::string& name : unpacked_names(folder.directory())) {
    if (!name.starts_with(kListBegin) || !name.ends_with(kListEnd)) continue;
    const bool fits = pair.empty() || name.ends_with("." + pair + "." + kListEnd) || name == kShortlistFile;
    fits ? own = name : unused.emplace_back(quote_name(name) + ": a shortlist of another pair of languages");
  }
  if (!own.empty()) made.others[kShortlistFile] = own;
  if (own.empty())
    log(LogLevel::note, folder.directory() + " has no shortlist (lex.*." + pair +
                            ".s2t.bin): each word is chosen from the whole vocabulary, which takes longer");
}

struct Vocabularies {
  std::string source, target;  // names of files; the same one for both
};

Result<Vocabularies> find_vocabularies(const Files& folder, const std::string& pair) {
  const auto names = unpacked_names(folder.directory());
  const std::string shared = file_of_pair(names, "vocab.", pair, ".spm");
  if (!shared.empty()) return Vocabularies{shared, shared};
  Vocabularies v{file_of_pair(names, "srcvocab.", pair, ".spm"), file_of_pair(names, "trgvocab.", pair, ".spm")};
  if (!v.source.empty() && !v.target.empty()) return v;
  return fail(
      ErrorCode::not_found,
      "%s has the model's weights and not its vocabulary: looked for vocab.%s.spm, and for srcvocab.%s.spm with "
      "trgvocab.%s.spm",
      folder, pair.c_str(), pair.c_str(), pair.c_str());
}

Status check_pieces(const Files& folder, const std::string& name, const Pieces& pieces, uint64_t ids) {
  if (pieces.size() != ids)
    return fail(ErrorCode::invalid_data, "%s has %u pieces, and the model %u ids: it is of another model",
                folder / name, pieces.size(), ids);
  if (pieces.size() > kUnknown && pieces[kEnd] == "</s>" && pieces[kUnknown] == "<unk>") return {};
  return fail(ErrorCode::unsupported, "%s does not begin with </s> and <unk>, as Marian's vocabularies do",
              folder / name);
}

// Ids by piece, and the id that starts the decoder.
std::string vocabulary_text(const Pieces& pieces) {
  Json json = Json::object();
  for (size_t i = 0; i < pieces.size(); ++i) json.emplace(pieces[i], i);
  json["<pad>"] = pieces.size();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_language_pair(const std::string& pair) {
  return pair.size() == 4 && std::ranges::all_of(pair, [](char c) { return c >= 'a' && c <= 'z'; });
}

Status add_vocabularies(const Files& folder, const Mapped& mapped, const std::string& pair, MadeFiles& made) {
  LAPILLI_TRY(const auto names, find_vocabularies(folder, pair));
  const bool shared = names.source == names.target;
  Json tokenizer = {{"tokenizer_class", "MarianTokenizer"}, {"separate_vocabs", !shared}};
  if (is_language_pair(pair)) {
    tokenizer["source_lang"] = pair.substr(0, 2);
    tokenizer["target_lang"] = pair.substr(2);
  }
  LAPILLI_TRY(const auto source, read_pieces(folder / names.source));
  LAPILLI_CHECK(check_pieces(folder, names.source, source, mapped.source_ids));
  made.texts["vocab.json"] = vocabulary_text(source);
  made.texts["tokenizer_config.json"] = tokenizer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  made.others["source.spm"] = names.source;
  made.others["target.spm"] = names.target;
  LAPILLI_TRY(const auto target, read_pieces(folder / names.target));
  LAPILLI_CHECK(check_pieces(folder, names.target, target, mapped.target_ids));
  if (!shared) made.texts["target_vocab.json"] = vocabulary_text(target);
  return {};
}

// Both files tell the ids with a meaning.
void add_ids(uint64_t start, Json& json) {
  json["eos_token_id"] = kEnd;
  json["pad_token_id"] = json["decoder_start_token_id"] = start;
}

// As Firefox searches, or Marian with several beams.
Json generation_of(uint64_t start) {
  Json json = {
      {"num_beams", 1}, {"length_penalty", 1.0}, {"early_stopping", "shrinking"}, {"max_length", kMostNewTokens}};
  add_ids(start, json);
  json["suppress_tokens"] = {kUnknown, start};
  return json;
}

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::vector<std::string> unused_of(const Mapped& mapped) {
  size_t scales = 0;
  std::vector<std::string> unused;
  for (const std::string& name : mapped.unused) {
    const bool scale = name.ends_with("_QuantMultA");
    if (scale) ++scales;
    if (!scale) unused.push_back(quote_name(name));
  }
  if (scales) unused.push_back(format("%u scales of 8-bit inputs (QuantMultA): inputs stay in fp32", scales));
  return unused;
}

Result<Opened> read(const Files& directory, const std::string& name) {
  const Files folder = unpacked(directory);
  LAPILLI_TRY(const auto file, File::open(folder / name));
  LAPILLI_TRY(const auto parameters, read_bin(file));
  if (parameters.settings.empty())
    return fail(ErrorCode::invalid_data, "%s lacks special:model.yml, which says what network it is", file.path());
  LAPILLI_TRY(const auto settings, Settings::parse(parameters.settings, file.path()));
  LAPILLI_TRY(auto mapped, map_network(parameters, settings, file.path()));
  Opened opened{{"Marian", settings.text("version", "without a version"), unused_of(mapped)}, {folder, {}, {}, {}}};
  LAPILLI_CHECK(add_vocabularies(folder, mapped, pair_of(name), opened.files));
  add_shortlist(folder, pair_of(name), opened.files, opened.origin.unused);
  add_ids(mapped.target_ids, mapped.config);
  if (mapped.scaled) mapped.config["quantization_config"] = quantization_json({.dtype = "int8", .tied = {}});
  opened.files.texts["config.json"] = text_of(mapped.config);
  opened.files.texts["generation_config.json"] = text_of(generation_of(mapped.target_ids));
  opened.files.tensors = std::move(mapped.tensors);
  return opened;
}

// The folder of a path, and the name in it.
std::pair<std::string, std::string> cut_path(const std::string& path) {
  const auto slash = path.find_last_of("/\\");
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, std::max<size_t>(slash, 1)), path.substr(slash + 1)};
}

}  // namespace

}  // namespace marian

Result<std::optional<Opened>> open_marian(const FileName& name) {
  const auto [folder, packed] = marian::cut_path(name.path());
  const std::string file = marian::unpacked_name(packed);
  const FileName plain = file == packed ? name : marian::unpacked(folder) / file;
  if (!marian::is_bin(first_bytes(plain, marian::kStart))) return std::optional<Opened>();
  LAPILLI_TRY(auto opened, marian::read(Files(folder), file));
  return std::optional(std::move(opened));
}

Result<std::optional<Opened>> open_marian_directory(const Files& files) {
  LAPILLI_TRY(const auto found, marian::bins_in(files));
  if (found.empty()) return std::optional<Opened>();
  if (found.size() > 1)
    return fail(ErrorCode::invalid_argument, "%s holds %u models of Marian (%s and %s, say); name the file", files,
                found.size(), quote_name(found[0]), quote_name(found[1]));
  LAPILLI_TRY(auto opened, marian::read(files, found[0]));
  return std::optional(std::move(opened));
}

}  // namespace lapilli::doors
