// What a SentencePiece model file says, read without the library: for tokenizers that take its pieces into another
// order and cut texts by other components.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

struct SentencePieceFile {
  enum class Type { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string text;  // not empty, valid UTF-8
    float score = 0;   // finite
    Type type = Type::normal;
  };
  std::vector<Piece> pieces;
  std::string charsmap;  // of the normalizer; empty if there is none
  bool is_bpe = false;   // else unigram (or characters, or words)

  // Errors name the file; its content is checked as for the library.
  static Result<SentencePieceFile> load(const std::string& path);
};

}  // namespace lapilli
