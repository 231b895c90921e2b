// Pegasus: padding, end, two masks, <unk_N>, then the model's pieces.
#include <utility>

#include "text/kinds/rebuilt_tokenizer.hpp"

namespace lapilli {

Result<std::unique_ptr<Tokenizer>> load_pegasus_tokenizer(const Files& files) {
  constexpr int32_t kPublishedOffset = 103;
  constexpr size_t kReplaced = 2;  // the model file's padding and end
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  LAPILLI_TRY(const int32_t offset, config.count("offset", kPublishedOffset));
  LAPILLI_TRY(const std::string sentence_mask, config.special_token("mask_token_sent", "<mask_1>"));
  const auto unused = [](int32_t i) { return format("<unk_%d>", i); };

  RebuiltFamily family;
  family.model_file = "spiece.model";
  family.named = {{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}, {"mask_token", "<mask_2>"}};
  family.convert = [&](const SentencePieceFile& file, const TokenizerConfig& c,
                       const std::string& path) -> Result<ModelPtr> {
    LAPILLI_TRY(const std::string pad, c.special_token("pad_token", "<pad>"));
    LAPILLI_TRY(const std::string end, c.special_token("eos_token", "</s>"));
    LAPILLI_TRY(const std::string mask, c.special_token("mask_token", "<mask_2>"));
    LAPILLI_TRY(const std::string unknown, c.special_token("unk_token", "<unk>"));
    std::vector<UnigramPiece> pieces = {{pad, 0}, {end, 0}, {sentence_mask, 0}, {mask, 0}};
    for (int32_t i = 2; i < offset; ++i) pieces.push_back({unused(i), -100});
    std::vector<UnigramPiece> own = pieces_of(file);
    int32_t unknown_id = -1;
    for (size_t i = kReplaced; i < own.size(); ++i) {
      if (own[i].text == unknown) unknown_id = static_cast<int32_t>(pieces.size());
      pieces.push_back(std::move(own[i]));
    }
    return make_unigram(std::move(pieces), unknown_id, false, path);
  };
  family.normalizer = [](const std::string& charsmap, const TokenizerConfig&) -> Result<NormalizerPtr> {
    if (!charsmap.empty()) return charsmap_and_single_spaces(charsmap);
    std::vector<NormalizerPtr> steps;
    LAPILLI_TRY(auto lines, make_replace_string("\n", " "));
    LAPILLI_TRY(auto spaces, make_replace_regex(" {2,}", " "));
    steps.push_back(std::move(lines));
    steps.push_back(std::move(spaces));
    return make_normalizer_sequence(std::move(steps));
  };
  family.split_at_white_space = false;
  family.extra.push_back({sentence_mask, -1});
  for (int32_t i = 2; i < offset; ++i) family.extra.push_back({unused(i), -1});
  LAPILLI_TRY(auto parts, rebuild(files, config, family));
  const int32_t end = parts.settings.special.eos;
  return make_rebuilt(std::move(parts), TemplateOptions{{first_text(), special_part(end)},
                                                        {first_text(), second_text(), special_part(end)}});
}

}  // namespace lapilli
