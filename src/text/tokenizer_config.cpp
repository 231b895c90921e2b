#include "text/tokenizer_config.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using nlohmann::json;

Result<json> load_object(const FileName& path) {
  if (!path.there()) return json::object();
  LAPILLI_TRY(const std::string text, read_text_file(path));
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return fail(ErrorCode::invalid_data, "%s: not valid JSON", path);
  if (!value.is_object())
    return fail(ErrorCode::invalid_data, "%s: expected an object, found %s", path, value.type_name());
  return value;
}

const json* find(const json& object, const char* name) {
  const auto it = object.find(name);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

// An object with empty content names no token: Whisper's files of 2022 have such an unk_token.
const json* find_token(const json& object, const char* name) {
  const json* token = find(object, name);
  const json* content = token != nullptr && token->is_object() ? find(*token, "content") : nullptr;
  return content != nullptr && *content == "" ? nullptr : token;
}

Result<bool> read_flag(const json& object, const char* name, bool fallback, const std::string& where) {
  const json* value = find(object, name);
  if (value == nullptr) return fallback;
  if (!value->is_boolean())
    return fail(ErrorCode::invalid_data, "%s: %s is %s instead of true or false", where, name, value->type_name());
  return value->get<bool>();
}

// The text of a token: a string, or an object with "content".
Result<std::string> read_content(const json& value, const char* name, const std::string& where) {
  const json* content = value.is_object() ? find(value, "content") : &value;
  if (content == nullptr || !content->is_string() || content->get_ref<const std::string&>().empty())
    return fail(ErrorCode::invalid_data, "%s: %s is neither a text nor an object with a content", where, name);
  return content->get<std::string>();
}

// A token from a list's entry: a text, or an object with more fields.
Result<AddedToken> read_token(const json& value, const AddedToken& fallback, const char* name,
                              const std::string& where) {
  AddedToken token = fallback;
  LAPILLI_TRY(token.text, read_content(value, name, where));
  if (!value.is_object()) return token;
  LAPILLI_TRY(token.lstrip, read_flag(value, "lstrip", false, where));
  LAPILLI_TRY(token.rstrip, read_flag(value, "rstrip", false, where));
  return token;
}

// tokenizer_class in config.json; for a pair of models, in the part that handles text. Errors in that file are reported
// where it is read.
std::string model_class(const Files& files) {
  const auto config = load_object(files / "config.json");
  if (!config) return "";
  const json* part = &*config;
  for (const char* name : {"decoder", "encoder"}) {
    const json* side = find(*config, name);
    const json* of_side = side != nullptr && side->is_object() ? find(*side, "tokenizer_class") : nullptr;
    if (of_side != nullptr && find(*config, "tokenizer_class") == nullptr) part = side;
  }
  const json* name = find(*part, "tokenizer_class");
  return name != nullptr && name->is_string() ? name->get<std::string>() : "";
}

}  // namespace

struct TokenizerConfig::Objects {
  json config, special, added;
  std::string model_class;  // tokenizer_class of config.json
};

TokenizerConfig::TokenizerConfig() : json_(std::make_shared<Objects>()) {}

Result<TokenizerConfig> TokenizerConfig::load(const Files& files) {
  TokenizerConfig c;
  const FileName config = files / "tokenizer_config.json", special = files / "special_tokens_map.json",
                 added = files / "added_tokens.json";
  c.path_ = config.path();
  c.special_path_ = special.path();
  c.added_path_ = added.path();
  const auto objects = std::make_shared<Objects>();
  LAPILLI_TRY(objects->config, load_object(config));
  LAPILLI_TRY(objects->special, load_object(special));
  LAPILLI_TRY(objects->added, load_object(added));
  objects->model_class = model_class(files);
  c.json_ = objects;
  return c;
}

Result<std::string> TokenizerConfig::special_token(const char* name, const char* fallback) const {
  if (const json* value = find_token(json_->config, name)) return read_content(*value, name, path_);
  if (const json* value = find_token(json_->special, name)) return read_content(*value, name, special_path_);
  return std::string(fallback);
}

