// NLLB: BPE pieces in fairseq's order; language, text, end.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "text/kinds/rebuilt_tokenizer.hpp"

namespace lapilli {
namespace {

// "fra_Latn"
bool is_language(std::string_view t) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return t.size() == 8 && t[3] == '_' && t[4] >= 'A' && t[4] <= 'Z' && std::all_of(t.begin(), t.begin() + 3, small) &&
         std::all_of(t.begin() + 5, t.end(), small);
}

Result<ModelPtr> convert(const SentencePieceFile& file, const TokenizerConfig& config, const std::string& path) {
  std::vector<std::pair<std::string, int32_t>> entries;
  std::unordered_set<std::string> taken;
  const auto take = [&](const std::string& text) {
    if (taken.insert(text).second) entries.emplace_back(text, static_cast<int32_t>(entries.size()));
  };
  BpeOptions options;
  for (const auto& [name, fallback] : {std::pair{"bos_token", "<s>"}, std::pair{"pad_token", "<pad>"},
                                       std::pair{"eos_token", "</s>"}, std::pair{"unk_token", "<unk>"}}) {
    LAPILLI_TRY(options.unknown, config.special_token(name, fallback));  // the last one remains
    take(options.unknown);
  }
  for (const SentencePieceFile::Piece& piece : file.pieces) take(piece.text);
  options.fuse_unknown = true;
  LAPILLI_TRY(auto vocabulary, Vocabulary::make(std::move(entries), path));
  return make_bpe(std::move(vocabulary), merges_of(file), options, path);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_nllb_tokenizer(const Files& files) {
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  LAPILLI_TRY(const auto of_files, config.extra_special_tokens());
  LAPILLI_TRY(const bool legacy, config.flag("legacy_behaviour", false));
  // Version 4, like the published weights, has the mask token after the languages; version 5 has it before them if ids
  // come from the model file. This field marks files saved by version 5.
  const bool mask_last = !config.has("extra_special_tokens");

  RebuiltFamily family;
  family.model_file = "sentencepiece.bpe.model";
  family.model = ModelKind::bpe;
  family.named = {{"bos_token", "<s>"},
                  {"eos_token", "</s>"},
                  {"unk_token", "<unk>"},
                  {"sep_token", "</s>"},
                  {"pad_token", "<pad>"},
                  {"cls_token", "<s>"},
                  {"mask_token", "<mask>", true, false, mask_last}};
  family.convert = convert;
  family.normalizer = [](const std::string& charsmap, const TokenizerConfig&) {
    return charsmap_and_single_spaces(charsmap);
  };
  family.split_at_white_space = false;
  const bool names_languages =
      std::any_of(of_files.begin(), of_files.end(), [](const AddedToken& t) { return is_language(t.text); });
  if (!names_languages && !(files / "tokenizer.json").there()) {
    for (const std::string_view code : nllb_languages()) family.extra.push_back({std::string(code), -1});
  }
  LAPILLI_TRY(auto parts, rebuild(files, config, family));

  RebuiltLanguages languages;
  languages.place = legacy ? LanguagePlace::behind_end : LanguagePlace::first;
  std::vector<std::pair<int32_t, std::string_view>> found;
  for (const AddedToken& token : parts.pipeline.added.all()) {
    if (is_language(token.text)) found.emplace_back(token.id, token.text);
  }
  std::sort(found.begin(), found.end());
  for (const auto& [id, code] : found) languages.table.add(code, id);
  LAPILLI_TRY(languages.source, config.text("src_lang", "eng_Latn"));
  LAPILLI_TRY(languages.target, config.text("tgt_lang", ""));
  return make_rebuilt(std::move(parts), std::move(languages));
}

}  // namespace lapilli
