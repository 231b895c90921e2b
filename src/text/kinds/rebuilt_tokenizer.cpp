#include "text/kinds/rebuilt_tokenizer.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "text/kinds/pipeline_tokenizers.hpp"
#include "text/pipeline/tokenizer_json.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

// Texts may contain control pieces and the model author's symbols.
void add_symbols(const SentencePieceFile& file, std::vector<AddedToken>& tokens) {
  for (const SentencePieceFile::Piece& piece : file.pieces) {
    const bool control = piece.type == SentencePieceFile::Type::control;
    if (control || piece.type == SentencePieceFile::Type::user_defined) tokens.push_back({piece.text, -1, control});
  }
}

class LanguageTokenizer final : public PipelineTokenizer {
 public:
  LanguageTokenizer(RebuiltParts parts, RebuiltLanguages languages)
      : PipelineTokenizer(std::move(parts.pipeline), parts.settings), languages_(std::move(languages)) {}

  [[nodiscard]] std::vector<std::string> languages() const override { return languages_.table.codes(); }
  [[nodiscard]] int32_t language_id(std::string_view code) const override { return languages_.table.id(code); }

 private:
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions& options) const override {
    Encoding out;
    int32_t language = -1;
    if (options.add_special) {
      const bool source = options.side == TextSide::source;
      std::string_view code = source ? options.source_language : options.target_language;
      if (code.empty()) code = source || languages_.target.empty() ? languages_.source : languages_.target;
      LAPILLI_TRY(const LanguageTable::Entry* entry, languages_.table.require(code));
      language = entry->id;
      if (languages_.place == LanguagePlace::first) out.push_special(language);
    }
    out.append(first);
    if (second != nullptr) out.append(*second);
    if (!options.add_special) return out;
    out.push_special(special().eos);
    if (languages_.place == LanguagePlace::behind_end) out.push_special(language);
    return out;
  }

  RebuiltLanguages languages_;
};

}  // namespace

int32_t RebuiltParts::id(std::string_view token) const {
  if (const AddedToken* added = pipeline.added.by_text(token)) return added->id;
  return pipeline.model->id(token);
}

Result<RebuiltParts> rebuild(const Files& files, const TokenizerConfig& config, const RebuiltFamily& family) {
  RebuiltParts parts;
  Pipeline& p = parts.pipeline;
  SpecialTokenSources sources;
  sources.extra = family.extra;
  std::string charsmap;
  if (const FileName json_path = files / "tokenizer.json"; json_path.there()) {
    LAPILLI_TRY(const auto json, TokenizerJson::load(json_path));
    LAPILLI_TRY(p.model, json.model());
    if (p.model->kind() != family.model) {
      LAPILLI_TRY(parts.as_it_stands, load_json_tokenizer(files));
      return parts;
    }
    LAPILLI_TRY(charsmap, json.charsmap());
    LAPILLI_TRY(sources.listed, json.added_tokens());
  } else {
    const FileName path = files / family.model_file;
    LAPILLI_TRY(auto file, SentencePieceFile::load(path));
    LAPILLI_TRY(p.model, family.convert(file, config, path.path()));
    charsmap = std::move(file.normalizer.charsmap);
    add_symbols(file, sources.extra);  // the file's flags of a token win
  }
  sources.named = family.named;
  sources.id_of = [&](const std::string& text) { return p.model->id(text); };
  sources.vocabulary_size = p.model->size();
  sources.extra_makes_special = false;
  LAPILLI_TRY(auto tokens, collect_special_tokens(config, std::move(sources)));

  LAPILLI_TRY(p.normalizer, family.normalizer(charsmap, config));
  LAPILLI_TRY(p.added, AddedVocabulary::make(std::move(tokens.tokens), *p.model, p.normalizer.get()));
  LAPILLI_TRY(const bool prefix, config.flag("add_prefix_space", true));
  const PrependScheme scheme = prefix ? PrependScheme::always : PrependScheme::never;
  p.pre_tokenizer = make_metaspace(kWordMark, scheme, true);
  if (family.split_at_white_space) {
    std::vector<PreTokenizerPtr> both;
    both.push_back(make_whitespace_split());
    both.push_back(std::move(p.pre_tokenizer));
    p.pre_tokenizer = make_pre_tokenizer_sequence(std::move(both));
  }
  p.decoder = make_metaspace_decoder(kWordMark, scheme);
  parts.settings.special = tokens.ids;
  LAPILLI_TRY(parts.settings.clean_up, config.flag("clean_up_tokenization_spaces", false));
  return parts;
}

