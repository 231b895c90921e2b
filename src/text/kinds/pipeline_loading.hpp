// What loaders of pipeline tokenizers share: where the vocabulary stands, and the special tokens of a directory.
#pragma once

#include <initializer_list>
#include <memory>
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

// A special token that a family has by name: a field of the configuration, and its text where no file says otherwise.
struct NamedToken {
  const char* field;
  const char* text;  // empty: none
  bool lstrip = false;
};

// The special tokens of a directory, with the ids that they have in the model, in the added tokens of the files, or
// else behind all others.
class SpecialTokens {
 public:
  static Result<SpecialTokens> collect(const TokenizerFiles& files, std::initializer_list<NamedToken> names,
                                       const SubwordModel& model);
  // For AddedVocabulary; these come last there, so that they win.
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

// Vocabulary and merges of a BPE model, from tokenizer.json or from vocab.json and merges.txt; nothing else of what
// tokenizer.json says about the model.
Result<ModelPtr> load_bpe_model(const TokenizerFiles& files, const BpeOptions& options);
// The vocabulary of a WordPiece model, from tokenizer.json or from `vocab_file`.
Result<ModelPtr> load_word_piece_model(const TokenizerFiles& files, const char* vocab_file,
                                       const WordPieceOptions& options);

}  // namespace lapilli
