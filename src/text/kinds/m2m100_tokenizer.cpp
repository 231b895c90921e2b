#include <algorithm>
#include <utility>

#include "text/kinds/languages.hpp"
#include "text/kinds/own_tokenizers.hpp"
#include "text/kinds/vocabulary_pieces.hpp"
#include "text/special_tokens.hpp"
#include "text/tokenizer_config.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

struct Languages {
  LanguageTable table;
  std::string source, target;  // used if the caller names none; the target may be empty
};

class M2M100Tokenizer final : public Tokenizer {
 public:
  M2M100Tokenizer(VocabularyPieces pieces, Languages languages, const SpecialIds& special)
      : pieces_(std::move(pieces)), languages_(std::move(languages)) {
    special_ = special;
  }

  [[nodiscard]] std::string_view token(int32_t id) const override { return pieces_.token(id); }
  [[nodiscard]] uint64_t vocabulary_size(TextSide) const override { return pieces_.size(); }
  [[nodiscard]] std::vector<std::string> languages() const override { return languages_.table.codes(); }
  [[nodiscard]] int32_t language_id(std::string_view code) const override { return languages_.table.id(code); }

 private:
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view text, const EncodeOptions&) const override {
    return pieces_.encode(text);
  }
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions& options) const override;
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                 const DecodeOptions& options) const override {
    return pieces_.decode(ids, {.skip_special = options.skip_special});
  }

  VocabularyPieces pieces_;
  Languages languages_;
};

Result<Encoding> M2M100Tokenizer::surround(const Encoding& first, const Encoding* second,
                                           const EncodeOptions& options) const {
  Encoding out;
  if (options.add_special) {
    const bool source = options.side == TextSide::source;
    std::string_view code = source ? options.source_language : options.target_language;
    if (code.empty()) code = source ? languages_.source : languages_.target;
    if (code.empty())
      return fail(ErrorCode::invalid_argument, "this model needs a target language for its target texts; name one");
    LAPILLI_TRY(const LanguageTable::Entry* language, languages_.table.require(code));
    out.push_special(language->id);
  }
  out.append(first);
  if (second != nullptr) out.append(*second);
  if (options.add_special) out.push_special(special_.eos);
  return out;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_m2m100_tokenizer(const Files& files) {
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  const FileName words_path = files / "vocab.json";
  LAPILLI_TRY(auto words, Vocabulary::load(words_path));
  LAPILLI_TRY(auto model, SentencePieceModel::load(files / "sentencepiece.bpe.model"));

  LAPILLI_TRY(const std::string set, config.text("language_codes", "m2m100"));
  if (set != "m2m100" && set != "wmt21")
    return fail(ErrorCode::unsupported, "%s: language_codes %s; known: m2m100, wmt21", config.path().c_str(),
                quote_text(set));
  const auto codes = set == "wmt21" ? wmt21_languages() : m2m100_languages();
  const auto first_language = static_cast<int32_t>(words.size());

  SpecialTokenSources sources;
  sources.named = {{"bos_token", "<s>"},   {"eos_token", "</s>"},  {"unk_token", "<unk>"}, {"sep_token", "</s>"},
                   {"pad_token", "<pad>"}, {"cls_token", nullptr}, {"mask_token", nullptr}};
  Languages languages;
  for (const std::string_view code : codes) {
    const auto id = first_language + static_cast<int32_t>(languages.table.codes().size());
    languages.table.add(code, id);
    sources.extra.push_back({format("__%s__", std::string(code)), -1});
  }
  sources.id_of = [&](const std::string& text) {
    if (text.size() > 4 && text.starts_with("__") && text.ends_with("__")) {
      const auto at = std::find(codes.begin(), codes.end(), std::string_view(text).substr(2, text.size() - 4));
      if (at != codes.end()) return first_language + static_cast<int32_t>(at - codes.begin());
    }
    return words.id(text);
  };
  sources.vocabulary_size = words.size() + codes.size();
  LAPILLI_TRY(auto tokens, collect_special_tokens(config, std::move(sources)));
  for (const char* name : {"eos_token", "unk_token", "pad_token"}) {
    LAPILLI_TRY(const std::string text, config.special_token(name, *name == 'e'   ? "</s>"
                                                                   : *name == 'u' ? "<unk>"
                                                                                  : "<pad>"));
    if (words.id(text) < 0)
      return fail(ErrorCode::invalid_data, "%s: the special token %s is missing", words_path, quote_text(text));
  }
  LAPILLI_TRY(languages.source, config.text("src_lang", "en"));
  LAPILLI_TRY(languages.target, config.text("tgt_lang", ""));
  const SpecialIds special = tokens.ids;
  return std::unique_ptr<Tokenizer>(std::make_unique<M2M100Tokenizer>(
      VocabularyPieces(std::move(model), std::move(words), std::move(tokens)), std::move(languages), special));
}

}  // namespace lapilli
