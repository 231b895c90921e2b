// Decoders turn tokens back into text. A chain of them transforms a list of strings, which is finally joined.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "text/pipeline/pre_tokenizers.hpp"

namespace lapilli {

// Immutable; apply() may be called from several threads and may throw std::bad_alloc.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual Status apply(std::vector<std::string>& tokens) const = 0;
};
using DecoderPtr = std::unique_ptr<const Decoder>;

DecoderPtr make_byte_level_decoder();
DecoderPtr make_word_piece_decoder(const std::string& prefix, bool cleanup);
DecoderPtr make_metaspace_decoder(const std::string& replacement, PrependScheme scheme);
DecoderPtr make_bpe_decoder(const std::string& suffix);
DecoderPtr make_byte_fallback_decoder();
DecoderPtr make_fuse_decoder();
// Removes up to `start` and `stop` copies of `content` from the two ends of each token.
DecoderPtr make_strip_decoder(const std::string& content, size_t start, size_t stop);
DecoderPtr make_replace_string_decoder(const std::string& pattern, const std::string& content);
Result<DecoderPtr> make_replace_regex_decoder(const std::string& pattern, const std::string& content);
DecoderPtr make_ctc_decoder(const std::string& pad, const std::string& word_delimiter, bool cleanup);
DecoderPtr make_decoder_sequence(std::vector<DecoderPtr> parts);

// Removes spaces before punctuation and English contractions (clean_up_tokenization_spaces).
std::string clean_up_spaces(std::string text);

}  // namespace lapilli
