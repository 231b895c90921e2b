// DeBERTa v2 and v3: [CLS], text, [SEP].
#include <utility>

#include "text/kinds/rebuilt_tokenizer.hpp"

namespace lapilli {
namespace {

// Files of version 4 of the reference, and model files, have a character map; those of version 5 do not.
Result<NormalizerPtr> deberta_normalizer(const std::string& charsmap, const TokenizerConfig& config) {
  LAPILLI_TRY(const bool lower, config.flag("do_lower_case", false));
  std::vector<NormalizerPtr> steps;
  const auto add = [&](Result<NormalizerPtr> step) -> Status {
    LAPILLI_TRY(auto made, std::move(step));
    steps.push_back(std::move(made));
    return {};
  };
  if (lower) LAPILLI_CHECK(add(make_lowercase()));
  if (charsmap.empty()) {
    LAPILLI_CHECK(add(make_replace_regex("\\s{2,}|[\\n\\r\\t]", " ")));
    LAPILLI_CHECK(add(make_unicode_normalizer(UnicodeForm::nfc)));
    steps.push_back(make_strip(false, true));
  } else {
    steps.push_back(make_strip(true, true));
    LAPILLI_CHECK(add(charsmap_and_single_spaces(charsmap)));
  }
  return make_normalizer_sequence(std::move(steps));
}

Status split_at_punctuation(PreTokenizerPtr& words) {
  LAPILLI_TRY(auto marks, make_punctuation(SplitBehavior::isolated));
  std::vector<PreTokenizerPtr> both;
  both.push_back(std::move(marks));
  both.push_back(std::move(words));
  words = make_pre_tokenizer_sequence(std::move(both));
  return {};
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_deberta_v2_tokenizer(const Files& files) {
  constexpr int32_t kUnknown = 3;
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  RebuiltFamily family;
  family.model_file = "spm.model";
  family.named = {{"bos_token", "[CLS]"}, {"eos_token", "[SEP]"}, {"unk_token", "[UNK]"},  {"sep_token", "[SEP]"},
                  {"pad_token", "[PAD]"}, {"cls_token", "[CLS]"}, {"mask_token", "[MASK]"}};
  family.convert = [](const SentencePieceFile& file, const TokenizerConfig&, const std::string& path) {
    return make_unigram(pieces_of(file), kUnknown, false, path);
  };
  family.normalizer = deberta_normalizer;
  family.split_at_white_space = false;
  LAPILLI_TRY(auto parts, rebuild(files, config, family));
  LAPILLI_TRY(const bool split, config.flag("split_by_punct", false));
  if (split && !parts.as_it_stands) LAPILLI_CHECK(split_at_punctuation(parts.pipeline.pre_tokenizer));
  const int32_t cls = parts.settings.special.cls, sep = parts.settings.special.sep;
  return make_rebuilt(std::move(parts), TemplateOptions{{special_part(cls), first_text(), special_part(sep)},
                                                        {special_part(cls), first_text(), special_part(sep),
                                                         second_text(1), special_part(sep, 1)}});
}

}  // namespace lapilli
