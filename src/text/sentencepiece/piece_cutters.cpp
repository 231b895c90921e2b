#include "text/sentencepiece/piece_cutters.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "text/pipeline/best_path.hpp"
#include "text/pipeline/pair_merging.hpp"
#include "text/pipeline/vocabulary_trie.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using PieceType = SentencePieceFile::Type;
using CutterPtr = std::unique_ptr<const PieceCutter>;

// A user-defined symbol or one character.
struct Unit {
  uint32_t length = 0;
  bool symbol = false;
};
Unit next_unit(const ByteTrie& symbols, std::string_view text) {
  if (const ByteTrie::Match match = symbols.longest(text); match.value >= 0)
    return {static_cast<uint32_t>(match.length), true};
  size_t end = 0;
  next_character(text, end);
  return {static_cast<uint32_t>(end), false};
}

class CharacterCutter final : public PieceCutter {
 public:
  CharacterCutter(const PieceTable& table, const ByteTrie& symbols) : table_(table), symbols_(symbols) {}
  Status cut(std::string_view text, std::vector<ModelToken>& pieces) const override {
    for (uint32_t at = 0; at < text.size();) {
      const uint32_t length = next_unit(symbols_, text.substr(at)).length;
      pieces.push_back({table_.subword(text.substr(at, length)), at, at + length});
      at += length;
    }
    return {};
  }

 private:
  const PieceTable& table_;
  const ByteTrie& symbols_;
};

// Each space mark begins a word.
class WordCutter final : public PieceCutter {
 public:
  explicit WordCutter(const PieceTable& table) : table_(table) {}
  Status cut(std::string_view text, std::vector<ModelToken>& pieces) const override {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(kWordMark, at + 1), text.size());
      pieces.push_back(
          {table_.subword(text.substr(at, end - at)), static_cast<uint32_t>(at), static_cast<uint32_t>(end)});
      at = end;
    }
    return {};
  }

 private:
  const PieceTable& table_;
};

class UnigramCutter final : public PieceCutter {
 public:
  static Result<CutterPtr> make(const PieceTable& table);
  explicit UnigramCutter(BestPath path) : path_(std::move(path)) {}
  Status cut(std::string_view text, std::vector<ModelToken>& pieces) const override { return path_.find(text, pieces); }

 private:
  BestPath path_;
};

// Floats, as in the library: they decide between segmentations of nearly equal score.
Result<CutterPtr> UnigramCutter::make(const PieceTable& table) {
  constexpr float kUnknownPenalty = 10;
  float least = std::numeric_limits<float>::max();
  std::vector<std::pair<std::string_view, int32_t>> entries;
  std::vector<double> scores;
  scores.reserve(table.all().size());
  for (const PieceTable::Piece& piece : table.all()) {
    const bool symbol = piece.type == PieceType::user_defined;
    const bool normal = piece.type == PieceType::normal;
    if (normal) least = std::min(least, piece.score);
    if (symbol || normal) entries.emplace_back(piece.text, static_cast<int32_t>(scores.size()));
    // A symbol defined by the model's author wins over all ways to split it.
    const auto length = static_cast<int>(piece.text.size());
    scores.push_back(symbol ? static_cast<float>(0.1 * (length - 1)) : piece.score);
  }
  LAPILLI_TRY(ByteTrie trie, make_limited_trie(std::move(entries), "its pieces"));
  const BestPathOptions options{table.unknown(), least - kUnknownPenalty, true};
  return CutterPtr(std::make_unique<UnigramCutter>(BestPath(std::move(trie), std::move(scores), options)));
}

// Byte pair encoding without a list of merges: two symbols may be merged if the result is a piece, in order of its
// score.
class MergingCutter final : public PieceCutter {
 public:
  MergingCutter(const PieceTable& table, const ByteTrie& symbols) : table_(table), symbols_(symbols) { rank_pieces(); }
  Status cut(std::string_view text, std::vector<ModelToken>& pieces) const override;

 private:
  static constexpr int32_t kFrozen = -1;  // a user-defined symbol, never merged
  static constexpr int32_t kFree = 0;
  // Bytes in the left half of unused pieces, to split them again.
  using Halves = std::unordered_map<int32_t, uint32_t>;

