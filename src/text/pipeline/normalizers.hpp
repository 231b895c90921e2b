// Normalizers: the first stage. They rewrite text and keep its alignment. Names and results are those of the tokenizers
// library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "text/pipeline/aligned_text.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {

// Immutable; apply() may be called from several threads and may throw std::bad_alloc.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual Status apply(AlignedText& text) const = 0;
};
using NormalizerPtr = std::unique_ptr<const Normalizer>;

// ErrorCode::unsupported in a build without the required library (utf8proc, PCRE2).
Result<NormalizerPtr> make_unicode_normalizer(UnicodeForm form);  // NFC, NFD, NFKC, NFKD
Result<NormalizerPtr> make_lowercase();
Result<NormalizerPtr> make_strip_accents();  // drops all marks; decompose first
Result<NormalizerPtr> make_replace_string(const std::string& pattern, const std::string& content);
Result<NormalizerPtr> make_replace_regex(const std::string& pattern, const std::string& content);

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  std::optional<bool> strip_accents;  // unset: same as lowercase
  bool lowercase = true;
};
Result<NormalizerPtr> make_bert_normalizer(const BertNormalizerOptions& options);

// SentencePiece's character map from the field precompiled_charsmap of its models (not base64). An empty one changes
// nothing. Applied per grapheme cluster, unlike in SentencePiece itself.
Result<NormalizerPtr> make_precompiled(const std::string& charsmap);

// These need no library.
NormalizerPtr make_strip(bool left, bool right);
NormalizerPtr make_prepend(const std::string& text);
NormalizerPtr make_nmt();
NormalizerPtr make_byte_level_normalizer();
NormalizerPtr make_normalizer_sequence(std::vector<NormalizerPtr> parts);

}  // namespace lapilli
