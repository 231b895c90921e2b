// What tokenizer_config.json and special_tokens_map.json say. Both files may be missing: older uploads have neither.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "text/added_tokens.hpp"

namespace lapilli {

class TokenizerConfig {
 public:
  // Errors name the file: no JSON, not an object.
  static Result<TokenizerConfig> load(const std::string& directory);

  // The text of a special token ("eos_token"): from tokenizer_config.json, else special_tokens_map.json, else
  // `fallback`. The files hold either the text or an object with its "content".
  [[nodiscard]] Result<std::string> special_token(const char* name, const char* fallback) const;
  // A field of tokenizer_config.json; null counts as missing.
  [[nodiscard]] Result<bool> flag(const char* name, bool fallback) const;
  // "added_tokens_decoder" of tokenizer_config.json: tokens with ids of their own. Empty if there is none.
  [[nodiscard]] Result<std::vector<AddedToken>> added_tokens() const;

 private:
  std::string path_;          // of tokenizer_config.json
  std::string special_path_;  // of special_tokens_map.json
  nlohmann::json config_;     // objects, empty where a file is missing
  nlohmann::json special_;
};

}  // namespace lapilli
