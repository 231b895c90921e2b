#include <utility>

#include "text/kinds/own_tokenizers.hpp"
#include "text/sentencepiece/sentencepiece_model.hpp"

namespace lapilli {
namespace {

class SentencePieceTokenizer final : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(SentencePieceModel model) : model_(std::move(model)) {
    special_.unk = model_.unknown_id();
    special_.bos = model_.begin_id();
    special_.eos = model_.end_id();
    special_.pad = model_.padding_id();
  }

  [[nodiscard]] std::string_view token(int32_t id) const override {
    return model_.piece(id < 0 || static_cast<uint64_t>(id) >= model_.size() ? special_.unk : id);
  }
  [[nodiscard]] uint64_t vocabulary_size(TextSide) const override { return model_.size(); }

 private:
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view text, const EncodeOptions&) const override {
    Encoding out;
    LAPILLI_TRY(const auto pieces, model_.encode(text));
    for (const SentencePiece& piece : pieces) out.push(piece.id, {piece.begin, piece.end});
    return out;
  }
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions&) const override {
    Encoding out = first;
    if (second != nullptr) out.append(*second);
    return out;
  }
  // The library never shows control pieces.
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids, const DecodeOptions&) const override {
    return model_.decode(ids);
  }

  SentencePieceModel model_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_sentencepiece_tokenizer(const Files& files) {
  const char* const names[] = {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model"};
  FileName path = files / names[0];
  for (const char* name : names) {
    if (!(files / name).there()) continue;
    path = files / name;
    break;
  }
  LAPILLI_TRY(auto model, SentencePieceModel::load(path));
  return std::unique_ptr<Tokenizer>(std::make_unique<SentencePieceTokenizer>(std::move(model)));
}

}  // namespace lapilli
