// The door of Firefox's and Bergamot's students: folders with model.XXYY.*.bin, vocab.XXYY.spm and lex.*.XXYY.s2t.bin.
#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "base/log_once.hpp"
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
constexpr double kLengthFactor = 2.0;      // Firefox's max-length-factor
constexpr int32_t kEnd = 0, kUnknown = 1;  // in all of Marian's vocabularies
constexpr size_t kStart = 32;              // bytes that tell the format

// A packed file that cannot be unpacked is an error if its name says that it is a model.
Result<std::vector<std::string>> bins_in(const Files& files) {
  std::vector<std::string> found;
  if (!files.on_disk() || files.directory().empty() || !directory_exists(files.directory())) return found;
  for (const std::string& name : unpacked_names(files.directory())) {
    if (!name.ends_with(".bin")) continue;
    const auto start = unpacked_start(files, name, kStart);
    if (!start && name.starts_with("model.")) return start.error();
    if (start && is_bin(name, *start)) found.push_back(name);
  }
  return found;
}

// Four letters, as Firefox and Bergamot write it.
bool is_language_pair(const std::string& pair) {
  return pair.size() == 4 && std::ranges::all_of(pair, [](char c) { return c >= 'a' && c <= 'z'; });
}

// The files beside a model.
struct Company {
  std::string folder;
  std::vector<std::string> names;
  std::string pair;  // "enpt" of "model.enpt.intgemm.alphas.bin"; empty if the model's name tells none

  [[nodiscard]] bool has(const std::string& name) const { return std::ranges::find(names, name) != names.end(); }
  // A part of a name that languages have, or a vocabulary.
  [[nodiscard]] bool is_pair(const std::string& part) const {
    return is_language_pair(part) || has("vocab." + part + ".spm") || has("srcvocab." + part + ".spm");
  }
  [[nodiscard]] std::vector<std::string> like(const std::string& begin, const std::string& end) const {
    std::vector<std::string> found;
    for (const std::string& name : names)
      if (name.starts_with(begin) && name.ends_with(end)) found.push_back(name);
    return found;
  }
};

Company company_of(const Files& folder, const std::string& model) {
  Company c{folder.directory(), unpacked_names(folder.directory()), {}};
  const size_t begin = model.find('.'), end = begin == std::string::npos ? begin : model.find('.', begin + 1);
  if (end == std::string::npos) return c;
  const std::string part = model.substr(begin + 1, end - begin - 1);
  if (c.is_pair(part)) c.pair = part;
  return c;
}

constexpr const char *kListBegin = "lex.", *kListEnd = ".s2t.bin";

// "enpt" of "lex.50.50.enpt.s2t.bin"; empty if the name tells no pair.
std::string pair_of_list(const Company& c, const std::string& name) {
  if (name == kShortlistFile) return {};
  const std::string rest = name.substr(0, name.size() - std::string_view(kListEnd).size());
  const std::string part = rest.substr(rest.rfind('.') + 1);
  return c.is_pair(part) ? part : std::string();
}

// The list of the pair's own direction, or one of no pair; for a model of no pair the only one.
std::string own_list(const Company& c, const std::vector<std::string>& lists) {
  if (c.pair.empty()) return lists.size() == 1 ? lists.front() : std::string();
  for (const std::string& pair : {c.pair, std::string()}) {
    const auto of_pair = [&](const std::string& name) { return pair_of_list(c, name) == pair; };
    const auto last = std::find_if(lists.rbegin(), lists.rend(), of_pair);
    if (last != lists.rend()) return *last;
  }
  return {};
}

const char* why_unused(const Company& c, const std::string& list) {
  if (c.pair.empty()) return "the model's name does not tell which shortlist is its own";
  const std::string pair = pair_of_list(c, list);
  return pair.empty() || pair == c.pair ? "another shortlist is used" : "a shortlist of another pair of languages";
}

