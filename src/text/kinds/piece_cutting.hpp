// The ways in which training programs cut texts into the pieces of their vocabularies, and join them again.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "text/tokenizer.hpp"
#include "text/vocabulary.hpp"

namespace lapilli {

struct CutPiece {
  std::string text;
  ByteRange range;  // bytes of the text
};

// Immutable: const members may be called from several threads and may throw std::bad_alloc.
class PieceCutting {
 public:
  virtual ~PieceCutting() = default;
  // `text` is valid UTF-8.
  [[nodiscard]] virtual Result<std::vector<CutPiece>> cut(std::string_view text) const = 0;
  [[nodiscard]] virtual std::string join(const std::vector<std::string>& pieces) const = 0;
};

// Words between spaces, or with a language those of Moses' tokenizer for it.
struct WordRules {
  bool moses = false;
  std::string language;
  bool normalized = false;   // Moses' punctuation first
  bool split_dashes = true;  // within words, as "@-@"
  bool ascii_marks = false;  // before all that, and controls become spaces
};
std::unique_ptr<PieceCutting> make_word_cutting(WordRules rules);
// Codes of subword-nmt (Sennrich et al. 2016): "@@" ends a piece that goes on. Errors name the file.
Result<std::unique_ptr<PieceCutting>> load_code_cutting(const FileName& codes, WordRules rules);
// A SentencePiece model. Texts have no white space around them; with `keep_spaces` only the first space
// goes, and "_" is one.
Result<std::unique_ptr<PieceCutting>> load_sentence_piece_cutting(const FileName& model, bool keep_spaces);
// Tensor2Tensor's subwords: the longest piece of the vocabulary from the left. `words` outlives the cutting.
std::unique_ptr<PieceCutting> make_subword_cutting(const Vocabulary& words);

}  // namespace lapilli
