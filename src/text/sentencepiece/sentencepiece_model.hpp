// A SentencePiece model (.spm, spiece.model). Ids, ranges and texts match the SentencePiece library, version 0.2.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// A piece of a text. A character spelled in bytes gives several pieces with the same range.
struct SentencePiece {
  std::string text;
  int32_t id = 0;               // the model's own numbering
  uint64_t begin = 0, end = 0;  // bytes of the text; begin == end for a mark of a space that is not in the text
};

// Immutable after loading; const members may be called from several threads and may throw std::bad_alloc.
class SentencePieceModel {
 public:
  // Errors name the file.
  static Result<SentencePieceModel> load(const FileName& path);

  SentencePieceModel(SentencePieceModel&&) noexcept;
  SentencePieceModel& operator=(SentencePieceModel&&) noexcept;
  ~SentencePieceModel();

  // Normalizes `text` and cuts it into pieces. Unknown characters come unchanged, adjacent ones together; invalid UTF-8
  // comes as U+FFFD.
  [[nodiscard]] Result<std::vector<SentencePiece>> encode(std::string_view text) const;
  // Joins pieces into text. Unknown pieces are kept unchanged.
  [[nodiscard]] Result<std::string> decode(const std::vector<std::string>& pieces) const;
  // Does the same for the model's own ids. Invalid ids count as unknown.
  [[nodiscard]] Result<std::string> decode(std::span<const int32_t> ids) const;

  // The model file's data about its pieces. -1 stands for a missing special piece.
  [[nodiscard]] uint64_t size() const;
  [[nodiscard]] std::string_view piece(int32_t id) const;        // id in [0, size); valid as long as the model
  [[nodiscard]] int32_t piece_id(std::string_view piece) const;  // unknown_id() if there is none
  [[nodiscard]] int32_t unknown_id() const;
  [[nodiscard]] int32_t begin_id() const;
  [[nodiscard]] int32_t end_id() const;
  [[nodiscard]] int32_t padding_id() const;

 private:
  struct Impl;
  explicit SentencePieceModel(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace lapilli
