#include "text/pipeline/normalizers.hpp"

#include <utility>

#include "text/pipeline/byte_level.hpp"
#include "text/unicode/regex.hpp"

namespace lapilli {
namespace {

// Calls f(character, begin, end) for each character.
template <class F>
void for_each_character(const AlignedText& text, F&& f) {
  const std::string& s = text.text();
  for (size_t at = 0; at < s.size();) {
    const size_t begin = at;
    const char32_t c = next_character(s, at);
    f(c, begin, at);
  }
}

// Rewrites character by character: f(out, character, begin, end).
template <class F>
class PerCharacter final : public Normalizer {
 public:
  explicit PerCharacter(F f) : f_(std::move(f)) {}
  Status apply(AlignedText& text) const override {
    AlignedText out = text.rewrite();
    for_each_character(text, [&](char32_t c, size_t begin, size_t end) { f_(text, out, c, begin, end); });
    text = std::move(out);
    return {};
  }

 private:
  F f_;
};
template <class F>
NormalizerPtr per_character(F f) {
  return std::make_unique<PerCharacter<F>>(std::move(f));
}

class UnicodeNormalizer final : public Normalizer {
 public:
  explicit UnicodeNormalizer(UnicodeForm form) : form_(form) {}
  Status apply(AlignedText& text) const override {
    std::vector<char32_t> characters;
    for_each_character(text, [&](char32_t c, size_t, size_t) { characters.push_back(c); });
    text.change(normalize(characters, form_));
    return {};
  }

 private:
  UnicodeForm form_;
};

class Replace final : public Normalizer {
 public:
  Replace(std::string pattern, std::string content) : pattern_(std::move(pattern)), content_(std::move(content)) {}
  Status apply(AlignedText& text) const override {
    const std::string& s = text.text();
    size_t at = s.find(pattern_);
    if (at == std::string::npos || pattern_.empty()) return {};
    AlignedText out = text.rewrite();
    size_t done = 0;
    for (; at != std::string::npos; at = s.find(pattern_, done)) {
      out.copy(text, done, at);
      done = at + pattern_.size();
      out.append(content_, text.origin_before(done));
    }
    out.copy(text, done, s.size());
    text = std::move(out);
    return {};
  }

 private:
  std::string pattern_;
  std::string content_;
};

class ReplaceRegex final : public Normalizer {
 public:
  ReplaceRegex(Regex regex, std::string content) : regex_(std::move(regex)), content_(std::move(content)) {}
  Status apply(AlignedText& text) const override {
    LAPILLI_TRY(const auto matches, regex_.find_all(text.text()));
    if (matches.empty()) return {};
    AlignedText out = text.rewrite();
    size_t done = 0;
    for (const Regex::Match& match : matches) {
      out.copy(text, done, match.begin);
      out.append(content_, text.origin_before(match.end));
      done = match.end;
    }
    out.copy(text, done, text.size());
    text = std::move(out);
    return {};
  }

 private:
  Regex regex_;
  std::string content_;
};

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  Status apply(AlignedText& text) const override {
    const std::string& s = text.text();
    size_t begin = 0;
    size_t end = 0;  // after the last character kept
    bool seen = false;
    for_each_character(text, [&](char32_t c, size_t from, size_t to) {
      if (is_white_space(c)) return;
      if (!seen) begin = from;
      seen = true;
      end = to;
    });
    if (!seen && (left_ || right_)) begin = end = s.size();
    if (!left_) begin = seen ? 0 : begin;
    if (!right_) end = s.size();
    if (begin == 0 && end == s.size()) return {};
    AlignedText out = text.rewrite();
    out.copy(text, begin, end);
    text = std::move(out);
    return {};
  }

 private:
  bool left_;
  bool right_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string text) : text_(std::move(text)) {}
  Status apply(AlignedText& text) const override {
    if (!text.empty()) text.prepend(text_);
    return {};
  }

 private:
  std::string text_;
};

class NormalizerSequence final : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<NormalizerPtr> parts) : parts_(std::move(parts)) {}
  Status apply(AlignedText& text) const override {
    for (const NormalizerPtr& part : parts_) LAPILLI_CHECK(part->apply(text));
    return {};
  }

 private:
  std::vector<NormalizerPtr> parts_;
};

bool is_control(char32_t c) { return c != '\t' && c != '\n' && c != '\r' && is_other(c); }

