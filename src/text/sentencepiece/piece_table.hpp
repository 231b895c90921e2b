// The pieces of a SentencePiece model file by text and by id.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "text/sentencepiece/sentencepiece_file.hpp"

namespace lapilli {

// Immutable; const members may be called from several threads. Ids are positions in the file.
class PieceTable {
 public:
  using Type = SentencePieceFile::Type;
  using Piece = SentencePieceFile::Piece;

  // Errors, which name no file: duplicate pieces, no unknown piece, missing or unexpected byte pieces.
  static Result<PieceTable> make(std::vector<Piece> pieces, bool byte_fallback);

  PieceTable(PieceTable&&) = default;
  PieceTable& operator=(PieceTable&&) = default;
  // The maps point into pieces_: moving preserves that, copying would not.
  PieceTable(const PieceTable&) = delete;
  PieceTable& operator=(const PieceTable&) = delete;

  [[nodiscard]] const std::vector<Piece>& all() const { return pieces_; }
  [[nodiscard]] const Piece& operator[](int32_t id) const { return pieces_[static_cast<size_t>(id)]; }
  [[nodiscard]] int32_t unknown() const { return unknown_; }
  // Control, byte and unknown pieces take precedence over others with the same text. unknown() if there is none.
  [[nodiscard]] int32_t id(std::string_view text) const;
  // Searches only normal, user-defined and unused pieces, as text is never split into others. -1 if there is none.
  [[nodiscard]] int32_t find(std::string_view text) const;
  // The piece for a part of a text: a normal or user-defined one, otherwise unknown().
  [[nodiscard]] int32_t subword(std::string_view text) const;
  // The piece for a byte, with byte fallback.
  [[nodiscard]] int32_t of_byte(unsigned char byte) const { return bytes_[byte]; }
  // The byte of a byte piece.
  [[nodiscard]] unsigned char byte(int32_t id) const;

 private:
  PieceTable() = default;
  Status add(int32_t id, bool byte_fallback);

  std::vector<Piece> pieces_;
  std::unordered_map<std::string_view, int32_t> subwords_;
  std::unordered_map<std::string_view, int32_t> reserved_;
  std::array<int32_t, 256> bytes_{};
  int32_t unknown_ = -1;
};

}  // namespace lapilli
