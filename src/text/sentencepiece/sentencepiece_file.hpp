// Contents of a SentencePiece model file (.spm, spiece.model): pieces, and how texts are normalized and cut.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// Files are untrusted, but pieces are valid as stated here. Missing fields have the defaults given here.
struct SentencePieceFile {
  enum class Type { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string text;  // 1 to 1024 bytes, valid UTF-8 without a zero byte, or a zero byte alone
    float score = 0;   // finite
    Type type = Type::normal;
  };
  struct Normalizer {
    std::string charsmap;  // empty: none
    bool add_dummy_prefix = true;
    bool remove_extra_whitespaces = true;
    bool escape_whitespaces = true;
  };
  enum class Algorithm { unigram = 1, bpe = 2, word = 3, character = 4 };

  std::vector<Piece> pieces;  // not empty
  Algorithm algorithm = Algorithm::unigram;
  bool byte_fallback = false;
  bool space_behind = false;  // space marks follow words
  std::string unknown_piece = "<unk>";
  std::string begin_piece = "<s>";
  std::string end_piece = "</s>";
  std::string padding_piece = "<pad>";
  std::string unknown_surface = " \xE2\x81\x87 ";  // text of the unknown piece
  Normalizer normalizer;
  Normalizer denormalizer;  // used if it has a character map

  // Errors name the file.
  static Result<SentencePieceFile> load(const FileName& path);
};

}  // namespace lapilli
