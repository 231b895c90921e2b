// T5, mT5, UMT5: the model's own ids, then <extra_id_N> in descending order.
#include <utility>

#include "text/kinds/rebuilt_tokenizer.hpp"

namespace lapilli {

Result<std::unique_ptr<Tokenizer>> load_t5_tokenizer(const Files& files) {
  constexpr int32_t kPublishedExtraIds = 100;
  constexpr int32_t kUnknown = 2;
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  LAPILLI_TRY(const int32_t extra_ids, config.count("extra_ids", kPublishedExtraIds));
  const auto extra_id = [](int32_t i) { return format("<extra_id_%d>", i); };

  RebuiltFamily family;
  family.model_file = "spiece.model";
  family.named = {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}};
  family.convert = [&](const SentencePieceFile& file, const TokenizerConfig&, const std::string& path) {
    std::vector<UnigramPiece> pieces = pieces_of(file);
    for (int32_t i = extra_ids - 1; i >= 0; --i) pieces.push_back({extra_id(i), 0});
    return make_unigram(std::move(pieces), kUnknown, false, path);
  };
  family.normalizer = [](const std::string& charsmap, const TokenizerConfig&) -> Result<NormalizerPtr> {
    if (charsmap.empty()) return NormalizerPtr();
    return make_precompiled(charsmap);
  };
  for (int32_t i = extra_ids - 1; i >= 0; --i) family.extra.push_back({extra_id(i), -1});
  LAPILLI_TRY(auto parts, rebuild(files, config, family));
  const int32_t end = parts.settings.special.eos;
  return make_rebuilt(std::move(parts),
                      TemplateOptions{{first_text(), special_part(end)},
                                      {first_text(), special_part(end), second_text(), special_part(end)}});
}

}  // namespace lapilli
