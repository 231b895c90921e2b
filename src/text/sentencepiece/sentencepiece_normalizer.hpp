// What SentencePiece does to a text before it is cut: the character map, marks for spaces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/sentencepiece/sentencepiece_file.hpp"
#include "text/unicode/byte_trie.hpp"
#include "text/unicode/character_map.hpp"

namespace lapilli {

// Always valid UTF-8.
struct NormalizedText {
  std::string text;
  // For each byte of `text`, and for its end: the byte of the input that it stands for. Ascending.
  std::vector<uint32_t> origins;
};

// Immutable; const members may be called from several threads and may throw std::bad_alloc.
class SentencePieceNormalizer {
 public:
  using Settings = SentencePieceFile::Normalizer;
  // `symbols` stay as they are in texts (null: there are none); they must outlive the normalizer. `space_behind`: the
  // dummy prefix becomes a suffix.
  static Result<SentencePieceNormalizer> make(Settings settings, const ByteTrie* symbols, bool space_behind);

  // Of `input`, bytes that are not UTF-8 become U+FFFD. Error: a text that its rules make too long.
  [[nodiscard]] Result<NormalizedText> apply(std::string_view input) const;

 private:
  // What stands for the next bytes of an input.
  struct Part {
    size_t length = 0;
    std::string_view text;
  };
  SentencePieceNormalizer(Settings settings, const ByteTrie* symbols, bool space_behind, CharacterMap map);
  [[nodiscard]] Part next(std::string_view input) const;
  [[nodiscard]] size_t leading_spaces(std::string_view input) const;
  void add_space(NormalizedText& out, size_t origin) const;
  void add(NormalizedText& out, std::string_view text, size_t origin) const;
  // Takes the marks of spaces at the end away. Gives the origin of the end.
  [[nodiscard]] size_t strip_end(NormalizedText& out, size_t end) const;

  Settings settings_;
  const ByteTrie* symbols_;
  bool space_behind_;
  CharacterMap map_;
  std::string_view space_;  // how spaces are written
};

}  // namespace lapilli
