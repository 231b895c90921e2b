#include "text/kinds/piece_cutting.hpp"

#include <algorithm>
#include <utility>

#include "text/kinds/moses.hpp"
#include "text/kinds/word_merger.hpp"
#include "text/sentencepiece/sentencepiece_model.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

std::vector<MosesText> words_of(std::string_view text, const WordRules& rules) {
  if (rules.moses) {
    MosesText all = moses_text(text, 0);
    if (rules.ascii_marks) all = ascii_marks(std::move(all));
    return moses_tokenize(std::move(all), rules.language, rules.normalized, rules.split_dashes);
  }
  std::vector<MosesText> words;
  bool inside = false;
  for (const MosesCharacter& c : moses_text(text, 0)) {
    if (is_white_space(c.code)) {
      inside = false;
      continue;
    }
    if (!std::exchange(inside, true)) words.emplace_back();
    words.back().push_back(c);
  }
  return words;
}

std::string text_of(const std::vector<std::string>& words, const WordRules& rules) {
  if (rules.moses) return moses_detokenize(words, rules.language);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

class WordCutting final : public PieceCutting {
 public:
  explicit WordCutting(WordRules rules) : rules_(std::move(rules)) {}
  [[nodiscard]] Result<std::vector<CutPiece>> cut(std::string_view text) const override {
    std::vector<CutPiece> pieces;
    for (const MosesText& word : words_of(text, rules_)) {
      CutPiece& piece = pieces.emplace_back();
      piece.range = {word.front().range.begin, word.back().range.end};
      for (const MosesCharacter& c : word) append_utf8(piece.text, c.code);
    }
    return pieces;
  }
  [[nodiscard]] std::string join(const std::vector<std::string>& pieces) const override {
    return text_of(pieces, rules_);
  }

 private:
  const WordRules rules_;
};

constexpr std::string_view kCodeGoesOn = "@@";

// Codes and how the end of a word stands in them.
struct Codes {
  MergeRanks ranks;
  bool end_in_symbol = true;  // from version 0.2 on the end is part of a word's last symbol
};

class CodeCutting final : public PieceCutting {
 public:
  CodeCutting(Codes codes, WordRules rules) : codes_(std::move(codes)), rules_(std::move(rules)) {}
  [[nodiscard]] Result<std::vector<CutPiece>> cut(std::string_view text) const override {
    std::vector<CutPiece> pieces;
    for (const MosesText& word : words_of(text, rules_)) cut_word(word, pieces);
    return pieces;
  }
  [[nodiscard]] std::string join(const std::vector<std::string>& pieces) const override {
    std::vector<std::string> words;
    bool goes_on = false;
    for (const std::string& piece : pieces) {
      if (!goes_on) words.emplace_back();
      goes_on = piece.ends_with(kCodeGoesOn);
      words.back() += goes_on ? piece.substr(0, piece.size() - kCodeGoesOn.size()) : piece;
    }
    return text_of(words, rules_);
  }

 private:
  [[nodiscard]] std::vector<MergeSymbol> symbols_of(const MosesText& word) const {
    std::vector<MergeSymbol> symbols;
    for (const MosesCharacter& c : word) append_utf8(symbols.emplace_back(MergeSymbol{{}, c.range}).text, c.code);
    const uint64_t end = word.back().range.end;
    if (codes_.end_in_symbol)
      symbols.back().text += kWordEnd;
    else
      symbols.push_back({std::string(kWordEnd), {end, end}});
    return symbols;
  }
  // Only the last symbol has the end: a text may hold the end's letters anywhere.
  void cut_word(const MosesText& word, std::vector<CutPiece>& pieces) const {
    std::vector<MergeSymbol> symbols = merge_symbols(codes_.ranks, symbols_of(word));
    MergeSymbol last = std::move(symbols.back());
    symbols.pop_back();
    for (MergeSymbol& symbol : symbols) pieces.push_back({symbol.text.append(kCodeGoesOn), symbol.range});
    last.text.resize(last.text.size() - kWordEnd.size());
    if (!last.text.empty()) return void(pieces.push_back({std::move(last.text), last.range}));
    std::string& before = pieces.back().text;  // the end stands alone, behind symbols of this word
    before.resize(before.size() - kCodeGoesOn.size());
  }

  const Codes codes_;
  const WordRules rules_;
};

// From version 0.2 on the end is part of a symbol. Files without a version are of 0.1, where a merge has the end alone
// on its right, or of fastBPE, which writes counts.
bool end_in_symbol(std::string_view text, bool end_merged, bool counted) {
  if (text.starts_with("#version: ")) return !text.starts_with("#version: 0.1");
  return counted || !end_merged;
}

// A line has both sides of a merge. Of equal merges the first counts.
Result<Codes> read_codes(const FileName& name) {
  LAPILLI_TRY(const std::string text, read_text_file(name));
  LAPILLI_CHECK(check_utf8(text, name.path()));
  Codes codes;
  bool end_merged = false, counted = false;
  uint32_t rank = 0;
  const bool versioned = text.starts_with("#version: ");
  for (size_t at = versioned ? std::min(text.find('\n'), text.size() - 1) + 1 : 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = lapilli::strip(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (line.empty()) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos)
      return fail(ErrorCode::invalid_data, "%s: the line %s is no merge of two parts", name, quote_text(line));
    const std::string_view left = line.substr(0, space), rest = lapilli::strip_left(line.substr(space));
    const std::string_view right = rest.substr(0, rest.find(' '));
    end_merged = end_merged || right == kWordEnd;
    counted = counted || right.size() < rest.size();
    codes.ranks.emplace(std::string(left).append(" ").append(right), rank++);
  }
  codes.end_in_symbol = end_in_symbol(text, end_merged, counted);
  return codes;
}

class SentencePieceCutting final : public PieceCutting {
 public:
  SentencePieceCutting(SentencePieceModel model, bool keep_spaces)
      : model_(std::move(model)), keep_spaces_(keep_spaces) {}
  [[nodiscard]] Result<std::vector<CutPiece>> cut(std::string_view text) const override {
    LAPILLI_TRY(auto found, model_.encode(text));
    std::vector<CutPiece> pieces;
    for (SentencePiece& piece : found) pieces.push_back({std::move(piece.text), {piece.begin, piece.end}});
    return pieces;
  }
  // Training programs join pieces by themselves, those that the model lacks, too.
  [[nodiscard]] std::string join(const std::vector<std::string>& pieces) const override {
    constexpr std::string_view kMark = "\u2581";
    std::string all, text;
    for (const std::string& piece : pieces) all += piece;
    std::string_view rest = all;
    for (size_t at; (at = rest.find(kMark)) != std::string_view::npos; rest.remove_prefix(at + kMark.size()))
      text.append(rest.substr(0, at)) += ' ';
    text.append(rest);
    if (keep_spaces_) {
      std::ranges::replace(text, '_', ' ');
      return text.starts_with(' ') ? text.substr(1) : text;
    }
    return std::string(lapilli::strip(text));
  }

 private:
  const SentencePieceModel model_;
  const bool keep_spaces_;
};

}  // namespace

std::unique_ptr<PieceCutting> make_word_cutting(WordRules rules) {
  return std::make_unique<WordCutting>(std::move(rules));
}

Result<std::unique_ptr<PieceCutting>> load_code_cutting(const FileName& name, WordRules rules) {
  LAPILLI_TRY(auto codes, read_codes(name));
  return std::unique_ptr<PieceCutting>(std::make_unique<CodeCutting>(std::move(codes), std::move(rules)));
}

Result<std::unique_ptr<PieceCutting>> load_sentence_piece_cutting(const FileName& name, bool keep_spaces) {
  LAPILLI_TRY(auto model, SentencePieceModel::load(name));
  return std::unique_ptr<PieceCutting>(std::make_unique<SentencePieceCutting>(std::move(model), keep_spaces));
}

}  // namespace lapilli
