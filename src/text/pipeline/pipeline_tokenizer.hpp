// A tokenizer built from components: added tokens, normalizer, pre-tokenizer, model, post-processor, decoder.
#pragma once

#include <string>

#include "text/pipeline/added_vocabulary.hpp"
#include "text/pipeline/decoders.hpp"
#include "text/pipeline/models.hpp"
#include "text/pipeline/normalizers.hpp"
#include "text/pipeline/post_processors.hpp"
#include "text/pipeline/pre_tokenizers.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// All but the model may be null.
struct Pipeline {
  NormalizerPtr normalizer;
  PreTokenizerPtr pre_tokenizer;
  ModelPtr model;
  PostProcessorPtr post_processor;
  DecoderPtr decoder;
  AddedVocabulary added;
};

struct PipelineSettings {
  SpecialIds special;
  bool pad_left = false;
  int32_t pad_type = 0;
  bool clean_up = false;  // clean_up_tokenization_spaces; not for BPE models
};

// Families override surround() for language-dependent tokens, and decode_valid() for work after the decoder.
class PipelineTokenizer : public Tokenizer {
 public:
  PipelineTokenizer(Pipeline pipeline, const PipelineSettings& settings);

  [[nodiscard]] std::string_view token(int32_t id) const override;
  [[nodiscard]] uint64_t vocabulary_size(TextSide side) const override;
  [[nodiscard]] std::string_view continuing_prefix() const override { return pipeline_.model->continuing_prefix(); }
  [[nodiscard]] const Pipeline& pipeline() const { return pipeline_; }
  // The id of an added token or one of the model; -1 if there is none.
  [[nodiscard]] int32_t token_id(std::string_view token) const;

 protected:
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view text, const EncodeOptions& options) const override;
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions& options) const override;
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                 const DecodeOptions& options) const override;

 private:
  Pipeline pipeline_;
  uint64_t size_;
};

}  // namespace lapilli
