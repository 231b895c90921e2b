// Tokenizers whose pipeline the reference implementation (version 5) builds in code: pieces, added tokens and the
// character map come from tokenizer.json if it exists, otherwise from the SentencePiece model.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/kinds/languages.hpp"
#include "text/pipeline/pipeline_tokenizer.hpp"
#include "text/sentencepiece/sentencepiece_file.hpp"
#include "text/special_tokens.hpp"
#include "text/tokenizer_config.hpp"

namespace lapilli {

// One family. Its functions get the directory's tokenizer_config.json.
struct RebuiltFamily {
  const char* model_file = "spiece.model";
  ModelKind model = ModelKind::unigram;  // a tokenizer.json with another kind is used unchanged
  std::vector<NamedSpecial> named;
  // The model file's pieces in the family's order, for directories without tokenizer.json.
  std::function<Result<ModelPtr>(const SentencePieceFile& file, const TokenizerConfig& config, const std::string& path)>
      convert;
  // `charsmap` is SentencePiece's character map, empty if there is none. May return null.
  std::function<Result<NormalizerPtr>(const std::string& charsmap, const TokenizerConfig& config)> normalizer;
  bool split_at_white_space = true;  // splits words before setting space marks
  std::vector<AddedToken> extra;     // further special tokens, in order of their ids
};

struct RebuiltParts {
  Pipeline pipeline;  // without a post-processor
  PipelineSettings settings;
  std::unique_ptr<Tokenizer> as_it_stands;  // if set, make_rebuilt returns this instead

  [[nodiscard]] int32_t id(std::string_view token) const;  // -1 if there is none
};

// Errors name the file.
Result<RebuiltParts> rebuild(const Files& files, const TokenizerConfig& config, const RebuiltFamily& family);

// Builds the finished tokenizer.
std::unique_ptr<Tokenizer> make_rebuilt(RebuiltParts parts, TemplateOptions post_processor);

// Position of a multilingual family's language token.
enum class LanguagePlace { first, behind_end };
struct RebuiltLanguages {
  LanguageTable table;
  LanguagePlace place = LanguagePlace::first;
  std::string source, target;  // used if the caller names none; without a target the source is used
};
std::unique_ptr<Tokenizer> make_rebuilt(RebuiltParts parts, RebuiltLanguages languages);

// Parts for post-processors.
TemplatePart first_text(int32_t type = 0);
TemplatePart second_text(int32_t type = 0);
TemplatePart special_part(int32_t id, int32_t type = 0);

// The pieces of a model file in their own order.
std::vector<UnigramPiece> pieces_of(const SentencePieceFile& file);
// SentencePiece stores no merges: one for every way to make a piece of two others; earlier pieces first, short left
// parts first.
std::vector<Merge> merges_of(const SentencePieceFile& file);
// fairseq's order: begin, padding, end, unknown (id 3), then the model's pieces after its first three, then `languages`
// and the mask token.
Result<ModelPtr> fairseq_model(const SentencePieceFile& file, const TokenizerConfig& config,
                               std::span<const std::string_view> languages, const std::string& path);

// The character map (if any), then runs of spaces collapsed to one.
Result<NormalizerPtr> charsmap_and_single_spaces(const std::string& charsmap);

// Loaders of the families.
Result<std::unique_ptr<Tokenizer>> load_t5_tokenizer(const Files& files);
Result<std::unique_ptr<Tokenizer>> load_pegasus_tokenizer(const Files& files);
Result<std::unique_ptr<Tokenizer>> load_mbart_tokenizer(const Files& files);
Result<std::unique_ptr<Tokenizer>> load_mbart50_tokenizer(const Files& files);
Result<std::unique_ptr<Tokenizer>> load_nllb_tokenizer(const Files& files);
Result<std::unique_ptr<Tokenizer>> load_xlm_roberta_tokenizer(const Files& files);
Result<std::unique_ptr<Tokenizer>> load_xlnet_tokenizer(const Files& files);
Result<std::unique_ptr<Tokenizer>> load_albert_tokenizer(const Files& files);
Result<std::unique_ptr<Tokenizer>> load_deberta_v2_tokenizer(const Files& files);

}  // namespace lapilli
