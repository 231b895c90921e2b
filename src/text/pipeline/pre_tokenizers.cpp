#include "text/pipeline/pre_tokenizers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/pipeline/byte_level.hpp"
#include "text/pipeline/split.hpp"
#include "text/unicode/regex.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

void append_words(const AlignedText& text, std::vector<Stretch> stretches, SplitBehavior behavior,
                  std::vector<AlignedText>& words) {
  for (const Stretch& s : split_stretches(std::move(stretches), behavior)) {
    if (s.begin < s.end) words.push_back(text.slice(s.begin, s.end));
  }
}

// Splits at single characters.
class SplitAtCharacters final : public PreTokenizer {
 public:
  using Test = bool (*)(char32_t);
  SplitAtCharacters(Test test, SplitBehavior behavior) : test_(test), behavior_(behavior) {}
  Status split(AlignedText piece, std::vector<AlignedText>& words) const override {
    append_words(piece, character_stretches(piece.text(), test_), behavior_, words);
    return {};
  }

 private:
  Test test_;
  SplitBehavior behavior_;
};

class SplitAtRegex final : public PreTokenizer {
 public:
  SplitAtRegex(Regex regex, SplitBehavior behavior, bool invert)
      : regex_(std::move(regex)), behavior_(behavior), invert_(invert) {}
  Status split(AlignedText piece, std::vector<AlignedText>& words) const override {
    LAPILLI_TRY(const auto matches, regex_.find_all(piece.text()));
    append_words(piece, match_stretches(matches, piece.size(), invert_), behavior_, words);
    return {};
  }

 private:
  Regex regex_;
  SplitBehavior behavior_;
  bool invert_;
};

class SplitAtString final : public PreTokenizer {
 public:
  SplitAtString(std::string pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  Status split(AlignedText piece, std::vector<AlignedText>& words) const override {
    std::vector<Regex::Match> matches;
    for (size_t at = 0; !pattern_.empty() && (at = piece.text().find(pattern_, at)) != std::string::npos;
         at += pattern_.size())
      matches.push_back({at, at + pattern_.size()});
    append_words(piece, match_stretches(matches, piece.size(), invert_), behavior_, words);
    return {};
  }

 private:
  std::string pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

AlignedText to_byte_alphabet(const AlignedText& word) {
  AlignedText out = word.rewrite();
  const std::string& s = word.text();
  for (size_t i = 0; i < s.size(); ++i)
    out.append(kByteAlphabet[static_cast<unsigned char>(s[i])], word.origin(i, i + 1));
  return out;
}

class ByteLevel final : public PreTokenizer {
 public:
  ByteLevel(bool add_prefix_space, PreTokenizerPtr words)
      : add_prefix_space_(add_prefix_space), words_(std::move(words)) {}
  Status split(AlignedText piece, std::vector<AlignedText>& words) const override {
    if (add_prefix_space_ && !piece.text().starts_with(' ')) piece.prepend(" ");
    const size_t first = words.size();
    if (words_ == nullptr) {
      words.push_back(std::move(piece));
    } else {
      LAPILLI_CHECK(words_->split(std::move(piece), words));
    }
    for (size_t i = first; i < words.size(); ++i) words[i] = to_byte_alphabet(words[i]);
    return {};
  }

 private:
  bool add_prefix_space_;
  PreTokenizerPtr words_;  // null: the text stays whole
};

class Metaspace final : public PreTokenizer {
 public:
  Metaspace(std::string replacement, PrependScheme scheme, bool split)
      : replacement_(std::move(replacement)), scheme_(scheme), split_(split) {}
  Status split(AlignedText piece, std::vector<AlignedText>& words) const override {
    AlignedText marked = piece.rewrite();
    const std::string& s = piece.text();
    size_t done = 0;
    for (size_t at = s.find(' '); at != std::string::npos; at = s.find(' ', done)) {
      marked.copy(piece, done, at);
      marked.append(replacement_, piece.origin(at, at + 1));
      done = at + 1;
    }
    marked.copy(piece, done, s.size());
    const bool wanted = scheme_ == PrependScheme::always || (scheme_ == PrependScheme::first && piece.start() == 0);
    if (wanted && !marked.text().starts_with(replacement_)) marked.prepend(replacement_);
    if (!split_) {
      words.push_back(std::move(marked));
      return {};
    }
    return SplitAtString(replacement_, SplitBehavior::merged_with_next, false).split(std::move(marked), words);
  }

 private:
  std::string replacement_;
  PrependScheme scheme_;
  bool split_;
};

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(size_t characters) : characters_(characters) {}
  Status split(AlignedText piece, std::vector<AlignedText>& words) const override {
    size_t begin = 0;
    size_t count = 0;
    for (size_t at = 0; at < piece.size();) {
      next_character(piece.text(), at);
      if (++count < characters_ && at < piece.size()) continue;
      words.push_back(piece.slice(begin, at));
      begin = at;
      count = 0;
    }
    return {};
  }

 private:
  size_t characters_;
};

class PreTokenizerSequence final : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<PreTokenizerPtr> parts) : parts_(std::move(parts)) {}
  Status split(AlignedText piece, std::vector<AlignedText>& words) const override {
    std::vector<AlignedText> pieces;
    pieces.push_back(std::move(piece));
    for (const PreTokenizerPtr& part : parts_) {
      std::vector<AlignedText> next;
      for (AlignedText& p : pieces) {
        if (!p.empty()) LAPILLI_CHECK(part->split(std::move(p), next));
      }
      pieces = std::move(next);
    }
    words.insert(words.end(), std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
    return {};
  }

 private:
  std::vector<PreTokenizerPtr> parts_;
};

