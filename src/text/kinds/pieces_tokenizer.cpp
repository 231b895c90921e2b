// Tokenizers of training programs: pieces.json says how texts are cut and lists the pieces by their ids, for each side;
// the doors of these programs write it.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_depth.hpp"
#include "text/added_tokens.hpp"
#include "text/kinds/own_tokenizers.hpp"
#include "text/kinds/piece_cutting.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using Json = nlohmann::json;

struct PiecesParts {
  std::unique_ptr<const std::array<Vocabulary, 2>> words;  // source and target; cuttings refer to them
  std::array<std::unique_ptr<PieceCutting>, 2> cuttings;
  LanguagePair languages;
  std::string unknown;
  std::array<int32_t, 2> unknown_ids{-1, -1};
  bool source_start = false, source_end = true;
  bool leading_mark = false;        // a text may begin with a piece in brackets (">>fr<<"), which is not cut
  std::vector<std::string> hidden;  // pieces that no text shows
};

size_t number_of(TextSide side) { return side == TextSide::target ? 1 : 0; }

// Bytes of the language's mark that a text begins with.
size_t mark_size(std::string_view text) {
  const size_t end = text.starts_with(">>") ? text.find("<<") : std::string_view::npos;
  return end == std::string_view::npos ? 0 : end + 2;
}

class PiecesTokenizer final : public Tokenizer {
 public:
  PiecesTokenizer(PiecesParts parts, const SpecialIds& special) : p_(std::move(parts)) { special_ = special; }
  [[nodiscard]] std::string_view token(int32_t id) const override {
    const std::string* piece = words(TextSide::target).token(id);
    return piece ? *piece : p_.unknown;
  }
  [[nodiscard]] uint64_t vocabulary_size(TextSide side) const override { return words(side).size(); }
  [[nodiscard]] LanguagePair language_pair() const override { return p_.languages; }

 private:
  [[nodiscard]] const Vocabulary& words(TextSide side) const { return (*p_.words)[number_of(side)]; }
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view text, const EncodeOptions& options) const override {
    const size_t mark = p_.leading_mark ? mark_size(text) : 0;
    Encoding out;
    if (mark > 0) out.push(id_of(text.substr(0, mark), options.side), {0, mark});
    LAPILLI_TRY(const auto pieces, p_.cuttings[number_of(options.side)]->cut(text.substr(mark)));
    for (const CutPiece& piece : pieces)
      out.push(id_of(piece.text, options.side), {mark + piece.range.begin, mark + piece.range.end});
    return out;
  }
  [[nodiscard]] int32_t id_of(std::string_view piece, TextSide side) const {
    const int32_t id = words(side).id(piece);
    return id < 0 ? p_.unknown_ids[number_of(side)] : id;
  }
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions& options) const override {
    Encoding out;
    if (options.add_special && p_.source_start && options.side == TextSide::source) out.push_special(special_.bos);
    out.append(first);
    if (second) out.append(*second);
    if (options.add_special && (p_.source_end || options.side == TextSide::target)) out.push_special(special_.eos);
    return out;
  }
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                 const DecodeOptions& options) const override {
    std::vector<std::string> pieces;
    for (const int32_t id : ids)
      if (!options.skip_special || !is_special(id)) pieces.emplace_back(token(id));
    return p_.cuttings[1]->join(pieces);
  }
  [[nodiscard]] bool is_special(int32_t id) const {
    return id == special_.eos || id == special_.bos || id == special_.pad ||
           std::ranges::find(p_.hidden, token(id)) != p_.hidden.end();
  }

  const PiecesParts p_;
};

Result<Json> read_pieces(const FileName& name) {
  LAPILLI_TRY(const auto text, read_text_file(name));
  Json json = json_nests_too_deep(text) ? Json() : Json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(ErrorCode::invalid_data, "%s: no object of pieces", name);
  return json;
}

