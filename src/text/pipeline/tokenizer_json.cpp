#include "text/pipeline/tokenizer_json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "text/pipeline/json_components.hpp"

namespace lapilli {
namespace {

using nlohmann::json;

const json* find_charsmap(const json& normalizer) {
  if (!normalizer.is_object()) return nullptr;
  if (normalizer.contains("precompiled_charsmap")) return &normalizer;
  const auto list = normalizer.find("normalizers");
  if (list == normalizer.end() || !list->is_array()) return nullptr;
  for (const json& part : *list) {
    if (const json* found = find_charsmap(part)) return found;
  }
  return nullptr;
}

// Reads the component `key` with `read`; null if it is missing.
template <class F>
auto read_component(const JsonReader& top, const char* key, F&& read) -> decltype(read(top)) {
  const json* value = top.find(key);
  if (value == nullptr) return typename decltype(read(top))::value_type{};
  return read(top.at(*value, key));
}

}  // namespace

TokenizerJson::TokenizerJson(std::string path, std::unique_ptr<const json> json)
    : path_(std::move(path)), json_(std::move(json)) {}
TokenizerJson::TokenizerJson(TokenizerJson&&) noexcept = default;
TokenizerJson& TokenizerJson::operator=(TokenizerJson&&) noexcept = default;
TokenizerJson::~TokenizerJson() = default;

Result<TokenizerJson> TokenizerJson::load(const FileName& path) {
  LAPILLI_TRY(const std::string text, read_text_file(path));
  if (json_nests_too_deep(text))
    return fail(ErrorCode::invalid_data, "%s: nested deeper than %d levels", path, kMaxJsonDepth);
  auto value = std::make_unique<json>(json::parse(text, nullptr, false));
  if (value->is_discarded()) return fail(ErrorCode::invalid_data, "%s: not valid JSON", path);
  if (!value->is_object())
    return fail(ErrorCode::invalid_data, "%s: expected an object, found %s", path, value->type_name());
  return TokenizerJson(path.path(), std::move(value));
}

Result<NormalizerPtr> TokenizerJson::normalizer() const {
  return read_component(JsonReader(*json_, path_), "normalizer", read_normalizer);
}
Result<PreTokenizerPtr> TokenizerJson::pre_tokenizer() const {
  return read_component(JsonReader(*json_, path_), "pre_tokenizer", read_pre_tokenizer);
}
Result<PostProcessorPtr> TokenizerJson::post_processor() const {
  return read_component(JsonReader(*json_, path_), "post_processor", read_post_processor);
}
Result<DecoderPtr> TokenizerJson::decoder() const {
  return read_component(JsonReader(*json_, path_), "decoder", read_decoder);
}

Result<ModelPtr> TokenizerJson::model() const {
  LAPILLI_TRY(const JsonReader reader, model_reader(*json_, path_));
  return read_model(reader);
}

Result<std::vector<AddedToken>> TokenizerJson::added_tokens() const {
  std::vector<AddedToken> tokens;
  const JsonReader top(*json_, path_);
  if (top.find("added_tokens") == nullptr) return tokens;
  LAPILLI_TRY(const json* list, top.array("added_tokens"));
  for (const json& value : *list) {
    const JsonReader entry = top.at(value, "added_tokens");
    AddedToken token;
    LAPILLI_TRY(token.text, entry.text("content"));
    LAPILLI_TRY(token.id, entry.number("id"));
    LAPILLI_TRY(token.special, entry.flag("special", false));
    LAPILLI_TRY(token.lstrip, entry.flag("lstrip", false));
    LAPILLI_TRY(token.rstrip, entry.flag("rstrip", false));
    LAPILLI_TRY(token.single_word, entry.flag("single_word", false));
    LAPILLI_TRY(token.normalized, entry.flag("normalized", !token.special));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

Result<std::string> TokenizerJson::charsmap() const {
  const auto it = json_->find("normalizer");
  const json* found = it == json_->end() ? nullptr : find_charsmap(*it);
  if (found == nullptr) return std::string();
  return read_charsmap(JsonReader(*found, path_ + ".normalizer"));
}

bool TokenizerJson::pads_left() const {
  const auto padding = json_->find("padding");
  if (padding == json_->end() || !padding->is_object()) return false;
  const auto direction = padding->find("direction");
  return direction != padding->end() && direction->is_string() && *direction == "Left";
}

Result<Pipeline> TokenizerJson::pipeline() const {
  Pipeline p;
  LAPILLI_TRY(p.normalizer, normalizer());
  LAPILLI_TRY(p.pre_tokenizer, pre_tokenizer());
  LAPILLI_TRY(p.model, model());
  LAPILLI_TRY(p.post_processor, post_processor());
  LAPILLI_TRY(p.decoder, decoder());
  LAPILLI_TRY(auto tokens, added_tokens());
  LAPILLI_TRY(p.added, AddedVocabulary::make(std::move(tokens), *p.model, p.normalizer.get()));
  return p;
}

}  // namespace lapilli
