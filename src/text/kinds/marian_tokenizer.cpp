#include "text/kinds/marian_tokenizer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "text/added_tokens.hpp"
#include "text/kinds/moses.hpp"
#include "text/sentencepiece/sentencepiece_model.hpp"
#include "text/tokenizer_config.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"
#include "text/vocabulary.hpp"

namespace lapilli {
namespace {

std::string word_marks_to_spaces(std::string_view text) {
  constexpr std::string_view mark = kWordMark;
  std::string out;
  out.reserve(text.size());
  for (size_t at; (at = text.find(mark)) != std::string_view::npos; text.remove_prefix(at + mark.size())) {
    out.append(text.substr(0, at));
    out.push_back(' ');
  }
  out.append(text);
  return out;
}

// A change of punctuation before a source is cut, as the publisher's script makes it.
enum class PunctuationRules { none, moses, table };

// A changed text, with the bytes of the text before for each of its bytes.
struct UniformText {
  std::string text;
  std::vector<ByteRange> origins;
  [[nodiscard]] ByteRange place(const SentencePiece& piece) const {
    if (origins.empty()) return {};
    const uint64_t last = origins.size() - 1, begin = std::min<uint64_t>(piece.begin, last);
    if (piece.end <= piece.begin) return {origins[begin].begin, origins[begin].begin};
    return {origins[begin].begin, origins[std::min<uint64_t>(piece.end - 1, last)].end};
  }
};

UniformText uniform_text(std::string_view text, PunctuationRules rules, const std::string& language) {
  MosesText characters = moses_text(text, 0);
  characters = rules == PunctuationRules::table ? ascii_marks(std::move(characters))
                                                : uniform_punctuation(std::move(characters), language);
  UniformText made;
  for (const MosesCharacter& c : characters) {
    append_utf8(made.text, c.code);
    made.origins.resize(made.text.size(), c.range);
  }
  return made;
}

struct MarianParts {
  SentencePieceModel source_model;
  SentencePieceModel target_model;
  Vocabulary source_vocabulary;
  std::optional<Vocabulary> target_vocabulary;  // only with a separate vocabulary per side
  AddedTokens added;
  std::string unknown;
  SpecialIds special;
  LanguagePair languages;
  PunctuationRules punctuation = PunctuationRules::none;
};

class MarianTokenizer final : public Tokenizer {
 public:
  explicit MarianTokenizer(MarianParts parts) : p_(std::move(parts)) { special_ = p_.special; }

  [[nodiscard]] std::string_view token(int32_t id) const override { return token_text(id); }
  [[nodiscard]] uint64_t vocabulary_size(TextSide side) const override { return vocabulary(side).size(); }
  [[nodiscard]] LanguagePair language_pair() const override { return p_.languages; }

 private:
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view text, const EncodeOptions& options) const override;
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions& options) const override;
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                 const DecodeOptions& options) const override;

  // `begin` is the position of `text` in the whole text.
  Status encode_run(std::string_view text, uint64_t begin, TextSide side, Encoding& out) const;
  [[nodiscard]] const Vocabulary& vocabulary(TextSide side) const {
    return side == TextSide::target && p_.target_vocabulary ? *p_.target_vocabulary : p_.source_vocabulary;
  }
  // Added tokens keep their source ids on both sides, even where a separate target vocabulary has another token there:
  // the ids must match the reference implementation's.
  [[nodiscard]] const std::string& token_text(int32_t id) const {
    if (const AddedToken* added = p_.added.by_id(id)) return added->text;
    const std::string* token = vocabulary(TextSide::target).token(id);
    return token == nullptr ? p_.unknown : *token;
  }

  MarianParts p_;
};

Result<Encoding> MarianTokenizer::encode_plain(std::string_view text, const EncodeOptions& options) const {
  Encoding out;
  for (const AddedTokens::Part& part : p_.added.split(text)) {
    const auto begin = static_cast<uint64_t>(part.text.data() - text.data());
    if (part.token != nullptr) {
      out.push(part.token->id, {begin, begin + part.text.size()});
    } else {
      LAPILLI_CHECK(encode_run(part.text, begin, options.side, out));
    }
  }
  return out;
}

Result<Encoding> MarianTokenizer::surround(const Encoding& first, const Encoding* second,
                                           const EncodeOptions& options) const {
  Encoding out = first;
  if (second != nullptr) out.append(*second);
  if (options.add_special) out.push_special(special_.eos);
  return out;
}

Status MarianTokenizer::encode_run(std::string_view text, uint64_t begin, TextSide side, Encoding& out) const {
  const Vocabulary& words = vocabulary(side);
  const int32_t unknown = words.id(p_.unknown);
  const auto push = [&](std::string_view piece, uint64_t from, uint64_t to) {
    const int32_t id = words.id(piece);
    out.push(id < 0 ? unknown : id, {begin + from, begin + to});
  };
  // A language code at the start is one token, whatever is between its brackets.
  if (text.starts_with(">>")) {
    if (const size_t end = text.find("<<"); end != std::string_view::npos) {
      push(text.substr(0, end + 2), 0, end + 2);
      text.remove_prefix(end + 2);
      begin += end + 2;
    }
  }
  const SentencePieceModel& model = side == TextSide::source ? p_.source_model : p_.target_model;
  if (p_.punctuation != PunctuationRules::none && side == TextSide::source) {
    const UniformText uniform = uniform_text(text, p_.punctuation, p_.languages.source);
    LAPILLI_TRY(const auto pieces, model.encode(uniform.text));
    for (const SentencePiece& piece : pieces) push(piece.text, uniform.place(piece).begin, uniform.place(piece).end);
    return {};
  }
  LAPILLI_TRY(const auto pieces, model.encode(text));
  for (const SentencePiece& piece : pieces) push(piece.text, piece.begin, piece.end);
  return {};
}

