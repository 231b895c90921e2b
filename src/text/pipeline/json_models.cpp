#include <utility>

#include "text/pipeline/json_components.hpp"

namespace lapilli {
namespace {

using nlohmann::json;

Result<ModelPtr> read_bpe(const JsonReader& reader) {
  if (const json* dropout = reader.find("dropout"); dropout != nullptr) {
    if (!dropout->is_number()) return reader.wrong("dropout", "a number");
    if (dropout->get<double>() != 0)
      return fail(ErrorCode::unsupported, "%s: dropout makes tokens at random; set it to null", reader.where());
  }
  BpeOptions options;
  LAPILLI_TRY(options.unknown, reader.text("unk_token", ""));
  LAPILLI_TRY(options.continuing_subword_prefix, reader.text("continuing_subword_prefix", ""));
  LAPILLI_TRY(options.end_of_word_suffix, reader.text("end_of_word_suffix", ""));
  LAPILLI_TRY(options.fuse_unknown, reader.flag("fuse_unk", false));
  LAPILLI_TRY(options.byte_fallback, reader.flag("byte_fallback", false));
  LAPILLI_TRY(options.ignore_merges, reader.flag("ignore_merges", false));
  LAPILLI_TRY(auto vocabulary, read_vocabulary(reader));
  LAPILLI_TRY(const auto merges, read_merges(reader));
  return make_bpe(std::move(vocabulary), merges, options, reader.where());
}

Result<ModelPtr> read_word_piece(const JsonReader& reader) {
  WordPieceOptions options;
  LAPILLI_TRY(options.unknown, reader.text("unk_token", "[UNK]"));
  LAPILLI_TRY(options.continuing_subword_prefix, reader.text("continuing_subword_prefix", "##"));
  LAPILLI_TRY(const int32_t longest, reader.number("max_input_chars_per_word", 100));
  options.max_characters = static_cast<uint64_t>(longest);
  LAPILLI_TRY(auto vocabulary, read_vocabulary(reader));
  return make_word_piece(std::move(vocabulary), options, reader.where());
}

Result<ModelPtr> read_unigram(const JsonReader& reader) {
  LAPILLI_TRY(const json* list, reader.array("vocab"));
  std::vector<UnigramPiece> pieces;
  pieces.reserve(list->size());
  for (const json& entry : *list) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      return fail(ErrorCode::invalid_data, "%s.vocab: entry %u is no piece with a score", reader.where(),
                  pieces.size());
    pieces.push_back({entry[0].get<std::string>(), entry[1].get<double>()});
  }
  LAPILLI_TRY(const bool byte_fallback, reader.flag("byte_fallback", false));
  int32_t unknown = -1;
  if (reader.find("unk_id") != nullptr) {
    LAPILLI_TRY(unknown, reader.number("unk_id"));
  }
  return make_unigram(std::move(pieces), unknown, byte_fallback, reader.where());
}

Result<ModelPtr> read_word_level(const JsonReader& reader) {
  LAPILLI_TRY(const std::string unknown, reader.text("unk_token", ""));
  LAPILLI_TRY(auto vocabulary, read_vocabulary(reader));
  return make_word_level(std::move(vocabulary), unknown, reader.where());
}

// Older files lack the type, but their fields reveal it.
std::string guess_type(const JsonReader& reader) {
  if (reader.find("merges") != nullptr) return "BPE";
  if (reader.find("max_input_chars_per_word") != nullptr) return "WordPiece";
  const json* vocab = reader.find("vocab");
  return vocab != nullptr && vocab->is_array() ? "Unigram" : "WordLevel";
}

}  // namespace

Result<Vocabulary> read_vocabulary(const JsonReader& reader) {
  const json* table = reader.find("vocab");
  if (table == nullptr || !table->is_object()) return reader.wrong("vocab", "an object of token: id");
  std::vector<std::pair<std::string, int32_t>> entries;
  entries.reserve(table->size());
  for (const auto& [token, id] : table->items()) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > INT32_MAX)
      return fail(ErrorCode::invalid_data, "%s.vocab: the id of token %s is not a number from 0 to 2147483647",
                  reader.where(), quote_text(token));
    entries.emplace_back(token, static_cast<int32_t>(id.get<uint64_t>()));
  }
  return Vocabulary::make(std::move(entries), reader.where() + ".vocab");
}

// "a b", or ["a", "b"], which allows tokens with spaces.
Result<std::vector<Merge>> read_merges(const JsonReader& reader) {
  LAPILLI_TRY(const json* list, reader.array("merges"));
  std::vector<Merge> merges;
  merges.reserve(list->size());
  for (const json& entry : *list) {
    if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string()) {
      merges.emplace_back(entry[0].get<std::string>(), entry[1].get<std::string>());
      continue;
    }
    const std::string text = entry.is_string() ? entry.get<std::string>() : std::string();
    const size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
      return fail(ErrorCode::invalid_data, "%s.merges: entry %u is no pair of tokens", reader.where(), merges.size());
    merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  return merges;
}

Result<JsonReader> model_reader(const json& document, const std::string& path) {
  const JsonReader top(document, path);
  const json* value = top.find("model");
  if (value == nullptr || !value->is_object()) return top.wrong("model", "an object");
  return top.at(*value, "model");
}

Result<ModelPtr> read_model(const JsonReader& reader) {
  LAPILLI_TRY(const std::string type, reader.text("type", guess_type(reader).c_str()));
  if (type == "BPE") return read_bpe(reader);
  if (type == "WordPiece") return read_word_piece(reader);
  if (type == "Unigram") return read_unigram(reader);
  if (type == "WordLevel") return read_word_level(reader);
  return fail(ErrorCode::unsupported, "%s: this version knows no model %s", reader.where(), quote_text(type));
}

}  // namespace lapilli
