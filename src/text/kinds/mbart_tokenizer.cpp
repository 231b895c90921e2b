// mBART: text, end, language; no normalizer. mBART-50: language, text, end.
#include <utility>

#include "text/kinds/rebuilt_tokenizer.hpp"

namespace lapilli {
namespace {

Result<std::unique_ptr<Tokenizer>> load(const Files& files, std::span<const std::string_view> languages,
                                        RebuiltFamily family, LanguagePlace place) {
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  family.model_file = "sentencepiece.bpe.model";
  family.named = {{"bos_token", "<s>"},   {"eos_token", "</s>"}, {"unk_token", "<unk>"},        {"sep_token", "</s>"},
                  {"pad_token", "<pad>"}, {"cls_token", "<s>"},  {"mask_token", "<mask>", true}};
  family.convert = [&](const SentencePieceFile& file, const TokenizerConfig& c, const std::string& path) {
    return fairseq_model(file, c, languages, path);
  };
  for (const std::string_view code : languages) family.extra.push_back({std::string(code), -1});
  LAPILLI_TRY(auto parts, rebuild(files, config, family));
  RebuiltLanguages table;
  table.place = place;
  for (const std::string_view code : languages) table.table.add(code, parts.id(code));
  LAPILLI_TRY(table.source, config.text("src_lang", "en_XX"));
  LAPILLI_TRY(table.target, config.text("tgt_lang", ""));
  return make_rebuilt(std::move(parts), std::move(table));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_mbart_tokenizer(const Files& files) {
  RebuiltFamily family;
  family.normalizer = [](const std::string&, const TokenizerConfig&) -> Result<NormalizerPtr> {
    return NormalizerPtr();
  };
  return load(files, mbart_languages(), std::move(family), LanguagePlace::behind_end);
}

Result<std::unique_ptr<Tokenizer>> load_mbart50_tokenizer(const Files& files) {
  RebuiltFamily family;
  family.normalizer = [](const std::string& charsmap, const TokenizerConfig&) {
    return charsmap_and_single_spaces(charsmap);
  };
  family.split_at_white_space = false;
  return load(files, mbart50_languages(), std::move(family), LanguagePlace::first);
}

}  // namespace lapilli
