// XLNet: text, <sep>, <cls>; padding on the left.
#include <utility>

#include "text/kinds/rebuilt_tokenizer.hpp"

namespace lapilli {

Result<std::unique_ptr<Tokenizer>> load_xlnet_tokenizer(const Files& files) {
  constexpr int32_t kClassType = 2, kPaddingType = 3;
  constexpr int32_t kUnknown = 0;
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  RebuiltFamily family;
  family.model_file = "spiece.model";
  family.named = {{"bos_token", "<s>"},   {"eos_token", "</s>"},  {"unk_token", "<unk>"},        {"sep_token", "<sep>"},
                  {"pad_token", "<pad>"}, {"cls_token", "<cls>"}, {"mask_token", "<mask>", true}};
  family.convert = [](const SentencePieceFile& file, const TokenizerConfig&, const std::string& path) {
    return make_unigram(pieces_of(file), kUnknown, false, path);
  };
  // The character map is not used.
  family.normalizer = [](const std::string&, const TokenizerConfig& c) -> Result<NormalizerPtr> {
    LAPILLI_TRY(const bool lower, c.flag("do_lower_case", false));
    std::vector<NormalizerPtr> steps;
    const auto add = [&](Result<NormalizerPtr> step) -> Status {
      LAPILLI_TRY(auto made, std::move(step));
      steps.push_back(std::move(made));
      return {};
    };
    LAPILLI_CHECK(add(make_replace_string("``", "\"")));
    LAPILLI_CHECK(add(make_replace_string("''", "\"")));
    LAPILLI_CHECK(add(make_unicode_normalizer(UnicodeForm::nfkd)));
    LAPILLI_CHECK(add(make_strip_accents()));
    if (lower) LAPILLI_CHECK(add(make_lowercase()));
    LAPILLI_CHECK(add(make_replace_regex(" {2,}", " ")));
    return make_normalizer_sequence(std::move(steps));
  };
  family.extra = {{"<eop>", -1}, {"<eod>", -1}};
  LAPILLI_TRY(auto parts, rebuild(files, config, family));
  parts.settings.pad_left = true;
  parts.settings.pad_type = kPaddingType;
  const int32_t sep = parts.settings.special.sep, cls = parts.settings.special.cls;
  return make_rebuilt(std::move(parts),
                      TemplateOptions{{first_text(), special_part(sep), special_part(cls, kClassType)},
                                      {first_text(), special_part(sep), second_text(1), special_part(sep, 1),
                                       special_part(cls, kClassType)}});
}

}  // namespace lapilli
