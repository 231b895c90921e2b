// Components from JSON objects anywhere in a tokenizer.json.
#pragma once

#include "text/pipeline/decoders.hpp"
#include "text/pipeline/json_reader.hpp"
#include "text/pipeline/models.hpp"
#include "text/pipeline/normalizers.hpp"
#include "text/pipeline/post_processors.hpp"
#include "text/pipeline/pre_tokenizers.hpp"

namespace lapilli {

// Errors name the position. Components of unknown types are ErrorCode::unsupported.
Result<NormalizerPtr> read_normalizer(const JsonReader& reader);
Result<PreTokenizerPtr> read_pre_tokenizer(const JsonReader& reader);
Result<PostProcessorPtr> read_post_processor(const JsonReader& reader);
Result<DecoderPtr> read_decoder(const JsonReader& reader);
Result<ModelPtr> read_model(const JsonReader& reader);

// Parts of models: the vocabulary of BPE, WordPiece and WordLevel, the merges of BPE.
Result<JsonReader> model_reader(const nlohmann::json& document, const std::string& path);
Result<Vocabulary> read_vocabulary(const JsonReader& reader);
Result<std::vector<Merge>> read_merges(const JsonReader& reader);

// A pattern is {"String": ...} or {"Regex": ...}; in older files a plain text.
struct JsonPattern {
  std::string text;
  bool regex = false;
};
Result<JsonPattern> read_pattern(const JsonReader& reader);
Result<PrependScheme> read_prepend_scheme(const JsonReader& reader);
Result<std::string> read_charsmap(const JsonReader& reader);  // bytes, from base64

}  // namespace lapilli
