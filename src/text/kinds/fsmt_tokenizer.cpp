#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.hpp"
#include "text/kinds/languages.hpp"
#include "text/kinds/moses.hpp"
#include "text/kinds/own_tokenizers.hpp"
#include "text/kinds/word_merger.hpp"
#include "text/special_tokens.hpp"
#include "text/tokenizer_config.hpp"
#include "text/unicode/case_mapping.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"
#include "text/vocabulary.hpp"

namespace lapilli {
namespace {

struct FsmtParts {
  Vocabulary source_words, target_words;
  MergeRanks ranks;
  AddedTokens added;  // ids in the source vocabulary
  std::string unknown;
  LanguagePair languages;
  bool lower_case = false;
};

class FsmtTokenizer final : public Tokenizer {
 public:
  FsmtTokenizer(FsmtParts parts, const SpecialIds& special) : p_(std::move(parts)) { special_ = special; }

  [[nodiscard]] std::string_view token(int32_t id) const override {
    const std::string* word = p_.target_words.token(id);
    return word == nullptr ? p_.unknown : *word;
  }
  [[nodiscard]] uint64_t vocabulary_size(TextSide side) const override { return words(side).size(); }
  [[nodiscard]] LanguagePair language_pair() const override { return p_.languages; }

 private:
  [[nodiscard]] const Vocabulary& words(TextSide side) const {
    return side == TextSide::target ? p_.target_words : p_.source_words;
  }
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view text, const EncodeOptions& options) const override;
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions& options) const override {
    Encoding out = first;
    if (options.add_special) out.push_special(special_.eos);
    if (second == nullptr) return out;
    out.append(*second);
    if (options.add_special) out.push_special(special_.eos);
    return out;
  }
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                 const DecodeOptions& options) const override;
  void encode_word(const MosesText& word, const Vocabulary& words, Encoding& out) const;

  FsmtParts p_;
};

void FsmtTokenizer::encode_word(const MosesText& word, const Vocabulary& words, Encoding& out) const {
  std::vector<MergeSymbol> symbols;
  symbols.reserve(word.size());
  for (const MosesCharacter& c : word) {
    MergeSymbol symbol{{}, c.range};
    append_utf8(symbol.text, c.code);
    symbols.push_back(std::move(symbol));
  }
  symbols.back().text += kWordEnd;
  for (const MergeSymbol& symbol : merge_symbols(p_.ranks, std::move(symbols))) {
    int32_t id = words.id(symbol.text);
    if (id < 0) id = words.id(p_.unknown);
    out.push(id, symbol.range);
  }
}

Result<Encoding> FsmtTokenizer::encode_plain(std::string_view text, const EncodeOptions& options) const {
  const Vocabulary& vocabulary = words(options.side);
  const std::string& language = options.side == TextSide::target ? p_.languages.target : p_.languages.source;
  Encoding out;
  for (const AddedTokens::Part& part : p_.added.split(text)) {
    const auto begin = static_cast<uint64_t>(part.text.data() - text.data());
    if (part.token != nullptr) {
      const int32_t id = vocabulary.id(part.token->text);
      out.push(id < 0 ? part.token->id : id, {begin, begin + part.text.size()});
      continue;
    }
    MosesText characters = moses_text(part.text, begin);
    if (p_.lower_case) {
      std::vector<char32_t> codes;
      for (const MosesCharacter& c : characters) codes.push_back(c.code);
      MosesText small;
      for (const CasedCharacter& c : lower_case(codes)) small.push_back({c.character, characters[c.from].range});
      characters = std::move(small);
    }
    for (const MosesText& word : moses_tokenize(std::move(characters), language)) encode_word(word, vocabulary, out);
  }
  return out;
}

Result<std::string> FsmtTokenizer::decode_valid(std::span<const int32_t> ids, const DecodeOptions& options) const {
  std::string joined;
  for (const int32_t id : ids) {
    const std::string_view text = token(id);
    const AddedToken* added = p_.added.by_text(text);
    if (options.skip_special && added != nullptr && added->special) continue;
    std::string_view rest = text;
    for (size_t at; (at = rest.find(kWordEnd)) != std::string_view::npos; rest.remove_prefix(at + kWordEnd.size())) {
      joined.append(rest.substr(0, at));
      joined += ' ';
    }
    joined.append(rest);
  }
  std::vector<std::string> words;
  for (size_t at = 0; at < joined.size();) {
    const size_t end = std::min(joined.find(' ', at), joined.size());
    if (end > at) words.push_back(joined.substr(at, end - at));
    at = end + 1;
  }
  return moses_detokenize(words, p_.languages.target);
}

// "langs" of tokenizer_config.json, or of config.json: two codes.
Result<LanguagePair> read_languages(const Files& files) {
  for (const char* name : {"tokenizer_config.json", "config.json"}) {
    const FileName path = files / name;
    if (!path.there()) continue;
    LAPILLI_TRY(const std::string text, read_text_file(path));
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("langs")) continue;
    const auto& langs = json["langs"];
    if (!langs.is_array() || langs.size() != 2 || !langs[0].is_string() || !langs[1].is_string())
      return fail(ErrorCode::invalid_data, "%s: langs is not a list of two languages", path);
    return LanguagePair{langs[0].get<std::string>(), langs[1].get<std::string>()};
  }
  return fail(ErrorCode::invalid_data, "%s: neither tokenizer_config.json nor config.json names \"langs\"", files);
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_fsmt_tokenizer(const Files& files) {
  LAPILLI_CHECK(require_unicode("FSMT's tokenizer"));
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  LAPILLI_TRY(auto source, Vocabulary::load(files / "vocab-src.json"));
  const FileName target_path = files / "vocab-tgt.json";
  LAPILLI_TRY(auto target, Vocabulary::load(target_path));
  LAPILLI_TRY(auto ranks, load_merge_ranks(files / "merges.txt", false));
  LAPILLI_TRY(auto languages, read_languages(files));
  LAPILLI_TRY(const bool lower, config.flag("do_lower_case", false));

  SpecialTokenSources sources;
  sources.named = {{"unk_token", "<unk>"}, {"bos_token", "<s>"},   {"eos_token", nullptr}, {"sep_token", "</s>"},
                   {"pad_token", "<pad>"}, {"cls_token", nullptr}, {"mask_token", nullptr}};
  sources.id_of = [&](const std::string& text) { return source.id(text); };
  sources.vocabulary_size = source.size();
  LAPILLI_TRY(auto tokens, collect_special_tokens(config, std::move(sources)));
  if (target.id(tokens.unknown) < 0)
    return fail(ErrorCode::invalid_data, "%s: the special token %s is missing", target_path,
                quote_text(tokens.unknown));
  SpecialIds special = tokens.ids;
  special.eos = special.sep;  // these files call the end token a separator
  FsmtParts parts{std::move(source),
                  std::move(target),
                  std::move(ranks),
                  AddedTokens(std::move(tokens.tokens)),
                  tokens.unknown,
                  std::move(languages),
                  lower};
  return std::unique_ptr<Tokenizer>(std::make_unique<FsmtTokenizer>(std::move(parts), special));
}

}  // namespace lapilli