void add_shortlist(const Company& c, MadeFiles& made, std::vector<std::string>& unused) {
  const auto lists = c.like(kListBegin, kListEnd);
  const std::string own = own_list(c, lists);
  for (const std::string& name : lists)
    if (name != own) unused.emplace_back(quote_name(name) + ": " + why_unused(c, name));
  if (!own.empty()) made.others[kShortlistFile] = own;
  if (own.empty())
    log_once(LogLevel::note, "shortlist of " + c.folder,
             c.folder + " has no shortlist that is surely this model's (lex.*" + (c.pair.empty() ? "" : "." + c.pair) +
                 ".s2t.bin): each word is chosen from the whole vocabulary, which takes longer");
}

struct Vocabularies {
  std::string source, target;  // names of files; the same one for both
  [[nodiscard]] bool shared() const { return source == target; }
};

// Those that end with `end`: one for both languages, or one for each.
std::optional<Vocabularies> vocabularies_named(const Company& c, const std::string& end) {
  const std::string shared = "vocab" + end, source = "srcvocab" + end, target = "trgvocab" + end;
  if (c.has(shared)) return Vocabularies{shared, shared};
  if (c.has(source) && c.has(target)) return Vocabularies{source, target};
  return std::nullopt;
}

// Those of a model whose name tells no pair, where no others could be meant.
std::optional<Vocabularies> only_vocabularies(const Company& c) {
  const auto shared = c.like("vocab.", ".spm"), source = c.like("srcvocab.", ".spm"),
             target = c.like("trgvocab.", ".spm");
  if (shared.size() == 1 && source.empty() && target.empty()) return Vocabularies{shared[0], shared[0]};
  if (shared.empty() && source.size() == 1 && target.size() == 1) return Vocabularies{source[0], target[0]};
  return std::nullopt;
}

// Another pair's are never taken.
Result<Vocabularies> find_vocabularies(const Company& c) {
  const std::string end = c.pair.empty() ? ".spm" : "." + c.pair + ".spm";
  auto found = vocabularies_named(c, end);
  if (!found) found = c.pair.empty() ? only_vocabularies(c) : vocabularies_named(c, ".spm");
  if (found) return *found;
  return fail(ErrorCode::not_found,
              "%s has the model's weights and not its vocabulary: looked for vocab%s, and for srcvocab%s with "
              "trgvocab%s; give the vocabulary this name",
              c.folder, end, end, end);
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

Status add_vocabularies(const Files& folder, Mapped& mapped, const Company& company, MadeFiles& made) {
  LAPILLI_TRY(const auto names, find_vocabularies(company));
  const bool shared = names.shared();
  mapped.config[kSharedVocabulary] = shared;
  const std::string& pair = company.pair;
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
  json["new_tokens_per_source_token"] = kLengthFactor;
  add_ids(start, json);
  json["suppress_tokens"] = {kUnknown, start};
  return json;
}

// Files of the registry may be packed. Shortlists that are left aside were named with the reason.
std::vector<std::string> own_files(const std::string& model, const Company& company, const MadeFiles& made) {
  std::vector<std::string> own = company.like(kListBegin, kListEnd);
  own.push_back(model);
  for (const auto& [name, of] : made.others) own.push_back(of);
  for (size_t i = own.size(); i-- > 0;) own.push_back(packed_name(own[i]));
  return own;
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
  Opened opened{{"Marian", settings.text("version", "without a version"), "Marian's .bin", unused_of(mapped)},
                {folder, {}, {}, {}}};
  const Company company = company_of(folder, name);
  LAPILLI_CHECK(add_vocabularies(folder, mapped, company, opened.files));
  add_shortlist(company, opened.files, opened.origin.unused);
  add_ids(mapped.target_ids, mapped.config);
  if (mapped.scaled) mapped.config["quantization_config"] = quantization_json({.dtype = "int8", .tied = {}});
  opened.files.texts["config.json"] = text_of(mapped.config);
  opened.files.texts["generation_config.json"] = text_of(generation_of(mapped.target_ids));
  opened.files.tensors = std::move(mapped.tensors);
  opened.own = own_files(name, company, opened.files);
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
  const auto start = file == packed ? Result<std::string>(first_bytes(name, marian::kStart))
                                    : marian::unpacked_start(folder, file, marian::kStart);
  if (!start && file.starts_with("model.")) return start.error();
  if (!start || !marian::is_bin(file, *start)) return std::optional<Opened>();
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
  name_unused(files, opened);
  return std::optional(std::move(opened));
}

}  // namespace lapilli::doors
