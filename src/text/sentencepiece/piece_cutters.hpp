// Segmentation of normalized text into SentencePiece pieces: one class per algorithm.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "text/pipeline/models.hpp"
#include "text/sentencepiece/piece_table.hpp"
#include "text/unicode/byte_trie.hpp"

namespace lapilli {

// Immutable; cut() may be called from several threads and may throw std::bad_alloc.
class PieceCutter {
 public:
  virtual ~PieceCutter() = default;
  // The pieces of `text` (valid UTF-8), in order and without gaps. Unknown characters are separate pieces.
  virtual Status cut(std::string_view text, std::vector<ModelToken>& pieces) const = 0;
};

// Table and symbols (the user-defined pieces, see user_defined_symbols) must outlive the cutter.
Result<std::unique_ptr<const PieceCutter>> make_piece_cutter(SentencePieceFile::Algorithm algorithm,
                                                             const PieceTable& table, const ByteTrie& symbols);

// Pieces that are recognized anywhere in a text.
Result<ByteTrie> user_defined_symbols(const PieceTable& table);

}  // namespace lapilli
