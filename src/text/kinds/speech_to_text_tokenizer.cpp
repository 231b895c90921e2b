#include <utility>

#include "text/kinds/languages.hpp"
#include "text/kinds/own_tokenizers.hpp"
#include "text/kinds/vocabulary_pieces.hpp"
#include "text/special_tokens.hpp"
#include "text/tokenizer_config.hpp"
#include "text/unicode/case_mapping.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

struct Settings {
  LanguageTable languages;  // for multilingual models
  std::string target;
  bool upper_case = false;
};

class Speech2TextTokenizer final : public Tokenizer {
 public:
  Speech2TextTokenizer(VocabularyPieces pieces, Settings settings, const SpecialIds& special)
      : pieces_(std::move(pieces)), settings_(std::move(settings)) {
    special_ = special;
  }

  [[nodiscard]] std::string_view token(int32_t id) const override { return pieces_.token(id); }
  [[nodiscard]] uint64_t vocabulary_size(TextSide) const override { return pieces_.size(); }
  [[nodiscard]] std::vector<std::string> languages() const override { return settings_.languages.codes(); }
  [[nodiscard]] int32_t language_id(std::string_view code) const override { return settings_.languages.id(code); }

 private:
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view text, const EncodeOptions&) const override {
    return pieces_.encode(text);
  }
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions& options) const override {
    Encoding out;
    if (options.add_special && !settings_.languages.empty()) {
      const std::string_view code = options.target_language.empty() ? settings_.target : options.target_language;
      LAPILLI_TRY(const LanguageTable::Entry* language, settings_.languages.require(code));
      out.push_special(language->id);
    }
    out.append(first);
    if (second != nullptr) out.append(*second);
    if (options.add_special) out.push_special(special_.eos);
    return out;
  }
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                 const DecodeOptions& options) const override {
    return pieces_.decode(ids, {options.skip_special, true, settings_.upper_case});
  }

  VocabularyPieces pieces_;
  Settings settings_;
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_speech_to_text_tokenizer(const Files& files) {
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  LAPILLI_TRY(auto words, Vocabulary::load(files / "vocab.json"));
  LAPILLI_TRY(auto model, SentencePieceModel::load(files / "sentencepiece.bpe.model"));
  Settings settings;
  LAPILLI_TRY(settings.upper_case, config.flag("do_upper_case", false));
  if (settings.upper_case) LAPILLI_CHECK(require_case_mapping("do_upper_case"));

  SpecialTokenSources sources;
  sources.named = {{"bos_token", "<s>"},   {"eos_token", "</s>"},  {"unk_token", "<unk>"}, {"sep_token", nullptr},
                   {"pad_token", "<pad>"}, {"cls_token", nullptr}, {"mask_token", nullptr}};
  LAPILLI_TRY(const std::string set, config.text("lang_codes", ""));
  if (!set.empty()) {
    if (set != "mustc")
      return fail(ErrorCode::unsupported, "%s: lang_codes %s; known: mustc", config.path().c_str(), quote_text(set));
    for (const std::string_view code : mustc_languages()) {
      const std::string token = format("<lang:%s>", std::string(code));
      settings.languages.add(code, model.piece_id(token));
      sources.extra.push_back({token, -1});
    }
    LAPILLI_TRY(settings.target, config.text("tgt_lang", std::string(mustc_languages()[0]).c_str()));
  }
  sources.id_of = [&](const std::string& text) { return words.id(text); };
  sources.vocabulary_size = words.size();
  LAPILLI_TRY(auto tokens, collect_special_tokens(config, std::move(sources)));
  const SpecialIds special = tokens.ids;
  return std::unique_ptr<Tokenizer>(std::make_unique<Speech2TextTokenizer>(
      VocabularyPieces(std::move(model), std::move(words), std::move(tokens)), std::move(settings), special));
}

}  // namespace lapilli
