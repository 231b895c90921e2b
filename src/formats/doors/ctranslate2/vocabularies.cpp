#include "formats/doors/ctranslate2/vocabularies.hpp"

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>

#include "base/json_depth.hpp"

namespace lapilli::doors::ct2 {

namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

constexpr size_t kMostTokens = size_t{1} << 21;

Failure no_list(const FileName& file) {
  return fail(ErrorCode::invalid_data, "%s is no list of tokens, as CTranslate2 writes it", file);
}

Result<Tokens> read_json_list(const FileName& file) {
  LAPILLI_TRY(const auto text, read_text_file(file, kMostBytes));
  if (json_nests_too_deep(text)) return no_list(file);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) return no_list(file);
  Tokens tokens;
  for (const auto& token : json) {
    if (!token.is_string() || tokens.size() == kMostTokens) return no_list(file);
    tokens.push_back(token.get<std::string>());
  }
  return tokens;
}

Result<Tokens> read_lines(const FileName& file) {
  LAPILLI_TRY(const auto text, read_text_file(file, kMostBytes));
  Tokens tokens;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    if (tokens.size() == kMostTokens) return no_list(file);
    tokens.push_back(std::move(line));
    at = end + 1;
  }
  return tokens;
}

// The tokens of STEM.json or STEM.txt, whichever is there; none otherwise.
Result<Tokens> read_tokens(const Files& files, const std::string& stem) {
  if (const FileName json = files / (stem + ".json"); json.there()) return read_json_list(json);
  if (const FileName lines = files / (stem + ".txt"); lines.there()) return read_lines(lines);
  return Tokens();
}

}  // namespace

Result<Vocabularies> read_vocabularies(const Files& files) {
  Vocabularies v;
  for (const char* stem : {"shared_vocabulary", "vocabulary"}) {
    LAPILLI_TRY(v.source, read_tokens(files, stem));
    v.target = v.source;
    if (!v.source.empty()) return v;
  }
  LAPILLI_TRY(v.source, read_tokens(files, "source_vocabulary"));
  LAPILLI_TRY(v.target, read_tokens(files, "target_vocabulary"));
  v.shared = false;
  return v;
}

bool is_vocabulary_file(std::string_view name) {
  if (!name.ends_with(".json") && !name.ends_with(".txt")) return false;
  constexpr std::string_view kStems[] = {"shared_vocabulary", "vocabulary", "source_vocabulary", "target_vocabulary"};
  return std::ranges::find(kStems, name.substr(0, name.rfind('.'))) != std::end(kStems);
}

std::optional<int32_t> id_of(const Tokens& tokens, std::string_view token) {
  const auto at = std::ranges::find(tokens, token);
  return at == tokens.end() ? std::nullopt : std::optional(static_cast<int32_t>(at - tokens.begin()));
}

std::string vocabulary_json(const Tokens& tokens) {
  nlohmann::json json = nlohmann::json::object();
  for (size_t i = 0; i < tokens.size(); ++i) json.emplace(tokens[i], i);
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace lapilli::doors::ct2
