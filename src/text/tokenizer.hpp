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

// Ids of the decoder's vocabulary and of the encoder's agree for these. -1: the tokenizer has no such token.
struct SpecialIds {
  int32_t pad = -1;
  int32_t eos = -1;
  int32_t unk = -1;
  int32_t bos = -1;
  int32_t cls = -1;
  int32_t sep = -1;
  int32_t mask = -1;
};

// Which text a string is: what the encoder reads, or what the decoder writes (given prefixes, scoring). Families with
// one vocabulary and no language tokens treat both alike.
enum class TextSide { source, target };

// Bytes [begin, end) of an input text.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// The views must outlive the call only.
struct EncodeOptions {
  TextSide side = TextSide::source;
  bool add_special = true;           // the family's own tokens around the text (end token, language, ...)
  std::string_view source_language;  // multilingual families, Whisper; empty: what the directory's files say
  std::string_view target_language;
  std::string_view task;                 // Whisper: "transcribe" or "translate"; empty: what the files say
  std::optional<bool> timestamps;        // Whisper: the model is to write timestamps; unset: what the files say
  std::optional<std::string_view> pair;  // a second text, for families that read two; empty: none
  uint64_t max_ids = 0;  // cuts the texts (the longer one first) so that this many ids remain, special ones included
};

// One text, or two, as ids. All vectors are of one length.
struct Encoding {
  std::vector<int32_t> ids;
  // Which bytes of its text an id stands for; empty for tokens that the family adds. Ranges of neighbours may touch the
  // same bytes (a character may give several ids) and need not cover white space.
  std::vector<ByteRange> offsets;
  std::vector<int32_t> type_ids;  // token types ("segments" of BERT and XLNet)
  std::vector<int8_t> texts;      // 0: of the text, 1: of EncodeOptions::pair, -1: added by the family

  void push(int32_t id, ByteRange range, int32_t type = 0, int8_t text = 0) {
    ids.push_back(id);
    offsets.push_back(range);
    type_ids.push_back(type);
    texts.push_back(text);
  }
  void push_special(int32_t id, int32_t type = 0) { push(id, {}, type, -1); }
  void append(const Encoding& other);
  void resize(size_t size);  // only to shrink
};

// Rows of equal length: padded at the end, or at the start for families that do so (XLNet).
struct EncodedBatch {
  std::vector<std::vector<int32_t>> ids;
  std::vector<std::vector<int32_t>> attention_mask;  // 1: a token, 0: padding
  std::vector<std::vector<int32_t>> type_ids;
};

struct DecodeOptions {
  bool skip_special = true;
  std::optional<bool> clean_up;  // takes out spaces before punctuation; unset: what the directory's files say
  bool timestamps = false;       // Whisper: keeps timestamps in the text
};

// What a model that knows no other languages translates from and to, as its files say ("en", "fr"); empty: they do not.
struct LanguagePair {
  std::string source, target;
};

// Immutable after loading: all const members may be called from several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Ids of `text`, special tokens added unless the options say otherwise. Errors: invalid UTF-8 (with the byte offset),
  // text above 1 MiB, out of memory, languages that the tokenizer does not know. Special tokens that are spelled out in
  // the text ("</s>") are recognized as such.
  [[nodiscard]] Result<std::vector<int32_t>> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // The same, with the bytes that each id stands for.
  [[nodiscard]] Result<Encoding> encode_with_offsets(std::string_view text, const EncodeOptions& options = {}) const;
  // Rows padded to the longest. Further error: the tokenizer has no padding token.
  [[nodiscard]] Result<EncodedBatch> encode_batch(std::span<const std::string_view> texts,
                                                  const EncodeOptions& options = {}) const;

  // Text of `ids`, which are ids of the decoder's vocabulary; always valid UTF-8. Ids that have no token (a model's
  // table may be larger than its vocabulary) give the unknown token or nothing, as the reference does. Errors: negative
  // ids, out of memory.
  [[nodiscard]] Result<std::string> decode(std::span<const int32_t> ids, const DecodeOptions& options = {}) const;
  [[nodiscard]] Result<std::string> decode(std::span<const int32_t> ids, bool skip_special) const {
    DecodeOptions options;
    options.skip_special = skip_special;
    return decode(ids, options);
  }

  // The decoder's token of an id, as stored (SentencePiece's word mark included); the unknown token where there is
  // none. Valid as long as the tokenizer.
  [[nodiscard]] virtual std::string_view token(int32_t id) const = 0;

  // Largest id plus one. Both are the same unless the model has a vocabulary per side.
  [[nodiscard]] virtual uint64_t vocabulary_size(TextSide side = TextSide::source) const = 0;

  // Multilingual families: the codes that the files name ("fr_XX", "fra_Latn", "fr"), in the order of their ids.
  [[nodiscard]] virtual std::vector<std::string> languages() const { return {}; }
  // The token that stands for a language, -1 if there is none. Takes the files' code, and other usual forms of it where
  // they can mean one language only: "fr", "fra", "fr-FR" for "fr_XX" or "fra_Latn".
  [[nodiscard]] virtual int32_t language_id(std::string_view) const { return -1; }

  [[nodiscard]] virtual LanguagePair language_pair() const { return {}; }

  [[nodiscard]] const SpecialIds& special() const { return special_; }
  [[nodiscard]] bool pads_left() const { return pad_left_; }

 protected:
  Tokenizer() = default;
  SpecialIds special_;
  bool pad_left_ = false;
  int32_t pad_type_ = 0;     // token type of padding
  bool clean_up_ = false;    // what clean_up_tokenization_spaces of the files says, in classes that obey it
  bool keeps_text_ = false;  // whatever the caller or the files say: spaces stay

 private:
  friend Result<std::unique_ptr<Tokenizer>> load_tokenizer(const Files& files, const std::string& family);
  // The text alone, without tokens of the family's own. May throw std::bad_alloc; `text` is valid UTF-8. Offsets count
  // in `text`; texts and type_ids are set by the caller and by surround().
  [[nodiscard]] virtual Result<Encoding> encode_plain(std::string_view text, const EncodeOptions& options) const = 0;
  // Puts one text or two together, with the family's tokens around them if options.add_special. Their number may not
  // depend on the texts. `second` is null if there is no second text; families that know no pairs refuse one.
  [[nodiscard]] virtual Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                                  const EncodeOptions& options) const = 0;
  // May throw std::bad_alloc and return invalid UTF-8; no id is negative.
  [[nodiscard]] virtual Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                         const DecodeOptions& options) const = 0;

  [[nodiscard]] Result<Encoding> encode_checked(std::string_view text, const EncodeOptions& options) const;
  Status truncate(Encoding& first, Encoding* second, const EncodeOptions& options) const;
};

// Loads the tokenizer of a model directory. `family` is the model_type of its config.json ("marian"), or the name of a
// tokenizer class ("MarianTokenizer"), which then counts whatever tokenizer_config.json says. Errors name the file.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const Files& files, const std::string& family);

}  // namespace lapilli
