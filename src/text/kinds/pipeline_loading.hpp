// Shared by the loaders of pipeline tokenizers: finding the vocabulary, and a directory's special tokens.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "text/pipeline/pipeline_tokenizer.hpp"
#include "text/pipeline/tokenizer_json.hpp"
#include "text/tokenizer_config.hpp"

namespace lapilli {

// The files of a model directory that describe its tokenizer.
struct TokenizerFiles {
  Files from;
  TokenizerConfig config;
  std::optional<TokenizerJson> json;  // if there is a tokenizer.json
};
Result<TokenizerFiles> load_tokenizer_files(const Files& from);

// A special token that a family has by name: its configuration field, and its text unless a file gives another.
struct NamedToken {
  const char* field;
  const char* text;  // empty: none
  bool lstrip = false;
};

// A directory's special tokens, with ids from the model, from the files' added tokens, or else after all others.
class SpecialTokens {
 public:
  static Result<SpecialTokens> collect(const TokenizerFiles& files, std::initializer_list<NamedToken> names,
                                       const SubwordModel& model);
  // For AddedVocabulary; pass them last, so that they win.
  [[nodiscard]] const std::vector<AddedToken>& tokens() const { return tokens_; }
  // -1 if the directory has no such token.
  [[nodiscard]] int32_t id(const char* field) const;
  [[nodiscard]] SpecialIds ids() const;

 private:
  std::vector<AddedToken> tokens_;
  std::vector<std::pair<std::string, int32_t>> named_;  // field, id
};

// clean_up_tokenization_spaces, padding_side and pad_token_type_id of the files.
Result<PipelineSettings> read_settings(const TokenizerFiles& files, const SpecialTokens& special, bool clean_up);

// Vocabulary and merges of a BPE model, from tokenizer.json or from vocab.json and merges.txt; ignores the rest of
// tokenizer.json's model.
Result<ModelPtr> load_bpe_model(const TokenizerFiles& files, const BpeOptions& options);
// The vocabulary of a WordPiece model, from tokenizer.json or `vocab_file`.
Result<ModelPtr> load_word_piece_model(const TokenizerFiles& files, const char* vocab_file,
                                       const WordPieceOptions& options);

}  // namespace lapilli