std::string text_at(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

bool flag_at(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_boolean() && at->get<bool>();
}

std::vector<std::string> hidden_pieces(const Json& json) {
  std::vector<std::string> pieces;
  const auto list = json.find("hidden");
  if (list == json.end() || !list->is_array()) return pieces;
  for (const Json& piece : *list)
    if (piece.is_string()) pieces.push_back(piece.get<std::string>());
  return pieces;
}

// A text finds the first of two equal pieces; the ids of both are written.
Result<Vocabulary> read_side(const Json& json, const char* key, const FileName& name) {
  const auto list = json.find(key);
  if (list == json.end() || !list->is_array() || list->empty())
    return fail(ErrorCode::invalid_data, "%s: %s is no list of pieces", name, key);
  std::vector<std::string> pieces;
  for (const Json& piece : *list) {
    if (!piece.is_string()) return fail(ErrorCode::invalid_data, "%s: %s has an entry that is no text", name, key);
    pieces.push_back(piece.get<std::string>());
  }
  return Vocabulary::from_list(std::move(pieces));
}

Result<std::unique_ptr<PieceCutting>> make_cutting(const Json& json, const Files& files, const Vocabulary& words,
                                                   bool target) {
  const std::string cut = text_at(json, "cut"), side = target ? "target" : "source";
  const WordRules rules{flag_at(json, "moses"), text_at(json, (side + "_language").c_str()), flag_at(json, "normalize"),
                        !flag_at(json, "keep_dashes"), flag_at(json, "ascii_marks")};
  if (cut == "words") return make_word_cutting(rules);
  if (cut == "codes") return load_code_cutting(files / (side + ".codes"), rules);
  if (cut == "sentencepiece") return load_sentence_piece_cutting(files / (side + ".spm"), flag_at(json, "keep_spaces"));
  if (cut == "subwords") return make_subword_cutting(words);
  const std::string why = text_at(json, "missing");
  return fail(ErrorCode::not_found, "%s: %s", files, why.empty() ? "pieces.json has no known \"cut\"" : why);
}

// The target has them; a source that gets one, too, has it with the same id.
Result<SpecialIds> read_special(const Json& json, const FileName& name, const std::array<Vocabulary, 2>& words) {
  SpecialIds ids;
  const auto set = [&](const char* key, int32_t& id, bool in_source) -> Status {
    const std::string piece = text_at(json, key);
    if (piece.empty()) return {};
    id = words[1].id(piece);
    if (id >= 0 && (!in_source || words[0].id(piece) == id)) return {};
    return fail(ErrorCode::invalid_data, "%s: %s (%s) has no id%s", name, quote_text(piece), key,
                in_source ? " that both sides share" : " in the target");
  };
  LAPILLI_CHECK(set("unknown", ids.unk, false));
  LAPILLI_CHECK(set("end", ids.eos, flag_at(json, "source_end")));
  LAPILLI_CHECK(set("start", ids.bos, flag_at(json, "source_start")));
  LAPILLI_CHECK(set("padding", ids.pad, false));
  if (flag_at(json, "source_start") && ids.bos < 0) return fail(ErrorCode::invalid_data, "%s names no start", name);
  if (ids.eos < 0) return fail(ErrorCode::invalid_data, "%s names no end", name);
  if (ids.unk < 0) ids.unk = ids.pad;
  if (ids.unk < 0) return fail(ErrorCode::invalid_data, "%s names no unknown piece", name);
  return ids;
}

// Each side has a vocabulary of its own, and so an id of its own for pieces that it lacks.
Status set_unknown(const Json& json, const FileName& name, const SpecialIds& special, PiecesParts& parts) {
  const std::string unknown = text_at(json, "unknown"), piece = unknown.empty() ? text_at(json, "padding") : unknown;
  parts.unknown = unknown;
  parts.unknown_ids = {(*parts.words)[0].id(piece), special.unk};
  if (parts.unknown_ids[0] >= 0) return {};
  return fail(ErrorCode::invalid_data, "%s: %s (unknown) has no id in the source", name, quote_text(piece));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_pieces_tokenizer(const Files& files) {
  LAPILLI_CHECK(require_unicode("tokenizers of training programs"));
  const FileName name = files / "pieces.json";
  LAPILLI_TRY(const Json json, read_pieces(name));
  LAPILLI_TRY(auto source, read_side(json, "source", name));
  LAPILLI_TRY(auto target, read_side(json, json.contains("target") ? "target" : "source", name));
  PiecesParts parts;
  parts.words = std::make_unique<const std::array<Vocabulary, 2>>(
      std::array<Vocabulary, 2>{std::move(source), std::move(target)});
  for (size_t i = 0; i < 2; ++i) {
    LAPILLI_TRY(parts.cuttings[i], make_cutting(json, files, (*parts.words)[i], i == 1));
  }
  LAPILLI_TRY(const auto special, read_special(json, name, *parts.words));
  parts.languages = {text_at(json, "source_language"), text_at(json, "target_language")};
  LAPILLI_CHECK(set_unknown(json, name, special, parts));
  parts.source_start = flag_at(json, "source_start");
  parts.source_end = flag_at(json, "source_end");
  parts.leading_mark = flag_at(json, "leading_mark");
  parts.hidden = hidden_pieces(json);
  return std::unique_ptr<Tokenizer>(std::make_unique<PiecesTokenizer>(std::move(parts), special));
}

}  // namespace lapilli
