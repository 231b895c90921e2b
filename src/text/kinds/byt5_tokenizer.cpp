#include <array>
#include <utility>

#include "text/kinds/own_tokenizers.hpp"
#include "text/special_tokens.hpp"
#include "text/tokenizer_config.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

constexpr int32_t kFirstByte = 3;  // after padding, end and unknown
constexpr int32_t kBytes = 256;

class ByT5Tokenizer final : public Tokenizer {
 public:
  explicit ByT5Tokenizer(CollectedTokens tokens) : added_(std::move(tokens.tokens)), unknown_(tokens.unknown) {
    special_ = tokens.ids;
    for (int32_t b = 0; b < kBytes; ++b) bytes_[static_cast<size_t>(b)] = static_cast<char>(b);
    size_ = kFirstByte + kBytes;
    for (const AddedToken& t : added_.all()) size_ = std::max(size_, static_cast<uint64_t>(t.id) + 1);
  }

  [[nodiscard]] std::string_view token(int32_t id) const override {
    if (const AddedToken* added = added_.by_id(id)) return added->text;
    if (id >= kFirstByte && id < kFirstByte + kBytes) return {&bytes_[static_cast<size_t>(id - kFirstByte)], 1};
    return unknown_;
  }
  [[nodiscard]] uint64_t vocabulary_size(TextSide) const override { return size_; }

 private:
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view text, const EncodeOptions&) const override {
    Encoding out;
    for (const AddedTokens::Part& part : added_.split(text)) {
      const auto begin = static_cast<uint64_t>(part.text.data() - text.data());
      if (part.token != nullptr) {
        out.push(part.token->id, {begin, begin + part.text.size()});
        continue;
      }
      for (uint64_t i = 0; i < part.text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(part.text[static_cast<size_t>(i)]);
        out.push(kFirstByte + byte, {begin + i, begin + i + 1});
      }
    }
    return out;
  }

  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions& options) const override {
    Encoding out = first;
    // A text that spells out the end token does not get a second one.
    const auto end = [&](const Encoding& part) {
      if (options.add_special && (part.ids.empty() || part.ids.back() != special_.eos)) out.push_special(special_.eos);
    };
    end(first);
    if (second != nullptr) {
      out.append(*second);
      end(*second);
    }
    return out;
  }

  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                 const DecodeOptions& options) const override {
    std::string out;
    for (const int32_t id : ids) {
      const AddedToken* added = added_.by_id(id);
      const bool known = added != nullptr || (id >= kFirstByte && id < kFirstByte + kBytes);
      if (options.skip_special && (added != nullptr ? added->special : !known)) continue;
      out += token(id);
    }
    return drop_invalid_utf8(out);
  }

  AddedTokens added_;
  std::string unknown_;
  std::array<char, kBytes> bytes_{};
  uint64_t size_ = 0;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_byt5_tokenizer(const Files& files) {
  constexpr int32_t kPublishedExtraIds = 125;
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  LAPILLI_TRY(const auto listed, config.added_tokens());
  LAPILLI_TRY(const int32_t extra_ids, config.count("extra_ids", listed.empty() ? kPublishedExtraIds : 0));
  SpecialTokenSources sources;
  sources.named = {{"pad_token", "<pad>", true, true},
                   {"eos_token", "</s>", true, true},
                   {"unk_token", "<unk>", true, true},
                   {"bos_token", nullptr},
                   {"sep_token", nullptr},
                   {"cls_token", nullptr},
                   {"mask_token", nullptr}};
  for (int32_t i = 0; i < extra_ids; ++i) sources.extra.push_back({format("<extra_id_%d>", i), -1});
  LAPILLI_TRY(const std::string pad, config.special_token("pad_token", "<pad>"));
  LAPILLI_TRY(const std::string eos, config.special_token("eos_token", "</s>"));
  LAPILLI_TRY(const std::string unk, config.special_token("unk_token", "<unk>"));
  sources.id_of = [&](const std::string& text) { return text == pad ? 0 : text == eos ? 1 : text == unk ? 2 : -1; };
  sources.vocabulary_size = kFirstByte + kBytes;
  LAPILLI_TRY(auto tokens, collect_special_tokens(config, std::move(sources)));
  if (tokens.ids.pad != 0 || tokens.ids.eos != 1 || tokens.ids.unk != 2)
    return fail(ErrorCode::invalid_data, "%s: ByT5 has padding, end and unknown as ids 0, 1 and 2, not %d, %d and %d",
                config.path().c_str(), tokens.ids.pad, tokens.ids.eos, tokens.ids.unk);
  return std::unique_ptr<Tokenizer>(std::make_unique<ByT5Tokenizer>(std::move(tokens)));
}

}  // namespace lapilli
