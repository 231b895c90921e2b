// SentencePiece's character map: rules that replace character sequences, as its model files and tokenizer.json hold
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// A double-array trie and a block of replacements. Every offset in it is hostile: a damaged map finds other rules or
// none, in time that its longest rule bounds. Immutable; const members may be called from several threads.
class CharacterMap {
 public:
  // The size of the trie in bytes (32 bits, little-endian), the trie, replacements that end in zero bytes. An empty map
  // has no rules. Errors name the field, precompiled_charsmap.
  static Result<CharacterMap> read(std::string_view map);

  // A rule for the beginning of a text.
  struct Rule {
    size_t length = 0;  // bytes that it replaces; 0: there is none
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
