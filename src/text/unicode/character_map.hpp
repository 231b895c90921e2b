// SentencePiece's character map: rules that replace character sequences, from its model files and tokenizer.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// A double-array trie and a block of replacements. Every offset is untrusted: a damaged map finds other rules or none,
// in time bounded by its longest rule. Immutable; const members may be called from several threads.
class CharacterMap {
 public:
  // Format: the trie's size in bytes (32 bits, little-endian), the trie, zero-terminated replacements. An empty map has
  // no rules. Errors name the field, precompiled_charsmap.
  static Result<CharacterMap> read(std::string_view map);

  // The rule for the beginning of a text.
  struct Rule {
    size_t length = 0;  // bytes that it replaces; 0: no rule
    std::string_view replacement;
  };
  [[nodiscard]] Rule shortest(std::string_view text) const;
  [[nodiscard]] Rule longest(std::string_view text) const;

 private:
  [[nodiscard]] Rule find(std::string_view text, bool first_counts) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace lapilli