std::unique_ptr<Tokenizer> make_rebuilt(RebuiltParts parts, TemplateOptions post_processor) {
  if (parts.as_it_stands) return std::move(parts.as_it_stands);
  parts.pipeline.post_processor = make_template(std::move(post_processor));
  return std::make_unique<PipelineTokenizer>(std::move(parts.pipeline), parts.settings);
}

std::unique_ptr<Tokenizer> make_rebuilt(RebuiltParts parts, RebuiltLanguages languages) {
  if (parts.as_it_stands) return std::move(parts.as_it_stands);
  return std::make_unique<LanguageTokenizer>(std::move(parts), std::move(languages));
}

TemplatePart first_text(int32_t type) { return {TemplatePart::Kind::first, {}, type}; }
TemplatePart second_text(int32_t type) { return {TemplatePart::Kind::second, {}, type}; }
TemplatePart special_part(int32_t id, int32_t type) { return {TemplatePart::Kind::special, {id}, type}; }

std::vector<UnigramPiece> pieces_of(const SentencePieceFile& file) {
  std::vector<UnigramPiece> pieces;
  pieces.reserve(file.pieces.size());
  for (const SentencePieceFile::Piece& piece : file.pieces) pieces.push_back({piece.text, piece.score});
  return pieces;
}

std::vector<Merge> merges_of(const SentencePieceFile& file) {
  std::unordered_set<std::string_view> known;
  for (const SentencePieceFile::Piece& piece : file.pieces) known.insert(piece.text);
  std::vector<Merge> merges;
  for (const SentencePieceFile::Piece& piece : file.pieces) {
    const std::string_view text = piece.text;
    for (size_t at = 1; at < text.size(); ++at) {
      if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) continue;  // inside a character
      const std::string_view left = text.substr(0, at), right = text.substr(at);
      if (known.contains(left) && known.contains(right)) merges.emplace_back(left, right);
    }
  }
  return merges;
}

Result<ModelPtr> fairseq_model(const SentencePieceFile& file, const TokenizerConfig& config,
                               std::span<const std::string_view> languages, const std::string& path) {
  constexpr size_t kReplaced = 3;  // unknown, begin and end
  constexpr int32_t kUnknown = 3;
  std::vector<UnigramPiece> pieces;
  for (const auto& [name, fallback] : {std::pair{"bos_token", "<s>"}, std::pair{"pad_token", "<pad>"},
                                       std::pair{"eos_token", "</s>"}, std::pair{"unk_token", "<unk>"}}) {
    LAPILLI_TRY(std::string text, config.special_token(name, fallback));
    pieces.push_back({std::move(text), 0});
  }
  std::vector<UnigramPiece> own = pieces_of(file);
  if (own.size() < kReplaced)
    return fail(ErrorCode::invalid_data, "%s has %u pieces, too few for this family", path, own.size());
  pieces.insert(pieces.end(), std::make_move_iterator(own.begin() + kReplaced), std::make_move_iterator(own.end()));
  for (const std::string_view language : languages) pieces.push_back({std::string(language), 0});
  LAPILLI_TRY(std::string mask, config.special_token("mask_token", "<mask>"));
  pieces.push_back({std::move(mask), 0});
  return make_unigram(std::move(pieces), kUnknown, false, path);
}

Result<NormalizerPtr> charsmap_and_single_spaces(const std::string& charsmap) {
  std::vector<NormalizerPtr> steps;
  if (!charsmap.empty()) {
    LAPILLI_TRY(auto map, make_precompiled(charsmap));
    steps.push_back(std::move(map));
  }
  LAPILLI_TRY(auto spaces, make_replace_regex(" {2,}", " "));
  steps.push_back(std::move(spaces));
  return make_normalizer_sequence(std::move(steps));
}

}  // namespace lapilli
