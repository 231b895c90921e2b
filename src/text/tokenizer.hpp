// Text to token ids and back, one class per family of tokenizers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// Ids of the decoder's vocabulary and of the encoder's agree for these. -1: the tokenizer has no such token.
struct SpecialIds {
  int32_t pad = -1;
  int32_t eos = -1;
  int32_t unk = -1;
  int32_t bos = -1;
};

// Which text a string is: what the encoder reads, or what the decoder writes (given prefixes, scoring). Families with
// one vocabulary and no language tokens treat both alike.
enum class TextSide { source, target };

struct EncodeOptions {
  TextSide side = TextSide::source;
  bool add_special = true;  // the family's own tokens around the text (end token, language, ...)
};

// Immutable after loading: all const members may be called from several threads at once.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Ids of `text`, special tokens added unless the options say otherwise. Errors: invalid UTF-8 (with the byte offset),
  // text above 1 MiB, out of memory. Special tokens that are spelled out in the text ("</s>") are recognized as such.
  [[nodiscard]] Result<std::vector<int32_t>> encode(std::string_view text, const EncodeOptions& options = {}) const;

  // Text of `ids`, which are ids of the decoder's vocabulary; always valid UTF-8. Ids that have no token (a model's
  // table may be larger than its vocabulary) give the unknown token. Errors: negative ids, out of memory.
  [[nodiscard]] Result<std::string> decode(std::span<const int32_t> ids, bool skip_special = true) const;

  // The decoder's token of an id, as stored (SentencePiece's word mark included); the unknown token where there is
  // none. Valid as long as the tokenizer.
  [[nodiscard]] virtual std::string_view token(int32_t id) const = 0;

  // Largest id plus one. Both are the same unless the model has a vocabulary per side.
  [[nodiscard]] virtual uint64_t vocabulary_size(TextSide side = TextSide::source) const = 0;

  [[nodiscard]] const SpecialIds& special() const { return special_; }

 protected:
  Tokenizer() = default;
  SpecialIds special_;

 private:
  // May throw std::bad_alloc; `text` is valid UTF-8.
  [[nodiscard]] virtual Result<std::vector<int32_t>> encode_valid(std::string_view text,
                                                                  const EncodeOptions& options) const = 0;
  // May throw std::bad_alloc and return invalid UTF-8; no id is negative.
  [[nodiscard]] virtual Result<std::string> decode_valid(std::span<const int32_t> ids, bool skip_special) const = 0;
};

// Loads the tokenizer of a model directory. `family` is the model_type of its config.json ("marian"). Errors name the
// file.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& directory, const std::string& family);

}  // namespace lapilli
