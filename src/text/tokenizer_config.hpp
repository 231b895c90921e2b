// Settings from tokenizer_config.json and special_tokens_map.json, and config.json's tokenizer class. Older uploads
// lack the first two.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "text/added_tokens.hpp"

namespace lapilli {

class TokenizerConfig {
 public:
  TokenizerConfig();  // as for a directory without the files

  // Errors name the file: no JSON, not an object.
  static Result<TokenizerConfig> load(const Files& files);

  // The text of a special token ("eos_token"): from tokenizer_config.json, else special_tokens_map.json, else
  // `fallback`. The files hold either a text or an object with "content".
  [[nodiscard]] Result<std::string> special_token(const char* name, const char* fallback) const;
  // Does the same, including the white-space flags of an object; id -1. A plain text takes the flags of `fallback`.
  [[nodiscard]] Result<AddedToken> special_entry(const char* name, const AddedToken& fallback) const;
  // Further special tokens ("additional_special_tokens", "extra_special_tokens") from both files; id -1.
  [[nodiscard]] Result<std::vector<AddedToken>> extra_special_tokens() const;
  // Fields of tokenizer_config.json; null counts as missing.
  [[nodiscard]] Result<bool> flag(const char* name, bool fallback) const;
  [[nodiscard]] Result<std::string> text(const char* name, const char* fallback) const;
  // The tokenizer's class, from config.json if tokenizer_config.json lacks it; empty if both do.
  [[nodiscard]] Result<std::string> tokenizer_class() const;
  [[nodiscard]] Result<int32_t> count(const char* name, int32_t fallback) const;  // 0 to 65536
  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] bool is_null(const char* name) const;  // there, and null
  // Tokens with their own ids: "added_tokens_decoder" of tokenizer_config.json, else added_tokens.json. Empty without
  // either.
  [[nodiscard]] Result<std::vector<AddedToken>> added_tokens() const;

  // tokenizer_config.json, for messages.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Objects;                        // of the three files; empty for missing ones
  std::string path_;                     // of tokenizer_config.json
  std::string special_path_;             // of special_tokens_map.json
  std::string added_path_;               // of added_tokens.json
  std::shared_ptr<const Objects> json_;  // copies share them
};

}  // namespace lapilli
