// Text to token ids and back, one class per family of tokenizers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// These ids are the same in the encoder's and the decoder's vocabulary. -1: the tokenizer has no such token.
struct SpecialIds {
  int32_t pad = -1;
  int32_t eos = -1;
  int32_t unk = -1;
  int32_t bos = -1;
  int32_t cls = -1;
  int32_t sep = -1;
  int32_t mask = -1;
};

// The role of a text: read by the encoder, or written by the decoder (given prefixes, scoring). Families with one
// vocabulary and no language tokens treat both alike.
enum class TextSide { source, target };

// Bytes [begin, end) of an input text.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// The text that is cut where two are too long together.
enum class Truncate : uint8_t { longest_first, only_first, only_second };

// The views need to outlive only the call.
struct EncodeOptions {
  TextSide side = TextSide::source;
  bool add_special = true;           // the family's own tokens around the text (end, language, ...)
  std::string_view source_language;  // multilingual families, Whisper; empty: by the directory's files
  std::string_view target_language;
  std::string_view task;                 // Whisper: "transcribe" or "translate"; empty: by the files
  std::optional<bool> timestamps;        // Whisper: whether the model writes timestamps; unset: by the files
  std::optional<std::string_view> pair;  // a second text, for families that take two; empty: none
  uint64_t max_ids = 0;                  // cuts what is longer, special ids included; 0: nothing
  Truncate truncate = Truncate::longest_first;
};

// A text that is longer than a model reads, in windows.
struct WindowOptions {
  uint32_t most_ids = 0;  // in each, special ones included; 0: one window for all
  uint32_t stride = 0;    // ids that a window shares with the one before
};

// Ids of one text or two. All vectors have the same length.
struct Encoding {
  std::vector<int32_t> ids;
  // The bytes of its text that each id stands for; empty for tokens that the family adds. Neighbours may share bytes (a
  // character may give several ids), and white space need not be covered.
  std::vector<ByteRange> offsets;
  std::vector<int32_t> type_ids;  // token types ("segments" of BERT and XLNet)
  std::vector<int8_t> texts;      // 0: the text, 1: EncodeOptions::pair, -1: added by the family
  std::vector<int32_t> words;     // the number of the id's word in its text; -1: added, or the family cuts no words

  void push(int32_t id, ByteRange range, int32_t type = 0, int8_t text = 0, int32_t word = -1) {
    ids.push_back(id);
    offsets.push_back(range);
    type_ids.push_back(type);
    texts.push_back(text);
    words.push_back(word);
  }
  void push_special(int32_t id, int32_t type = 0) { push(id, {}, type, -1); }
  void append(const Encoding& other);
  [[nodiscard]] Encoding part(size_t begin, size_t end) const;
  void resize(size_t size);  // only to shrink
};

// Rows of equal length: padded at the end, or at the start for families that do that (XLNet).
struct EncodedBatch {
  std::vector<std::vector<int32_t>> ids;
  std::vector<std::vector<int32_t>> attention_mask;  // 1: a token, 0: padding
  std::vector<std::vector<int32_t>> type_ids;
};

struct DecodeOptions {
  bool skip_special = true;
  std::optional<bool> clean_up;  // removes spaces before punctuation; unset: by the directory's files
  bool timestamps = false;       // Whisper: keeps timestamps in the text
};

// Languages of a model for a single pair, from its files ("en", "fr"); empty: unknown.
struct LanguagePair {
  std::string source, target;
};

// Fails for a text that is longer than tokenizers take: 1 MiB.
Status check_length(std::string_view text);

