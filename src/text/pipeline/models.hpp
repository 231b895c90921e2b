// Models: the third stage, which splits words into tokens of a vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "text/vocabulary.hpp"

namespace lapilli {

// A token and the bytes of the word it stands for.
struct ModelToken {
  int32_t id = 0;
  uint32_t begin = 0;
  uint32_t end = 0;
};

enum class ModelKind { bpe, word_piece, unigram, word_level };

// Immutable; const members may be called from several threads. tokenize() may throw std::bad_alloc.
class SubwordModel {
 public:
  virtual ~SubwordModel() = default;
  // Appends the tokens of `word` (valid UTF-8). At most O(n log n) for n bytes and tokens of bounded length.
  virtual Status tokenize(std::string_view word, std::vector<ModelToken>& tokens) const = 0;
  // -1 if the vocabulary lacks it.
  [[nodiscard]] virtual int32_t id(std::string_view token) const = 0;
  // nullptr if no token has this id. Valid as long as the model.
  [[nodiscard]] virtual const std::string* token(int32_t id) const = 0;
  // Largest id plus one.
  [[nodiscard]] virtual uint64_t size() const = 0;
  [[nodiscard]] virtual ModelKind kind() const = 0;
  // The id for unknown text; -1 if the model has none.
  [[nodiscard]] virtual int32_t unknown() const = 0;
  // The beginning of tokens that go on a word; empty: they have none.
  [[nodiscard]] virtual std::string_view continuing_prefix() const { return {}; }
};
using ModelPtr = std::unique_ptr<const SubwordModel>;

struct BpeOptions {
  std::string unknown;                    // empty: unknown characters are dropped
  std::string continuing_subword_prefix;  // before characters that do not start a word
  std::string end_of_word_suffix;         // after the last character of a word
  bool fuse_unknown = false;              // neighbouring unknown characters become one token
  bool byte_fallback = false;             // unknown characters become tokens <0xNN>
  bool ignore_merges = false;             // words that are tokens stay whole
};
using Merge = std::pair<std::string, std::string>;
// Merges in order of their ranks. `where` names the file in messages. Fails if the vocabulary lacks the parts or result
// of a merge, or the unknown token.
Result<ModelPtr> make_bpe(Vocabulary vocabulary, const std::vector<Merge>& merges, const BpeOptions& options,
                          const std::string& where);

struct WordPieceOptions {
  std::string unknown = "[UNK]";
  std::string continuing_subword_prefix = "##";
  uint64_t max_characters = 100;  // longer words become the unknown token
};
Result<ModelPtr> make_word_piece(Vocabulary vocabulary, const WordPieceOptions& options, const std::string& where);

struct UnigramPiece {
  std::string text;
  double score = 0;
};
// Ids are positions in `pieces`. Of pieces with the same text the last counts. `unknown` is an id or -1.
Result<ModelPtr> make_unigram(std::vector<UnigramPiece> pieces, int32_t unknown, bool byte_fallback,
                              const std::string& where);

Result<ModelPtr> make_word_level(Vocabulary vocabulary, const std::string& unknown, const std::string& where);

// merges.txt: a merge per line, two parts separated by a space; a first line "#version..." is skipped.
Result<std::vector<Merge>> load_merges(const FileName& path);
// vocab.txt: a token per line; ids count from 0.
Result<Vocabulary> load_vocab_txt(const FileName& path);

}  // namespace lapilli