Result<std::string> MarianTokenizer::decode_valid(std::span<const int32_t> ids, const DecodeOptions& options) const {
  const SentencePieceModel& model = p_.target_vocabulary ? p_.target_model : p_.source_model;
  std::string out;
  std::vector<std::string> run;  // pieces between special tokens
  const auto flush = [&]() -> Status {
    LAPILLI_TRY(const std::string text, model.decode(run));
    out += text;
    run.clear();
    return {};
  };
  for (const int32_t id : ids) {
    const std::string& token = token_text(id);
    const AddedToken* added = p_.added.by_text(token);
    if (added == nullptr || !added->special) {
      run.push_back(token);
    } else if (!options.skip_special) {
      LAPILLI_CHECK(flush());
      out += token + " ";
    }
  }
  LAPILLI_CHECK(flush());
  // Pieces unknown to the model keep their word marks.
  return std::string(strip(word_marks_to_spaces(out)));
}

// ---- loading ----

Result<int32_t> required_id(const Vocabulary& words, const std::string& token, const std::string& path) {
  const int32_t id = words.id(token);
  if (id < 0) return fail(ErrorCode::invalid_data, "%s: the special token %s is missing", path, quote_text(token));
  return id;
}

Result<PunctuationRules> read_punctuation(const TokenizerConfig& config) {
  LAPILLI_TRY(const std::string name, config.text("punctuation", ""));
  if (name.empty()) return PunctuationRules::none;
  LAPILLI_CHECK(require_unicode("the punctuation of opus-mt's models"));
  if (name == "moses") return PunctuationRules::moses;
  if (name == "table") return PunctuationRules::table;
  return fail(ErrorCode::unsupported, "tokenizer_config.json: punctuation %s is not known", quote_text(name));
}

Result<MarianParts> load_parts(const Files& files) {
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  LAPILLI_TRY(const std::string eos, config.special_token("eos_token", "</s>"));
  LAPILLI_TRY(const std::string unk, config.special_token("unk_token", "<unk>"));
  LAPILLI_TRY(const std::string pad, config.special_token("pad_token", "<pad>"));
  LAPILLI_TRY(const bool separate, config.flag("separate_vocabs", false));
  LAPILLI_TRY(auto extra, config.added_tokens());
  LAPILLI_TRY(const PunctuationRules punctuation, read_punctuation(config));
  LanguagePair languages;
  LAPILLI_TRY(languages.source, config.text("source_lang", ""));
  LAPILLI_TRY(languages.target, config.text("target_lang", ""));

  LAPILLI_TRY(auto source_model, SentencePieceModel::load(files / "source.spm"));
  LAPILLI_TRY(auto target_model, SentencePieceModel::load(files / "target.spm"));
  const FileName source_path = files / "vocab.json";
  LAPILLI_TRY(auto source_words, Vocabulary::load(source_path));
  std::optional<Vocabulary> target_words;
  if (separate) {
    const FileName target_path = files / "target_vocab.json";
    LAPILLI_TRY(auto words, Vocabulary::load(target_path));
    LAPILLI_CHECK(required_id(words, unk, target_path.path()));
    target_words = std::move(words);
  }

  SpecialIds special;
  LAPILLI_TRY(special.eos, required_id(source_words, eos, source_path.path()));
  LAPILLI_TRY(special.unk, required_id(source_words, unk, source_path.path()));
  LAPILLI_TRY(special.pad, required_id(source_words, pad, source_path.path()));
  for (AddedToken& token : extra) {
    if (static_cast<uint64_t>(token.id) >= source_words.size() + 65536)
      return fail(ErrorCode::invalid_data,
                  "%s/tokenizer_config.json: added token %s has id %d, far outside the vocabulary of %u", files,
                  quote_text(token.text), token.id, static_cast<size_t>(source_words.size()));
    token.special = token.special || token.text == eos || token.text == unk || token.text == pad;
  }
  // After the listed ones, which may say more about the same tokens.
  extra.push_back({eos, special.eos});
  extra.push_back({unk, special.unk});
  extra.push_back({pad, special.pad});
  return MarianParts{std::move(source_model),
                     std::move(target_model),
                     std::move(source_words),
                     std::move(target_words),
                     AddedTokens(std::move(extra)),
                     unk,
                     special,
                     std::move(languages),
                     punctuation};
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_marian_tokenizer(const Files& files) {
  LAPILLI_TRY(auto parts, load_parts(files));
  return std::unique_ptr<Tokenizer>(std::make_unique<MarianTokenizer>(std::move(parts)));
}

}  // namespace lapilli
