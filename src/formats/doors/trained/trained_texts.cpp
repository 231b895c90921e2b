#include "formats/doors/trained/trained_texts.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/path.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors::trained {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kWordMark = "\u2581", kGoesOn = "@@";

bool any_piece(const PieceFiles& p, auto&& wanted) {
  return std::ranges::any_of(p.source, wanted) || std::ranges::any_of(p.target, wanted);
}

bool is_there(const Files& files, const std::string& name) { return (files / name).there(); }

// Names that programs and their users give to these files; "{}" is a language.
constexpr const char* kCodes[] = {"bpecodes",     "bpe.codes",   "codes",    "code",  "bpe.code",
                                  "bpe.codes.{}", "bpecodes.{}", "{}.codes", "bpe.{}"};
constexpr const char* kModels[] = {"sentencepiece.bpe.model", "spm.model",   "sentencepiece.model", "bpe.model",
                                   "subwords.sp.model",       "{}.spm",      "spm.{}.model",        "{}.model",
                                   "sentencepiece.{}.model",  "sp.{}.model", "source.spm"};

// Languages come from the checkpoint and go into names of files.
bool is_language(const std::string& text) {
  return text.size() <= 64 && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

std::string in_language(const char* name, const std::string& language) {
  std::string text = name;
  if (const size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, language);
  return text;
}

// The first of the names that is there; else the only file of the directory with one of these endings.
std::string find_one(const Files& files, std::span<const char* const> names, const std::string& language,
                     std::initializer_list<std::string_view> endings) {
  for (const char* name : names)
    if (const std::string one = in_language(name, language); is_there(files, one)) return one;
  std::vector<std::string> found;
  for (const std::string& name : file_names(files))
    if (std::ranges::any_of(endings, [&](std::string_view e) { return name.ends_with(e); })) found.push_back(name);
  return found.size() == 1 ? found[0] : std::string();
}

std::string names_text(std::span<const char* const> names) {
  std::string text;
  for (const char* name : names) text += (text.empty() ? "" : ", ") + in_language(name, "LANGUAGE");
  return text;
}

void take_files(const Files& files, std::span<const char* const> names, const char* cut,
                std::initializer_list<std::string_view> endings, PieceFiles& p) {
  p.source_file = find_one(files, names, p.source_language, endings);
  p.target_file = find_one(files, names, p.target_language, endings);
  if (!p.source_file.empty() && !p.target_file.empty()) return void(p.cut = cut);
  p.missing = format(
      "the pieces of this model's vocabulary are cut by a file that is not beside it; looked for: %s. Put the file "
      "there, or give ids",
      names_text(names));
}

bool is_number(const std::string& piece) {
  return std::ranges::all_of(piece, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_character(const std::string& piece) {
  return std::ranges::count_if(piece, [](char c) { return (c & 0xc0) != 0x80; }) == 1;
}

// Pieces of pyonmttok.
bool has_joiners(const PieceFiles& p) {
  constexpr std::string_view kJoiner = "\uffed";
  return any_piece(p, [&](const std::string& piece) { return piece.find(kJoiner) != std::string::npos; });
}

// The cutting of pieces that have no mark and are no words.
std::string other_cutting(const PieceFiles& p) {
  const auto most = [&](auto&& wanted) {
    const auto count = std::ranges::count_if(p.source, wanted);
    return count > 8 && static_cast<size_t>(count) * 2 > p.source.size();
  };
  if (most(is_number)) return "GPT-2's byte pairs, whose pieces are numbers";
  return most(is_character) ? "single characters" : "";
}

std::string refused_cutting(const std::string& cutting) {
  return "texts of this model are cut by " + cutting + ", which is not read; give ids";
}

std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json pieces_json(const PieceFiles& p) {
  Json json = {{"source", p.source},
               {"unknown", p.unknown},
               {"end", p.end},
               {"start", p.start},
               {"source_end", p.source_end},
               {"moses", p.moses},
               {"source_start", p.source_start}};
  if (!p.target.empty()) json["target"] = p.target;
  for (const auto& [key, text] : {std::pair{"padding", &p.padding},
                                  {"cut", &p.cut},
                                  {"missing", &p.missing},
                                  {"source_language", &p.source_language},
                                  {"target_language", &p.target_language}})
    if (!text->empty()) json[key] = *text;
  return json;
}

}  // namespace

std::vector<std::string> file_names(const Files& files) {
  if (!files.on_disk() || files.directory().empty() || !directory_exists(files.directory())) return {};
  return names_in(files.directory());
}

std::string language_of(const std::string& text) { return is_language(text) ? text : std::string(); }

void find_cut(const Files& files, PieceFiles& p) {
  const std::string unread = p.unread.empty() && has_joiners(p) ? "pyonmttok's joiners" : p.unread;
  if (!unread.empty()) return void(p.missing = refused_cutting(unread));
  if (any_piece(p, [](const std::string& piece) { return piece.size() > 2 && piece.ends_with(kGoesOn); }))
    return take_files(files, kCodes, "codes", {".codes", "bpecodes"}, p);
  if (any_piece(p, [](const std::string& piece) { return piece.starts_with(kWordMark); }))
    return take_files(files, kModels, "sentencepiece", {".model", ".spm"}, p);
  if (const std::string other = other_cutting(p); !other.empty()) return void(p.missing = refused_cutting(other));
  p.cut = "words";
}

void add_texts(TrainedMapper& mapper, const PieceFiles& pieces, MadeFiles& made) {
  made.texts["config.json"] = dumped(mapper.config, 2);
  made.texts["generation_config.json"] = dumped(mapper.generation, 2);
  if (pieces.source.empty()) return;
  made.texts["tokenizer_config.json"] = "{\"tokenizer_class\": \"PiecesTokenizer\"}\n";
  made.texts["pieces.json"] = dumped(pieces_json(pieces), -1);
  const std::string ending = pieces.cut == "codes" ? ".codes" : ".spm";
  for (const auto& [side, name] : {std::pair{"source", &pieces.source_file}, {"target", &pieces.target_file}})
    if (!name->empty()) made.others[side + ending] = *name;
}

}  // namespace lapilli::doors::trained
