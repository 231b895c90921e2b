#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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

constexpr std::string_view kGoesOn = "@@";

// A character being processed, with the bytes it stems from; inserted ones have an empty range.
struct Character {
  char32_t code = 0;
  ByteRange range;
};
using Word = std::vector<Character>;

// Runs of characters other than white space, each with the line feed after it, if any.
std::vector<Word> words_of(std::string_view text, uint64_t begin) {
  std::vector<Word> words;
  bool open = false;
  for (size_t at = 0; at < text.size();) {
    const size_t from = at;
    const char32_t c = next_character(text, at);
    const Character character{c, {begin + from, begin + at}};
    if (is_white_space(c)) {
      if (open && c == '\n') words.back().push_back(character);
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    words.back().push_back(character);
    open = true;
  }
  return words;
}

// Separates punctuation by spaces, and spells line feeds out.
Word spaced(const Word& word) {
  Word apart;
  const auto space = [](const Character& at) { return Character{' ', {at.range.begin, at.range.begin}}; };
  for (const Character& c : word) {
    const bool quote = c.code == '\'';
    if (quote ||
        (c.code < 0x80 && std::string_view(".,!?()").find(static_cast<char>(c.code)) != std::string_view::npos))
      apart.push_back(space(c));
    apart.push_back(c);
    if (quote) apart.push_back({' ', {c.range.end, c.range.end}});
  }
  Word out;
  for (size_t i = 0; i < apart.size(); ++i) {
    size_t end = i;
    while (end < apart.size() && is_white_space(apart[end].code)) ++end;
    if (end >= i + 2) {  // two or more characters of white space become one space, even with a line feed among them
      out.push_back(space(apart[i]));
      i = end - 1;
    } else if (apart[i].code == '\n') {
      for (const char c : std::string_view(" __newln__")) out.push_back({static_cast<char32_t>(c), apart[i].range});
    } else {
      out.push_back(apart[i]);
    }
  }
  return out;
}

class BlenderbotSmallTokenizer final : public Tokenizer {
 public:
  BlenderbotSmallTokenizer(Vocabulary words, MergeRanks ranks, CollectedTokens tokens)
      : words_(std::move(words)),
        ranks_(std::move(ranks)),
        added_(std::move(tokens.tokens)),
        unknown_(std::move(tokens.unknown)),
        size_(words_.size()) {
    special_ = tokens.ids;
    for (const AddedToken& t : added_.all()) size_ = std::max(size_, static_cast<uint64_t>(t.id) + 1);
  }

  [[nodiscard]] std::string_view token(int32_t id) const override {
    if (const AddedToken* added = added_.by_id(id)) return added->text;
    const std::string* word = words_.token(id);
    return word == nullptr ? unknown_ : *word;
  }
  [[nodiscard]] uint64_t vocabulary_size(TextSide) const override { return size_; }

 private:
  [[nodiscard]] Result<Encoding> encode_plain(std::string_view text, const EncodeOptions&) const override;
  [[nodiscard]] Result<Encoding> surround(const Encoding& first, const Encoding* second,
                                          const EncodeOptions&) const override {
    Encoding out = first;
    if (second != nullptr) out.append(*second);
    return out;
  }
  [[nodiscard]] Result<std::string> decode_valid(std::span<const int32_t> ids,
                                                 const DecodeOptions& options) const override;
  // `part` is not empty and contains neither spaces nor line feeds.
  void encode_part(const Word& part, Encoding& out) const;

  Vocabulary words_;
  MergeRanks ranks_;
  AddedTokens added_;
  std::string unknown_;
  uint64_t size_;
};

void BlenderbotSmallTokenizer::encode_part(const Word& part, Encoding& out) const {
  std::vector<char32_t> codes;
  codes.reserve(part.size());
  for (const Character& c : part) codes.push_back(c.code);
  std::vector<MergeSymbol> symbols;
  for (const CasedCharacter& c : lower_case(codes)) {
    MergeSymbol symbol{{}, part[c.from].range};
    append_utf8(symbol.text, c.character);
    symbols.push_back(std::move(symbol));
  }
  const auto push = [&](const std::string& text, ByteRange range) {
    const int32_t id = words_.id(text);
    out.push(id < 0 ? special_.unk : id, range);
  };
  if (symbols.size() == 1) return push(symbols[0].text, symbols[0].range);
  symbols.back().text += kWordEnd;
  symbols = merge_symbols(ranks_, std::move(symbols));
  for (size_t i = 0; i < symbols.size(); ++i) {
    std::string& piece = symbols[i].text;
    if (i + 1 < symbols.size())
      piece += kGoesOn;
    else
      piece.resize(piece.size() - kWordEnd.size());
    push(piece, symbols[i].range);
  }
}

Result<Encoding> BlenderbotSmallTokenizer::encode_plain(std::string_view text, const EncodeOptions&) const {
  Encoding out;
  for (const AddedTokens::Part& part : added_.split(text)) {
    const auto begin = static_cast<uint64_t>(part.text.data() - text.data());
    if (part.token != nullptr) {
      out.push(part.token->id, {begin, begin + part.text.size()});
      continue;
    }
    for (const Word& word : words_of(part.text, begin)) {
      Word piece;
      for (const Character& c : spaced(word)) {
        if (c.code != ' ') {
          piece.push_back(c);
        } else if (!piece.empty()) {
          encode_part(piece, out);
          piece.clear();
        }
      }
      if (!piece.empty()) encode_part(piece, out);
    }
  }
  return out;
}

Result<std::string> BlenderbotSmallTokenizer::decode_valid(std::span<const int32_t> ids,
                                                           const DecodeOptions& options) const {
  std::string joined;
  bool first = true;
  for (const int32_t id : ids) {
    const std::string_view text = token(id);
    const AddedToken* added = added_.by_text(text);
    if (options.skip_special && added != nullptr && added->special) continue;
    if (!first) joined += ' ';
    first = false;
    joined += text;
  }
  std::string out;
  for (size_t at = 0; at < joined.size();) {
    if (joined.compare(at, 3, "@@ ") == 0)
      at += 3;
    else
      out += joined[at++];
  }
  return std::string(strip(out));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_blenderbot_small_tokenizer(const Files& files) {
  LAPILLI_CHECK(require_case_mapping("Blenderbot-small's tokenizer"));
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  const FileName path = files / "vocab.json";
  LAPILLI_TRY(auto words, Vocabulary::load(path));
  LAPILLI_TRY(auto ranks, load_merge_ranks(files / "merges.txt", true));
  SpecialTokenSources sources;
  sources.named = {{"bos_token", "__start__"}, {"eos_token", "__end__"},  {"unk_token", "__unk__"},
                   {"sep_token", nullptr},     {"pad_token", "__null__"}, {"cls_token", nullptr},
                   {"mask_token", nullptr}};
  sources.id_of = [&](const std::string& text) { return words.id(text); };
  sources.vocabulary_size = words.size();
  LAPILLI_TRY(auto tokens, collect_special_tokens(config, std::move(sources)));
  return std::unique_ptr<Tokenizer>(
      std::make_unique<BlenderbotSmallTokenizer>(std::move(words), std::move(ranks), std::move(tokens)));
}

}  // namespace lapilli