// Immutable after loading: all const members may be called from several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Ids of `text`, with special tokens unless the options say otherwise. Errors: invalid UTF-8 (with the byte offset),
  // text above 1 MiB, out of memory, unknown languages. Special tokens spelled out in the text ("</s>") are recognized.
  [[nodiscard]] Result<std::vector<int32_t>> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // Does the same, with the bytes that each id stands for.
  [[nodiscard]] Result<Encoding> encode_with_offsets(std::string_view text, const EncodeOptions& options = {}) const;
  // The ids of `text` in windows, each with special tokens and with options.pair, a question about the text: in front
  // of it, or behind it in families that pad on the left. Offsets are those in the whole text; options.max_ids has no
  // effect. Also fails where nothing of the text fits into a window, or the windows are too many.
  [[nodiscard]] Result<std::vector<Encoding>> encode_windows(std::string_view text, const WindowOptions& windows,
                                                             const EncodeOptions& options = {}) const;
  // Rows padded to the longest. Also fails if the tokenizer has no padding token.
  [[nodiscard]] Result<EncodedBatch> encode_batch(std::span<const std::string_view> texts,
                                                  const EncodeOptions& options = {}) const;

  // Text of `ids` of the decoder's vocabulary; always valid UTF-8. Ids without a token (a model's table may be larger
  // than its vocabulary) give the unknown token or nothing, as in the reference. Errors: negative ids, out of memory.
  [[nodiscard]] Result<std::string> decode(std::span<const int32_t> ids, const DecodeOptions& options = {}) const;
  [[nodiscard]] Result<std::string> decode(std::span<const int32_t> ids, bool skip_special) const {
    DecodeOptions options;
    options.skip_special = skip_special;
    return decode(ids, options);
  }

  // The decoder's token for an id, as stored (including SentencePiece's word mark); the unknown token if there is none.
  // Valid as long as the tokenizer.
  [[nodiscard]] virtual std::string_view token(int32_t id) const = 0;

  // Largest id plus one. The same for both sides unless the model has a vocabulary per side.
  [[nodiscard]] virtual uint64_t vocabulary_size(TextSide side = TextSide::source) const = 0;

  // The beginning of tokens that go on a word ("##"); empty: nothing tells them from others.
  [[nodiscard]] virtual std::string_view continuing_prefix() const { return {}; }

  // Multilingual families: the language codes in the files ("fr_XX", "fra_Latn", "fr"), in order of their ids.
  [[nodiscard]] virtual std::vector<std::string> languages() const { return {}; }
  // The token of a language, -1 if there is none. Takes the files' code, and other common forms that mean only one
  // language: "fr", "fra", "fr-FR" for "fr_XX" or "fra_Latn".
  [[nodiscard]] virtual int32_t language_id(std::string_view) const { return -1; }

  [[nodiscard]] virtual LanguagePair language_pair() const { return {}; }

  [[nodiscard]] const SpecialIds& special() const { return special_; }
  [[nodiscard]] bool pads_left() const { return pad_left_; }

 protected:
  Tokenizer() = default;
  SpecialIds special_;
  bool pad_left_ = false;
  int32_t pad_type_ = 0;     // token type of padding
  bool clean_up_ = false;    // clean_up_tokenization_spaces of the files, in classes that respect it
  bool keeps_text_ = false;  // keeps spaces, whatever the caller or the files say

 private:
  friend Result<std::unique_ptr<Tokenizer>> load_tokenizer(const Files& files, const std::string& family);
  // The text alone, without the family's tokens. May throw std::bad_alloc; `text` is valid UTF-8. Offsets refer to
  // `text`; the caller and surround() set texts and type_ids.
  [[nodiscard]] virtual Result<Encoding> encode_plain(std::string_view text, const EncodeOptions& options) const = 0;
  // Combines one text or two, with the family's tokens around them if options.add_special. The number of these must not
  // depend on the texts. `second` is null without a second text; families without pairs refuse one.
  [[nodiscard]] virtual Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                                  const EncodeOptions& options) const = 0;
  // May throw std::bad_alloc and return invalid UTF-8; no id is negative.
  [[nodiscard]] virtual Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                         const DecodeOptions& options) const = 0;

  [[nodiscard]] Result<Encoding> encode_checked(std::string_view text, const EncodeOptions& options) const;
  [[nodiscard]] Result<Encoding> encode_text(std::string_view text, int8_t number, const EncodeOptions& options) const;
  [[nodiscard]] Result<std::vector<Encoding>> cut_windows(const Encoding& text, const Encoding* pair,
                                                          const WindowOptions& windows,
                                                          const EncodeOptions& options) const;
  Status truncate(Encoding& first, Encoding* second, const EncodeOptions& options) const;
};

// Loads the tokenizer of a model directory. `family` is the model_type of its config.json ("marian"), or the name of a
// tokenizer class ("MarianTokenizer"), which overrides tokenizer_config.json. Errors name the file.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const Files& files, const std::string& family);

}  // namespace lapilli
