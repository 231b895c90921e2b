// XLM-RoBERTa: pieces in fairseq's order between <s> and </s>.
#include <utility>

#include "text/kinds/rebuilt_tokenizer.hpp"

namespace lapilli {

Result<std::unique_ptr<Tokenizer>> load_xlm_roberta_tokenizer(const Files& files) {
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  RebuiltFamily family;
  family.model_file = "sentencepiece.bpe.model";
  family.named = {{"bos_token", "<s>"},   {"eos_token", "</s>"}, {"unk_token", "<unk>"},  {"sep_token", "</s>"},
                  {"pad_token", "<pad>"}, {"cls_token", "<s>"},  {"mask_token", "<mask>"}};
  family.convert = [](const SentencePieceFile& file, const TokenizerConfig& c, const std::string& path) {
    return fairseq_model(file, c, {}, path);
  };
  family.normalizer = [](const std::string& charsmap, const TokenizerConfig&) -> Result<NormalizerPtr> {
    if (charsmap.empty()) return make_strip(false, true);
    return make_precompiled(charsmap);
  };
  LAPILLI_TRY(auto parts, rebuild(files, config, family));
  const int32_t begin = parts.settings.special.bos, end = parts.settings.special.eos;
  return make_rebuilt(std::move(parts), TemplateOptions{{special_part(begin), first_text(), special_part(end)},
                                                        {special_part(begin), first_text(), special_part(end),
                                                         special_part(end), second_text(), special_part(end)}});
}

}  // namespace lapilli