  void rank_pieces();
  [[nodiscard]] std::vector<LinkedSymbol> units(std::string_view text) const;
  [[nodiscard]] std::optional<MergeRule> rule(std::string_view text, const LinkedSymbol& left,
                                              const LinkedSymbol& right, Halves& halves) const;
  void push(std::string_view text, uint32_t begin, uint32_t end, const Halves& halves,
            std::vector<ModelToken>& pieces) const;

  const PieceTable& table_;
  const ByteTrie& symbols_;
  std::vector<uint32_t> ranks_;  // per piece: number of larger scores
};

void MergingCutter::rank_pieces() {
  std::vector<float> scores;
  for (const PieceTable::Piece& piece : table_.all()) scores.push_back(piece.score);
  std::sort(scores.begin(), scores.end(), std::greater<>());
  for (const PieceTable::Piece& piece : table_.all()) {
    const auto first = std::lower_bound(scores.begin(), scores.end(), piece.score, std::greater<>());
    ranks_.push_back(static_cast<uint32_t>(first - scores.begin()));
  }
}

std::vector<LinkedSymbol> MergingCutter::units(std::string_view text) const {
  std::vector<LinkedSymbol> symbols;
  symbols.reserve(text.size());
  for (uint32_t at = 0; at < text.size();) {
    const Unit unit = next_unit(symbols_, text.substr(at));
    symbols.push_back({unit.symbol ? kFrozen : kFree, at, at + unit.length});
    at += unit.length;
  }
  link_symbols(symbols);
  return symbols;
}

std::optional<MergeRule> MergingCutter::rule(std::string_view text, const LinkedSymbol& left, const LinkedSymbol& right,
                                             Halves& halves) const {
  if (left.id == kFrozen || right.id == kFrozen) return std::nullopt;
  const int32_t id = table_.find(text.substr(left.begin, right.end - left.begin));
  if (id < 0) return std::nullopt;
  if (table_[id].type == PieceType::unused) halves[id] = left.end - left.begin;
  return MergeRule{ranks_[static_cast<size_t>(id)], kFree};
}

// Unused pieces are only intermediate: splits them again.
void MergingCutter::push(std::string_view text, uint32_t begin, uint32_t end, const Halves& halves,
                         std::vector<ModelToken>& pieces) const {
  const std::string_view part = text.substr(begin, end - begin);
  const auto it = halves.find(table_.find(part));
  if (it == halves.end()) {
    pieces.push_back({table_.subword(part), begin, end});
    return;
  }
  push(text, begin, begin + it->second, halves, pieces);
  push(text, begin + it->second, end, halves, pieces);
}

Status MergingCutter::cut(std::string_view text, std::vector<ModelToken>& pieces) const {
  std::vector<LinkedSymbol> symbols = units(text);
  Halves halves;
  merge_pairs(symbols, [&](const LinkedSymbol& a, const LinkedSymbol& b) { return rule(text, a, b, halves); });
  for (uint32_t i = symbols.empty() ? kNoSymbol : 0; i != kNoSymbol; i = symbols[i].after)
    push(text, symbols[i].begin, symbols[i].end, halves, pieces);
  return {};
}

}  // namespace

Result<ByteTrie> user_defined_symbols(const PieceTable& table) {
  std::vector<std::pair<std::string_view, int32_t>> entries;
  for (size_t i = 0; i < table.all().size(); ++i) {
    const PieceTable::Piece& piece = table.all()[i];
    if (piece.type == PieceType::user_defined) entries.emplace_back(piece.text, static_cast<int32_t>(i));
  }
  return make_limited_trie(std::move(entries), "its symbols");
}

Result<CutterPtr> make_piece_cutter(SentencePieceFile::Algorithm algorithm, const PieceTable& table,
                                    const ByteTrie& symbols) {
  switch (algorithm) {
    case SentencePieceFile::Algorithm::unigram: return UnigramCutter::make(table);
    case SentencePieceFile::Algorithm::bpe: return CutterPtr(std::make_unique<MergingCutter>(table, symbols));
    case SentencePieceFile::Algorithm::word: return CutterPtr(std::make_unique<WordCutter>(table));
    case SentencePieceFile::Algorithm::character: return CutterPtr(std::make_unique<CharacterCutter>(table, symbols));
  }
  return fail(ErrorCode::internal, "an algorithm that no file can name");
}

}  // namespace lapilli