PreTokenizerPtr at_characters(SplitAtCharacters::Test test, SplitBehavior behavior) {
  return std::make_unique<SplitAtCharacters>(test, behavior);
}

}  // namespace

Result<PreTokenizerPtr> make_byte_level(bool add_prefix_space, bool use_regex) {
  PreTokenizerPtr words;
  if (use_regex) {
    // English contractions; letters, digits and other characters separately, each with one leading space; white space,
    // whose last character goes to the next word.
    LAPILLI_TRY(words, make_split_regex(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                                        SplitBehavior::isolated, false));
  }
  return PreTokenizerPtr(std::make_unique<ByteLevel>(add_prefix_space, std::move(words)));
}

Result<PreTokenizerPtr> make_whitespace() {
  // Not \w: enclosed letters and joiners belong to words here, and fractions do not.
  const std::string word =
      R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";
  return make_split_regex("[" + word + "]+|[^\\s" + word + "]+", SplitBehavior::removed, true);
}

Result<PreTokenizerPtr> make_bert_pre_tokenizer() {
  LAPILLI_TRY(auto punctuation, make_punctuation(SplitBehavior::isolated));
  std::vector<PreTokenizerPtr> parts;
  parts.push_back(make_whitespace_split());
  parts.push_back(std::move(punctuation));
  return make_pre_tokenizer_sequence(std::move(parts));
}

Result<PreTokenizerPtr> make_split_string(const std::string& pattern, SplitBehavior behavior, bool invert) {
  return PreTokenizerPtr(std::make_unique<SplitAtString>(pattern, behavior, invert));
}

Result<PreTokenizerPtr> make_split_regex(const std::string& pattern, SplitBehavior behavior, bool invert) {
  LAPILLI_TRY(Regex regex, Regex::compile(pattern));
  return PreTokenizerPtr(std::make_unique<SplitAtRegex>(std::move(regex), behavior, invert));
}

Result<PreTokenizerPtr> make_punctuation(SplitBehavior behavior) {
  LAPILLI_CHECK(require_unicode("splitting at punctuation"));
  return at_characters(is_punctuation, behavior);
}

Result<PreTokenizerPtr> make_digits(bool individual) {
  LAPILLI_CHECK(require_unicode("splitting at digits"));
  return at_characters(is_number, individual ? SplitBehavior::isolated : SplitBehavior::contiguous);
}

PreTokenizerPtr make_whitespace_split() { return at_characters(is_white_space, SplitBehavior::removed); }

PreTokenizerPtr make_metaspace(const std::string& replacement, PrependScheme scheme, bool split) {
  return std::make_unique<Metaspace>(replacement, scheme, split);
}

PreTokenizerPtr make_fixed_length(size_t characters) { return std::make_unique<FixedLength>(characters); }

PreTokenizerPtr make_pre_tokenizer_sequence(std::vector<PreTokenizerPtr> parts) {
  return std::make_unique<PreTokenizerSequence>(std::move(parts));
}

}  // namespace lapilli
