// GPT-2, OPT, RoBERTa, BART, LED, Blenderbot: byte-level BPE. Also OpenAI GPT, whose BPE is older.
#include <utility>

#include "base/log.hpp"
#include "text/kinds/pipeline_loading.hpp"
#include "text/kinds/pipeline_tokenizers.hpp"

namespace lapilli {
namespace {

Result<Pipeline> byte_level_pipeline(const TokenizerFiles& files, bool prefix_space) {
  Pipeline p;
  LAPILLI_TRY(p.model, load_bpe_model(files, {}));
  LAPILLI_TRY(const bool add_prefix_space, files.config.flag("add_prefix_space", prefix_space));
  LAPILLI_TRY(p.pre_tokenizer, make_byte_level(add_prefix_space, true));
  p.decoder = make_byte_level_decoder();
  return p;
}

// "$A" and "$A $B", with begin and end tokens if the configuration requests them.
Result<PostProcessorPtr> plain_template(const TokenizerFiles& files, const SpecialTokens& special) {
  TemplateOptions t;
  const auto add = [&](const char* flag, const char* field, int32_t type, std::vector<TemplatePart>& parts) -> Status {
    LAPILLI_TRY(const bool wanted, files.config.flag(flag, false));
    const int32_t id = special.id(field);
    if (wanted && id >= 0) parts.push_back({TemplatePart::Kind::special, {id}, type});
    return {};
  };
  LAPILLI_CHECK(add("add_bos_token", "bos_token", 0, t.single));
  t.single.push_back({TemplatePart::Kind::first, {}, 0});
  LAPILLI_CHECK(add("add_eos_token", "eos_token", 0, t.single));
  t.pair = t.single;
  LAPILLI_CHECK(add("add_bos_token", "bos_token", 1, t.pair));
  t.pair.push_back({TemplatePart::Kind::second, {}, 1});
  LAPILLI_CHECK(add("add_eos_token", "eos_token", 1, t.pair));
  return make_template(std::move(t));
}

// tokenizer.json's post-processor, unless the configuration mentions begin or end tokens.
Result<PostProcessorPtr> stored_or_plain(const TokenizerFiles& files, const SpecialTokens& special) {
  const bool spoken = files.config.has("add_bos_token") || files.config.has("add_eos_token");
  if (files.json && !spoken) {
    LAPILLI_TRY(auto stored, files.json->post_processor());
    if (stored != nullptr) return stored;
  }
  return plain_template(files, special);
}

Result<std::unique_ptr<Tokenizer>> finish(Pipeline p, const TokenizerFiles& files, const SpecialTokens& special) {
  LAPILLI_TRY(p.added, AddedVocabulary::make(special.tokens(), *p.model, p.normalizer.get()));
  LAPILLI_TRY(const PipelineSettings settings, read_settings(files, special, false));
  return std::unique_ptr<Tokenizer>(std::make_unique<PipelineTokenizer>(std::move(p), settings));
}

// The post-processor of tokenizer.json counts; says so where a switch of tokenizer_config.json wants it otherwise.
Status note_switches(const TokenizerFiles& files, const Pipeline& p, const SpecialTokens& special) {
  if (!p.post_processor) return {};
  const auto around = p.post_processor->process({}, nullptr, true);
  if (!around) return {};  // texts will say so
  for (const bool last : {false, true}) {
    const char* flag = last ? "add_eos_token" : "add_bos_token";
    const int32_t id = special.id(last ? "eos_token" : "bos_token");
    if (!files.config.has(flag) || id < 0) continue;
    LAPILLI_TRY(const bool wanted, files.config.flag(flag, false));
    const bool there = !around->ids.empty() && (last ? around->ids.back() : around->ids.front()) == id;
    if (wanted != there)
      log(LogLevel::note, format("%s: %s is %s, but tokenizer.json %s; tokenizer.json counts", files.config.path(),
                                 flag, wanted ? "true" : "false", there ? "adds that token" : "adds no such token"));
  }
  return {};
}

constexpr std::initializer_list<NamedToken> kRobertaTokens = {
    {"bos_token", "<s>"},   {"eos_token", "</s>"},  {"sep_token", "</s>"},          {"cls_token", "<s>"},
    {"unk_token", "<unk>"}, {"pad_token", "<pad>"}, {"mask_token", "<mask>", true},
};

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_gpt2_tokenizer(const Files& from) {
  LAPILLI_TRY(const auto files, load_tokenizer_files(from));
  LAPILLI_TRY(auto p, byte_level_pipeline(files, false));
  LAPILLI_TRY(const auto special, SpecialTokens::collect(files,
                                                         {{"unk_token", "<|endoftext|>"},
                                                          {"bos_token", "<|endoftext|>"},
                                                          {"eos_token", "<|endoftext|>"},
                                                          {"pad_token", ""},
                                                          {"sep_token", ""},
                                                          {"cls_token", ""},
                                                          {"mask_token", ""}},
                                                         *p.model));
  LAPILLI_TRY(p.post_processor, stored_or_plain(files, special));
  return finish(std::move(p), files, special);
}

Result<std::unique_ptr<Tokenizer>> load_roberta_tokenizer(const Files& from) {
  LAPILLI_TRY(const auto files, load_tokenizer_files(from));
  if (files.json) return load_json_tokenizer(from);
  LAPILLI_TRY(auto p, byte_level_pipeline(files, false));
  LAPILLI_TRY(const auto special, SpecialTokens::collect(files, kRobertaTokens, *p.model));
  LAPILLI_TRY(const bool trims, files.config.flag("trim_offsets", true));
  LAPILLI_TRY(const bool prefix, files.config.flag("add_prefix_space", false));
  const TrimmedBlanks blanks = prefix ? TrimmedBlanks::all_but_first : TrimmedBlanks::all;
  p.post_processor =
      make_roberta_processing(special.id("cls_token"), special.id("sep_token"), trims ? blanks : TrimmedBlanks::none);
  return finish(std::move(p), files, special);
}

Result<std::unique_ptr<Tokenizer>> load_blenderbot_tokenizer(const Files& from) {
  LAPILLI_TRY(const auto files, load_tokenizer_files(from));
  LAPILLI_TRY(auto p, byte_level_pipeline(files, true));
  LAPILLI_TRY(const auto special, SpecialTokens::collect(files, kRobertaTokens, *p.model));
  LAPILLI_TRY(p.post_processor, stored_or_plain(files, special));
  return finish(std::move(p), files, special);
}

Result<std::unique_ptr<Tokenizer>> load_openai_gpt_tokenizer(const Files& from) {
  LAPILLI_TRY(const auto files, load_tokenizer_files(from));
  LAPILLI_TRY(const std::string unknown, files.config.special_token("unk_token", "<unk>"));
  BpeOptions options;
  options.unknown = unknown;
  options.end_of_word_suffix = "</w>";
  Pipeline p;
  LAPILLI_TRY(p.model, load_bpe_model(files, options));
  LAPILLI_TRY(p.normalizer, make_bert_normalizer({}));
  LAPILLI_TRY(p.pre_tokenizer, make_bert_pre_tokenizer());
  p.decoder = make_bpe_decoder("</w>");
  LAPILLI_TRY(const auto special,
              SpecialTokens::collect(
                  files, {{"unk_token", "<unk>"}, {"bos_token", ""}, {"eos_token", ""}, {"pad_token", ""}}, *p.model));
  LAPILLI_TRY(p.post_processor, stored_or_plain(files, special));
  return finish(std::move(p), files, special);
}

Result<std::unique_ptr<Tokenizer>> load_json_tokenizer(const Files& from) {
  LAPILLI_TRY(const auto files, load_tokenizer_files(from));
  if (!files.json)
    return fail(ErrorCode::not_found,
                "%s has no tokenizer.json, and its tokenizer_config.json names no class that could "
                "do without",
                from);
  LAPILLI_TRY(auto p, files.json->pipeline());
  LAPILLI_TRY(const auto special, SpecialTokens::collect(files,
                                                         {{"unk_token", ""},
                                                          {"bos_token", ""},
                                                          {"eos_token", ""},
                                                          {"pad_token", ""},
                                                          {"sep_token", ""},
                                                          {"cls_token", ""},
                                                          {"mask_token", ""}},
                                                         *p.model));
  LAPILLI_CHECK(note_switches(files, p, special));
  return finish(std::move(p), files, special);
}

Result<std::unique_ptr<Tokenizer>> load_literal_tokenizer(const Files& from) {
  LAPILLI_TRY(const auto json, TokenizerJson::load(from / "tokenizer.json"));
  LAPILLI_TRY(auto p, json.pipeline());
  // The file lists tokens but not their roles, which other files give, if any.
  LAPILLI_TRY(const auto config, TokenizerConfig::load(from));
  PipelineSettings settings;
  settings.pad_left = json.pads_left();
  SpecialIds& s = settings.special;
  for (const auto& [field, id] : std::initializer_list<std::pair<const char*, int32_t*>>{{"pad_token", &s.pad},
                                                                                         {"eos_token", &s.eos},
                                                                                         {"unk_token", &s.unk},
                                                                                         {"bos_token", &s.bos},
                                                                                         {"cls_token", &s.cls},
                                                                                         {"sep_token", &s.sep},
                                                                                         {"mask_token", &s.mask}}) {
    LAPILLI_TRY(const std::string text, config.special_token(field, ""));
    if (const AddedToken* token = p.added.by_text(text)) *id = token->id;
  }
  return std::unique_ptr<Tokenizer>(std::make_unique<PipelineTokenizer>(std::move(p), settings));
}

}  // namespace lapilli
