// ALBERT: [CLS], text, [SEP].
#include <utility>

#include "text/kinds/rebuilt_tokenizer.hpp"

namespace lapilli {

Result<std::unique_ptr<Tokenizer>> load_albert_tokenizer(const Files& files) {
  constexpr int32_t kUnknown = 1;
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  RebuiltFamily family;
  family.model_file = "spiece.model";
  family.named = {{"bos_token", "[CLS]"}, {"eos_token", "[SEP]"}, {"unk_token", "<unk>"},  {"sep_token", "[SEP]"},
                  {"pad_token", "<pad>"}, {"cls_token", "[CLS]"}, {"mask_token", "[MASK]"}};
  family.convert = [](const SentencePieceFile& file, const TokenizerConfig&, const std::string& path) {
    return make_unigram(pieces_of(file), kUnknown, false, path);
  };
  // Lower case without accents, whatever the settings say, which could only add steps done here already. The character
  // map is not used.
  family.normalizer = [](const std::string&, const TokenizerConfig&) -> Result<NormalizerPtr> {
    std::vector<NormalizerPtr> steps;
    const auto add = [&](Result<NormalizerPtr> step) -> Status {
      LAPILLI_TRY(auto made, std::move(step));
      steps.push_back(std::move(made));
      return {};
    };
    LAPILLI_CHECK(add(make_replace_string("``", "\"")));
    LAPILLI_CHECK(add(make_replace_string("''", "\"")));
    for (int round = 0; round < 2; ++round) {  // lower-casing may leave characters that decompose again
      LAPILLI_CHECK(add(make_unicode_normalizer(UnicodeForm::nfkd)));
      LAPILLI_CHECK(add(make_strip_accents()));
      LAPILLI_CHECK(add(make_lowercase()));
    }
    LAPILLI_CHECK(add(make_replace_regex(" {2,}", " ")));
    return make_normalizer_sequence(std::move(steps));
  };
  LAPILLI_TRY(auto parts, rebuild(files, config, family));
  const int32_t cls = parts.settings.special.cls, sep = parts.settings.special.sep;
  return make_rebuilt(std::move(parts), TemplateOptions{{special_part(cls), first_text(), special_part(sep)},
                                                        {special_part(cls), first_text(), special_part(sep),
                                                         second_text(1), special_part(sep, 1)}});
}

}  // namespace lapilli
