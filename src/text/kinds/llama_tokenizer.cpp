// Llama's directories without tokenizer.json (2023): the pairs of a SentencePiece model, with byte fallback.
#include <utility>

#include "text/kinds/pipeline_loading.hpp"
#include "text/kinds/pipeline_tokenizers.hpp"
#include "text/kinds/rebuilt_tokenizer.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

Result<ModelPtr> pair_model(const SentencePieceFile& file, const std::string& path) {
  if (file.algorithm != SentencePieceFile::Algorithm::bpe)
    return fail(
        ErrorCode::unsupported,
        "%s: a Llama tokenizer of another algorithm than BPE; save it as tokenizer.json (save_pretrained() of a "
        "fast tokenizer)",
        path);
  std::vector<std::string> pieces;
  for (const SentencePieceFile::Piece& piece : file.pieces) pieces.push_back(piece.text);
  auto vocabulary = Vocabulary::from_list(std::move(pieces));
  BpeOptions options;
  if (vocabulary.id(file.unknown_piece) >= 0) options.unknown = file.unknown_piece;
  options.fuse_unknown = options.byte_fallback = true;
  return make_bpe(std::move(vocabulary), merges_of(file), options, path);
}

// The model's own symbols, then the tokens that the files name, which win.
std::vector<AddedToken> llama_tokens(const SentencePieceFile& file, const SpecialTokens& special) {
  std::vector<AddedToken> tokens;
  for (size_t i = 0; i < file.pieces.size(); ++i) {
    const bool control = file.pieces[i].type == SentencePieceFile::Type::control;
    if (control || file.pieces[i].type == SentencePieceFile::Type::user_defined)
      tokens.push_back({file.pieces[i].text, static_cast<int32_t>(i), control});
  }
  tokens.insert(tokens.end(), special.tokens().begin(), special.tokens().end());
  return tokens;
}

// Where no file says it, the first token comes before a text and none comes behind it: publishers wrote their files
// with version 4 of the reference.
Result<PostProcessorPtr> first_and_last(const TokenizerConfig& config, const SpecialTokens& special) {
  LAPILLI_TRY(const bool first, config.flag("add_bos_token", true));
  LAPILLI_TRY(const bool last, config.flag("add_eos_token", false));
  const auto add = [](bool wanted, int32_t id, std::vector<TemplatePart>& parts) {
    if (wanted && id >= 0) parts.push_back(special_part(id));
  };
  TemplateOptions t;
  for (const TemplatePart& text : {first_text(), second_text()}) {
    add(first, special.id("bos_token"), t.pair);
    t.pair.push_back(text);
    add(last, special.id("eos_token"), t.pair);
    if (t.single.empty()) t.single = t.pair;
  }
  return make_template(std::move(t));
}

// The blank in front of a text goes again; bytes become characters.
DecoderPtr llama_decoder(bool prefix) {
  std::vector<DecoderPtr> steps;
  steps.push_back(make_replace_string_decoder(kWordMark, " "));
  steps.push_back(make_byte_fallback_decoder());
  steps.push_back(make_fuse_decoder());
  if (prefix) steps.push_back(make_strip_decoder(" ", 1, 0));
  return make_decoder_sequence(std::move(steps));
}

Result<std::unique_ptr<Tokenizer>> from_pieces(const TokenizerFiles& files, const FileName& path) {
  LAPILLI_TRY(const auto file, SentencePieceFile::load(path));
  const TokenizerConfig& config = files.config;
  Pipeline p;
  LAPILLI_TRY(p.model, pair_model(file, path.path()));
  LAPILLI_TRY(const bool prefix, config.flag("add_prefix_space", true));
  LAPILLI_TRY(const bool everywhere, config.flag("legacy", true));  // also behind special tokens
  p.pre_tokenizer = make_metaspace(kWordMark,
                                   !prefix      ? PrependScheme::never
                                   : everywhere ? PrependScheme::always
                                                : PrependScheme::first,
                                   false);
  p.decoder = llama_decoder(prefix);
  LAPILLI_TRY(const auto special, SpecialTokens::collect(files,
                                                         {{"unk_token", "<unk>"},
                                                          {"bos_token", config.is_null("bos_token") ? "" : "<s>"},
                                                          {"eos_token", config.is_null("eos_token") ? "" : "</s>"},
                                                          {"pad_token", ""}},
                                                         *p.model));
  LAPILLI_TRY(p.post_processor, first_and_last(config, special));
  LAPILLI_TRY(p.added, AddedVocabulary::make(llama_tokens(file, special), *p.model, nullptr));
  LAPILLI_TRY(const PipelineSettings settings, read_settings(files, special, false));
  return std::unique_ptr<Tokenizer>(std::make_unique<PipelineTokenizer>(std::move(p), settings));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_llama_tokenizer(const Files& from) {
  if ((from / "tokenizer.json").there()) return load_json_tokenizer(from);
  const FileName path = from / "tokenizer.model";
  if (!path.there())
    return fail(ErrorCode::not_found, "%s has neither tokenizer.json nor tokenizer.model; get one of them", from);
  LAPILLI_TRY(const auto files, load_tokenizer_files(from));
  return from_pieces(files, path);
}

}  // namespace lapilli
