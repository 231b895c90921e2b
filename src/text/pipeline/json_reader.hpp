// A JSON object of a tokenizer.json and its position in the file: typed getters whose errors name the position.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

// Refers to the document without owning it.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  [[nodiscard]] const nlohmann::json& json() const { return *json_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  // nullptr if the member is missing or null, or this is no object.
  [[nodiscard]] const nlohmann::json* find(const char* key) const {
    if (!json_->is_object()) return nullptr;
    const auto it = json_->find(key);
    return it == json_->end() || it->is_null() ? nullptr : &*it;
  }
  [[nodiscard]] JsonReader at(const nlohmann::json& json, const std::string& name) const {
    return {json, where_ + "." + name};
  }
  [[nodiscard]] Failure wrong(const char* key, const char* wanted) const {
    return fail(ErrorCode::invalid_data, "%s: %s is not %s", where_, key, wanted);
  }

  // Without `missing` the member is required.
  [[nodiscard]] Result<std::string> text(const char* key, const char* missing = nullptr) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr && missing != nullptr) return std::string(missing);
    if (value == nullptr || !value->is_string()) return wrong(key, "a text");
    return value->get<std::string>();
  }
  [[nodiscard]] Result<bool> flag(const char* key, bool missing) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr) return missing;
    if (!value->is_boolean()) return wrong(key, "true or false");
    return value->get<bool>();
  }
  // 0 to 2^31 - 1.
  [[nodiscard]] Result<int32_t> number(const char* key, std::optional<int32_t> missing = {}) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr && missing) return *missing;
    if (value == nullptr || !value->is_number_unsigned() || value->get<uint64_t>() > INT32_MAX)
      return wrong(key, "a number from 0 to 2147483647");
    return static_cast<int32_t>(value->get<uint64_t>());
  }
  [[nodiscard]] Result<const nlohmann::json*> array(const char* key) const {
    const nlohmann::json* value = find(key);
    if (value == nullptr || !value->is_array()) return wrong(key, "a list");
    return value;
  }

 private:
  const nlohmann::json* json_;
  std::string where_;
};

}  // namespace lapilli
