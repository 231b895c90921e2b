// BERT and its relatives, and ProphetNet.
#include <nlohmann/json.hpp>
#include <utility>

#include "text/kinds/pipeline_loading.hpp"
#include "text/kinds/pipeline_tokenizers.hpp"

namespace lapilli {
namespace {

Result<NormalizerPtr> read_bert_normalizer(const TokenizerConfig& config) {
  BertNormalizerOptions options;
  LAPILLI_TRY(options.lowercase, config.flag("do_lower_case", true));
  LAPILLI_TRY(options.handle_chinese_chars, config.flag("tokenize_chinese_chars", true));
  if (config.has("strip_accents")) {
    LAPILLI_TRY(options.strip_accents, config.flag("strip_accents", true));
  }
  return make_bert_normalizer(options);
}

Result<Pipeline> bert_pipeline(const TokenizerFiles& files, const char* vocab_file) {
  Pipeline p;
  WordPieceOptions options;
  LAPILLI_TRY(options.unknown, files.config.special_token("unk_token", "[UNK]"));
  LAPILLI_TRY(p.model, load_word_piece_model(files, vocab_file, options));
  LAPILLI_TRY(p.normalizer, read_bert_normalizer(files.config));
  LAPILLI_TRY(p.pre_tokenizer, make_bert_pre_tokenizer());
  return p;
}

// True if tokenizer.json holds another kind of model: it counts, and not the name of the class. Encoders of many
// languages have BERT's network and XLM-R's pieces.
bool has_other_pieces(const TokenizerFiles& files) {
  if (!files.json) return false;
  const auto model = files.json->document().find("model");
  if (model == files.json->document().end() || !model->is_object()) return false;
  const auto type = model->find("type");
  return type != model->end() && type->is_string() && *type != "WordPiece";
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_bert_tokenizer(const Files& from) {
  LAPILLI_TRY(const auto files, load_tokenizer_files(from));
  if (has_other_pieces(files)) return load_json_tokenizer(from);
  LAPILLI_TRY(auto p, bert_pipeline(files, "vocab.txt"));
  p.decoder = make_word_piece_decoder("##", true);
  LAPILLI_TRY(const auto special, SpecialTokens::collect(files,
                                                         {{"unk_token", "[UNK]"},
                                                          {"sep_token", "[SEP]"},
                                                          {"pad_token", "[PAD]"},
                                                          {"cls_token", "[CLS]"},
                                                          {"mask_token", "[MASK]"},
                                                          {"bos_token", ""},
                                                          {"eos_token", ""}},
                                                         *p.model));
  p.post_processor = make_bert_processing(special.id("cls_token"), special.id("sep_token"));
  LAPILLI_TRY(p.added, AddedVocabulary::make(special.tokens(), *p.model, p.normalizer.get()));
  LAPILLI_TRY(const PipelineSettings settings, read_settings(files, special, false));
  return std::unique_ptr<Tokenizer>(std::make_unique<PipelineTokenizer>(std::move(p), settings));
}

Result<std::unique_ptr<Tokenizer>> load_prophetnet_tokenizer(const Files& from) {
  LAPILLI_TRY(const auto files, load_tokenizer_files(from));
  LAPILLI_TRY(auto p, bert_pipeline(files, "prophetnet.tokenizer"));
  p.decoder = make_word_piece_decoder("##", false);
  LAPILLI_TRY(const auto special, SpecialTokens::collect(files,
                                                         {{"unk_token", "[UNK]"},
                                                          {"sep_token", "[SEP]"},
                                                          {"x_sep_token", "[X_SEP]"},
                                                          {"pad_token", "[PAD]"},
                                                          {"mask_token", "[MASK]"}},
                                                         *p.model));
  TemplateOptions t;
  const int32_t sep = special.id("sep_token");
  t.single = {{TemplatePart::Kind::first, {}, 0}, {TemplatePart::Kind::special, {sep}, 0}};
  t.pair = t.single;
  t.pair.push_back({TemplatePart::Kind::second, {}, 1});
  t.pair.push_back({TemplatePart::Kind::special, {sep}, 1});
  p.post_processor = make_template(std::move(t));
  LAPILLI_TRY(p.added, AddedVocabulary::make(special.tokens(), *p.model, p.normalizer.get()));
  LAPILLI_TRY(const PipelineSettings settings, read_settings(files, special, true));
  return std::unique_ptr<Tokenizer>(std::make_unique<PipelineTokenizer>(std::move(p), settings));
}

}  // namespace lapilli
