// Whisper's ids by the rules that its makers follow (openai/whisper): special tokens by the size of the vocabulary, ids
// that are no speech by the tokens' texts, and the merges that made the tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lapilli::doors {

struct WhisperIds {
  int32_t end = -1, start = -1;
  bool multilingual = false;
  std::vector<std::pair<std::string, int32_t>> languages;  // codes, in order
  int32_t translate = -1, transcribe = -1, start_of_lm = -1, previous = -1, no_speech = -1, no_timestamps = -1;
};
// None where the rule does not hold: it holds for the English vocabulary and for those of 99 or 100 languages.
std::optional<WhisperIds> whisper_ids(uint32_t vocabulary);

// Byte-level tokens, from their bytes, in the order in which they were merged.
class MergedTokens {
 public:
  explicit MergedTokens(const std::vector<std::string>& tokens);
  ~MergedTokens();
  MergedTokens(const MergedTokens&) = delete;
  MergedTokens& operator=(const MergedTokens&) = delete;

  // The pieces of a text.
  [[nodiscard]] std::vector<std::string> pieces(const std::string& text) const;
  [[nodiscard]] int32_t id(const std::string& piece) const;  // -1: it is no token
  // The two tokens of which each further one was made, in order; those that merges do not make are left out.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> merges() const;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

// Text tokens that stand for no speech (notes, brackets), sorted.
std::vector<int32_t> no_speech_tokens(const MergedTokens& tokens);

// Bytes in the alphabet of byte-level vocabularies, which has a printable character for each.
std::string in_byte_alphabet(const std::string& bytes);
// The inverse; other characters stay.
std::string bytes_of_alphabet(const std::string& text);

}  // namespace lapilli::doors