Result<AddedToken> TokenizerConfig::special_entry(const char* name, const AddedToken& fallback) const {
  if (const json* value = find_token(json_->config, name)) return read_token(*value, fallback, name, path_);
  if (const json* value = find_token(json_->special, name)) return read_token(*value, fallback, name, special_path_);
  return fallback;
}

Result<std::vector<AddedToken>> TokenizerConfig::extra_special_tokens() const {
  std::vector<AddedToken> tokens;
  const AddedToken plain{"", -1};
  const auto take = [&](const json& object, const char* name, const std::string& where) -> Status {
    const json* list = find(object, name);
    if (list == nullptr) return {};
    // For a while extra_special_tokens was an object that maps names to tokens.
    if (!list->is_array() && !list->is_object())
      return fail(ErrorCode::invalid_data, "%s: %s is %s instead of a list", where, name, list->type_name());
    for (const json& value : *list) {
      LAPILLI_TRY(AddedToken token, read_token(value, plain, name, where));
      tokens.push_back(std::move(token));
    }
    return {};
  };
  for (const char* name : {"additional_special_tokens", "extra_special_tokens"}) {
    LAPILLI_CHECK(take(json_->config, name, path_));
    LAPILLI_CHECK(take(json_->special, name, special_path_));
  }
  return tokens;
}

Result<std::string> TokenizerConfig::tokenizer_class() const {
  return text("tokenizer_class", json_->model_class.c_str());
}

Result<std::string> TokenizerConfig::text(const char* name, const char* fallback) const {
  const json* value = find(json_->config, name);
  if (value == nullptr) return std::string(fallback);
  if (!value->is_string())
    return fail(ErrorCode::invalid_data, "%s: %s is %s instead of a text", path_, name, value->type_name());
  return value->get<std::string>();
}

Result<int32_t> TokenizerConfig::count(const char* name, int32_t fallback) const {
  constexpr uint64_t kMost = 65536;
  const json* value = find(json_->config, name);
  if (value == nullptr) return fallback;
  if (!value->is_number_unsigned() || value->get<uint64_t>() > kMost)
    return fail(ErrorCode::invalid_data, "%s: %s is not a number from 0 to 65536", path_, name);
  return static_cast<int32_t>(value->get<uint64_t>());
}

bool TokenizerConfig::has(const char* name) const { return find(json_->config, name) != nullptr; }

bool TokenizerConfig::is_null(const char* name) const {
  const auto it = json_->config.find(name);
  return it != json_->config.end() && it->is_null();
}

Result<bool> TokenizerConfig::flag(const char* name, bool fallback) const {
  return read_flag(json_->config, name, fallback, path_);
}

Result<std::vector<AddedToken>> TokenizerConfig::added_tokens() const {
  std::vector<AddedToken> tokens;
  const json* entries = find(json_->config, "added_tokens_decoder");
  if (entries == nullptr) {
    for (const auto& [text, id] : json_->added.items()) {
      if (text.empty() || !id.is_number_unsigned() || id.get<uint64_t>() > uint64_t{0x7FFFFFFF})
        return fail(ErrorCode::invalid_data, "%s: %s has no id", added_path_, quote_text(text));
      tokens.push_back({text, static_cast<int32_t>(id.get<uint64_t>()), false});
    }
    return tokens;
  }
  if (!entries->is_object())
    return fail(ErrorCode::invalid_data, "%s: added_tokens_decoder is %s instead of an object", path_,
                entries->type_name());
  for (const auto& [key, value] : entries->items()) {
    AddedToken token;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token.id);
    if (error != std::errc() || end != key.data() + key.size() || token.id < 0 || !value.is_object())
      return fail(ErrorCode::invalid_data, "%s: added_tokens_decoder: %s is not an id with its token", path_,
                  quote_text(key));
    LAPILLI_TRY(token.text, read_content(value, "added_tokens_decoder", path_));
    LAPILLI_TRY(token.special, read_flag(value, "special", false, path_));
    LAPILLI_TRY(token.lstrip, read_flag(value, "lstrip", false, path_));
    LAPILLI_TRY(token.rstrip, read_flag(value, "rstrip", false, path_));
    LAPILLI_TRY(token.single_word, read_flag(value, "single_word", false, path_));
    LAPILLI_TRY(token.normalized, read_flag(value, "normalized", !token.special, path_));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace lapilli
