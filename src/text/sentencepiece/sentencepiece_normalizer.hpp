// SentencePiece's normalization before cutting: the character map, space marks.
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
  // For each byte of `text`, and for its end: the corresponding byte of the input. Ascending.
  std::vector<uint32_t> origins;
};

// Immutable; const members may be called from several threads and may throw std::bad_alloc.
class SentencePieceNormalizer {
 public:
  using Settings = SentencePieceFile::Normalizer;
  // `symbols` are left unchanged in texts (null: none); they must outlive the normalizer. `space_behind` turns the
  // dummy prefix into a suffix.
  static Result<SentencePieceNormalizer> make(Settings settings, const ByteTrie* symbols, bool space_behind);

  // Invalid UTF-8 in `input` becomes U+FFFD. An error if the rules make the text too long.
  [[nodiscard]] Result<NormalizedText> apply(std::string_view input) const;

 private:
  // The replacement of the next bytes of an input.
  struct Part {
    size_t length = 0;
    std::string_view text;
  };
  SentencePieceNormalizer(Settings settings, const ByteTrie* symbols, bool space_behind, CharacterMap map);
  [[nodiscard]] Part next(std::string_view input) const;
  [[nodiscard]] size_t leading_spaces(std::string_view input) const;
  void add_space(NormalizedText& out, size_t origin) const;
  void add(NormalizedText& out, std::string_view text, size_t origin) const;
  // Removes space marks at the end. Returns the origin of the new end.
  [[nodiscard]] size_t strip_end(NormalizedText& out, size_t end) const;

  Settings settings_;
  const ByteTrie* symbols_;
  bool space_behind_;
  CharacterMap map_;
  std::string_view space_;  // written form of a space
};

}  // namespace lapilli
