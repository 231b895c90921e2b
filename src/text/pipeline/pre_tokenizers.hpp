// Pre-tokenizers: the second stage. They split text into words; no token spans two words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "text/pipeline/aligned_text.hpp"

namespace lapilli {

// Immutable; split() may be called from several threads and may throw std::bad_alloc.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Appends the words of `piece` (not empty) to `words`. The caller drops empty ones.
  virtual Status split(AlignedText piece, std::vector<AlignedText>& words) const = 0;
};
using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

// Treatment of the delimiters at which a text is split.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

// When a text gets a leading space mark: always, only at the very start of the input, or never.
enum class PrependScheme { always, first, never };

// ErrorCode::unsupported in a build without the required library (utf8proc, PCRE2).
Result<PreTokenizerPtr> make_byte_level(bool add_prefix_space, bool use_regex);
Result<PreTokenizerPtr> make_whitespace();  // words and runs of other characters
Result<PreTokenizerPtr> make_bert_pre_tokenizer();
Result<PreTokenizerPtr> make_split_string(const std::string& pattern, SplitBehavior behavior, bool invert);
Result<PreTokenizerPtr> make_split_regex(const std::string& pattern, SplitBehavior behavior, bool invert);
Result<PreTokenizerPtr> make_punctuation(SplitBehavior behavior);
Result<PreTokenizerPtr> make_digits(bool individual);

// These need no library.
PreTokenizerPtr make_whitespace_split();
PreTokenizerPtr make_metaspace(const std::string& replacement, PrependScheme scheme, bool split);
PreTokenizerPtr make_fixed_length(size_t characters);
PreTokenizerPtr make_pre_tokenizer_sequence(std::vector<PreTokenizerPtr> parts);

}  // namespace lapilli
