// One SentencePiece model (.spm, spiece.model). The library behind it is optional: CMake option LAPILLI_SENTENCEPIECE.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// False if this build has no SentencePiece; then every load is ErrorCode::unsupported.
bool sentencepiece_available();

// Immutable after loading; const members may be called from several threads and may throw std::bad_alloc.
class SentencePieceModel {
 public:
  // Errors name the file. The content is checked before the library sees it.
  static Result<SentencePieceModel> load(const std::string& path);

  SentencePieceModel(SentencePieceModel&&) noexcept;
  SentencePieceModel& operator=(SentencePieceModel&&) noexcept;
  ~SentencePieceModel();

  // Normalizes `text` (valid UTF-8, at most 1 MiB) and cuts it into pieces. Characters that the model does not know
  // come as they are, neighbours together.
  [[nodiscard]] Result<std::vector<std::string>> encode(std::string_view text) const;
  // Joins pieces into text. Pieces that the model does not know are kept as they are.
  [[nodiscard]] Result<std::string> decode(const std::vector<std::string>& pieces) const;

 private:
  struct Impl;
  explicit SentencePieceModel(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace lapilli
