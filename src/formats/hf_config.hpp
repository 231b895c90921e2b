// The JSON files of a Hugging Face model directory: size-limited parsing and typed getters.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/generation_config.hpp"

namespace lapilli {

// Parses a whole file. Refuses more than `limit` bytes, nesting deeper than 64, and anything but an object at the top.
Result<nlohmann::json> read_json_file(const FileName& path, size_t limit = size_t{16} << 20);
// Does the same for a text; `where` stands for the path in messages.
Result<nlohmann::json> parse_json(std::string_view text, const std::string& where);

// An object and the name of its file, for the getters' messages. Owns nothing.
struct JsonView {
  const nlohmann::json& json;  // an object
  std::string where;
};

// Getters return `missing` if the key is absent or null, and an error naming file and key if the value has the wrong
// type or does not fit. Without `missing` the key is required.
Result<uint32_t> get_u32(const JsonView& view, const char* key);
Result<uint32_t> get_u32(const JsonView& view, const char* key, uint32_t missing);
Result<int32_t> get_id(const JsonView& view, const char* key);  // a token id: 0 to 2^31 - 1
Result<int32_t> get_id(const JsonView& view, const char* key, int32_t missing);
Result<bool> get_bool(const JsonView& view, const char* key);
Result<bool> get_bool(const JsonView& view, const char* key, bool missing);
Result<float> get_float(const JsonView& view, const char* key);  // finite; integers are accepted
Result<float> get_float(const JsonView& view, const char* key, float missing);
Result<std::string> get_string(const JsonView& view, const char* key);
Result<std::string> get_string(const JsonView& view, const char* key, std::string missing);
// True if the key is present and not null.
bool has(const JsonView& view, const char* key);

}  // namespace lapilli