// The original BERT's ranges, including the gap.
bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

char32_t nmt_character(char32_t c) {
  const bool space = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F) ||
                     c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
  return space ? U' ' : c;
}

bool nmt_drops(char32_t c) {
  return (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
}

NormalizerPtr lowercase() {
  return per_character([](const AlignedText& text, AlignedText& out, char32_t c, size_t begin, size_t end) {
    std::vector<char32_t> lower;
    append_lower(lower, c);
    for (const char32_t l : lower) out.append(l, text.origin(begin, end));
  });
}

}  // namespace

Result<NormalizerPtr> make_unicode_normalizer(UnicodeForm form) {
  LAPILLI_CHECK(require_unicode("Unicode normalization"));
  return NormalizerPtr(std::make_unique<UnicodeNormalizer>(form));
}

Result<NormalizerPtr> make_lowercase() {
  LAPILLI_CHECK(require_unicode("the normalizer Lowercase"));
  return lowercase();
}

Result<NormalizerPtr> make_strip_accents() {
  LAPILLI_CHECK(require_unicode("the normalizer StripAccents"));
  return per_character([](const AlignedText& text, AlignedText& out, char32_t c, size_t begin, size_t end) {
    if (c < 0x80 || !is_mark(c)) out.copy(text, begin, end);
  });
}

Result<NormalizerPtr> make_replace_string(const std::string& pattern, const std::string& content) {
  return NormalizerPtr(std::make_unique<Replace>(pattern, content));
}

Result<NormalizerPtr> make_replace_regex(const std::string& pattern, const std::string& content) {
  LAPILLI_TRY(Regex regex, Regex::compile(pattern));
  return NormalizerPtr(std::make_unique<ReplaceRegex>(std::move(regex), content));
}

Result<NormalizerPtr> make_bert_normalizer(const BertNormalizerOptions& options) {
  LAPILLI_CHECK(require_unicode("the normalizer BertNormalizer"));
  std::vector<NormalizerPtr> parts;
  if (options.clean_text) {
    parts.push_back(per_character([](const AlignedText& text, AlignedText& out, char32_t c, size_t begin, size_t end) {
      if (c == 0 || c == 0xFFFD || is_control(c)) return;
      if (is_white_space(c)) {
        out.append(" ", text.origin(begin, end));
      } else {
        out.copy(text, begin, end);
      }
    }));
  }
  if (options.handle_chinese_chars) {
    parts.push_back(per_character([](const AlignedText& text, AlignedText& out, char32_t c, size_t begin, size_t end) {
      if (!is_chinese(c)) return out.copy(text, begin, end);
      out.append(" ", text.origin(begin, begin));
      out.copy(text, begin, end);
      out.append(" ", text.origin(end, end));
    }));
  }
  if (options.strip_accents.value_or(options.lowercase)) {
    parts.push_back(std::make_unique<UnicodeNormalizer>(UnicodeForm::nfd));
    parts.push_back(per_character([](const AlignedText& text, AlignedText& out, char32_t c, size_t begin, size_t end) {
      if (c < 0x80 || !is_nonspacing_mark(c)) out.copy(text, begin, end);
    }));
  }
  if (options.lowercase) parts.push_back(lowercase());
  return make_normalizer_sequence(std::move(parts));
}

NormalizerPtr make_strip(bool left, bool right) { return std::make_unique<Strip>(left, right); }
NormalizerPtr make_prepend(const std::string& text) { return std::make_unique<Prepend>(text); }

NormalizerPtr make_nmt() {
  return per_character([](const AlignedText& text, AlignedText& out, char32_t c, size_t begin, size_t end) {
    if (!nmt_drops(c)) out.append(nmt_character(c), text.origin(begin, end));
  });
}

NormalizerPtr make_byte_level_normalizer() {
  return per_character([](const AlignedText& text, AlignedText& out, char32_t, size_t begin, size_t end) {
    const Origin origin = text.origin(begin, end);
    for (size_t i = begin; i < end; ++i) out.append(kByteAlphabet[static_cast<unsigned char>(text.text()[i])], origin);
  });
}

NormalizerPtr make_normalizer_sequence(std::vector<NormalizerPtr> parts) {
  return std::make_unique<NormalizerSequence>(std::move(parts));
}

}  // namespace lapilli
