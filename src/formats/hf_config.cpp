#include "formats/hf_config.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "formats/quote.hpp"

namespace lapilli {
namespace {

// The value; null if it is missing or JSON null.
const nlohmann::json* value_of(const JsonView& v, const char* key) {
  if (!v.json.is_object()) return nullptr;
  const auto it = v.json.find(key);
  return it == v.json.end() || it->is_null() ? nullptr : &*it;
}

Failure missing_key(const JsonView& v, const char* key) {
  return fail(ErrorCode::invalid_data, "%s lacks \"%s\"", v.where, key);
}

Failure wrong(const JsonView& v, const char* key, const nlohmann::json& value, const char* wanted) {
  std::string shown;
  if (value.is_structured()) {
    shown = value.is_array() ? "a list" : "an object";
  } else {
    shown = quote_name(value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), 60);
  }
  return fail(ErrorCode::invalid_data, "%s: \"%s\" is %s, but must be %s", v.where, key, shown, wanted);
}

std::optional<uint64_t> whole_number(const nlohmann::json& value, uint64_t highest) {
  if (!value.is_number_integer()) return std::nullopt;
  if (!value.is_number_unsigned() && value.get<int64_t>() < 0) return std::nullopt;
  const auto n = value.get<uint64_t>();
  return n <= highest ? std::optional(n) : std::nullopt;
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, const std::string& where) {
  if (json_nests_too_deep(text))
    return fail(ErrorCode::invalid_data, "%s nests deeper than %d levels: refused", where, kMaxJsonDepth);
  try {
    auto json = nlohmann::json::parse(text.begin(), text.end());
    if (!json.is_object()) return fail(ErrorCode::invalid_data, "%s is no JSON object", where);
    return json;
  } catch (const nlohmann::json::parse_error& e) {
    return fail(ErrorCode::invalid_data, "%s is not valid JSON (at byte %u)", where, e.byte);
  } catch (const std::exception& e) {
    return fail(ErrorCode::invalid_data, "%s cannot be read as JSON: %s", where, e.what());
  }
}

Result<nlohmann::json> read_json_file(const FileName& path, size_t limit) {
  LAPILLI_TRY(const auto text, read_text_file(path, limit));
  return parse_json(text, path.path());
}

bool has(const JsonView& v, const char* key) { return value_of(v, key) != nullptr; }

Result<uint32_t> get_u32(const JsonView& v, const char* key) {
  const auto* value = value_of(v, key);
  if (!value) return missing_key(v, key);
  const auto n = whole_number(*value, std::numeric_limits<uint32_t>::max());
  if (!n) return wrong(v, key, *value, "a whole number from 0 to 4294967295");
  return static_cast<uint32_t>(*n);
}

Result<int32_t> get_id(const JsonView& v, const char* key) {
  const auto* value = value_of(v, key);
  if (!value) return missing_key(v, key);
  const auto n = whole_number(*value, std::numeric_limits<int32_t>::max());
  if (!n) return wrong(v, key, *value, "a token id (0 to 2147483647)");
  return static_cast<int32_t>(*n);
}

Result<bool> get_bool(const JsonView& v, const char* key) {
  const auto* value = value_of(v, key);
  if (!value) return missing_key(v, key);
  if (!value->is_boolean()) return wrong(v, key, *value, "true or false");
  return value->get<bool>();
}

Result<float> get_float(const JsonView& v, const char* key) {
  const auto* value = value_of(v, key);
  if (!value) return missing_key(v, key);
  if (!value->is_number()) return wrong(v, key, *value, "a number");
  const double d = value->get<double>();
  if (!(std::abs(d) <= std::numeric_limits<float>::max())) return wrong(v, key, *value, "a number that fits float32");
  return static_cast<float>(d);
}

Result<std::string> get_string(const JsonView& v, const char* key) {
  const auto* value = value_of(v, key);
  if (!value) return missing_key(v, key);
  if (!value->is_string()) return wrong(v, key, *value, "text");
  return value->get<std::string>();
}

Result<uint32_t> get_u32(const JsonView& v, const char* key, uint32_t missing) {
  return has(v, key) ? get_u32(v, key) : Result<uint32_t>(missing);
}
Result<int32_t> get_id(const JsonView& v, const char* key, int32_t missing) {
  return has(v, key) ? get_id(v, key) : Result<int32_t>(missing);
}
Result<bool> get_bool(const JsonView& v, const char* key, bool missing) {
  return has(v, key) ? get_bool(v, key) : Result<bool>(missing);
}
Result<float> get_float(const JsonView& v, const char* key, float missing) {
  return has(v, key) ? get_float(v, key) : Result<float>(missing);
}
Result<std::string> get_string(const JsonView& v, const char* key, std::string missing) {
  return has(v, key) ? get_string(v, key) : Result<std::string>(std::move(missing));
}

}  // namespace lapilli
