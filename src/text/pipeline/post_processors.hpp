// Post-processors: the last stage of encoding. They combine one or two texts with special tokens and token types.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// Blanks at the ends of tokens that byte ranges leave out: none, all, or all but the one in front of a text, which the
// tokenizer may have put there itself.
enum class TrimmedBlanks : uint8_t { none, all, all_but_first };

// Immutable; process() may be called from several threads and may throw std::bad_alloc.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  // `second` may be null. Added tokens have an empty range.
  [[nodiscard]] virtual Result<Encoding> process(const Encoding& first, const Encoding* second,
                                                 bool add_special) const = 0;
  [[nodiscard]] virtual TrimmedBlanks trims() const { return TrimmedBlanks::none; }
  [[nodiscard]] virtual bool adds_tokens() const { return true; }
};
using PostProcessorPtr = std::unique_ptr<const PostProcessor>;

// The result without a post-processor: the first text with type 0, the second with type 1.
Encoding join_texts(const Encoding& first, const Encoding* second);

// One element of a template: a text, or special tokens.
struct TemplatePart {
  enum class Kind { first, second, special };
  Kind kind = Kind::special;
  std::vector<int32_t> ids;  // for a special part
  int32_t type = 0;
};
struct TemplateOptions {
  std::vector<TemplatePart> single;
  std::vector<TemplatePart> pair;  // empty: pairs are refused
};
PostProcessorPtr make_template(TemplateOptions options);

// "<s> A </s>", and for pairs "<s> A </s></s> B </s>", all of type 0.
PostProcessorPtr make_roberta_processing(int32_t cls, int32_t sep, TrimmedBlanks trims);
// "[CLS] A [SEP]", and "[CLS] A [SEP] B [SEP]" with the last two of type 1.
PostProcessorPtr make_bert_processing(int32_t cls, int32_t sep);
PostProcessorPtr make_byte_level_post_processor(TrimmedBlanks trims);
PostProcessorPtr make_post_processor_sequence(std::vector<PostProcessorPtr> parts);

}  // namespace lapilli
