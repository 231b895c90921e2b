// Unigram: the most likely way to cut a word into pieces, found by one pass over its characters (Viterbi).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "text/pipeline/models.hpp"
#include "text/pipeline/vocabulary_trie.hpp"
#include "text/unicode.hpp"

namespace lapilli {
namespace {

constexpr double kUnknownPenalty = 10.0;
constexpr uint32_t kNone = UINT32_MAX;

class Unigram final : public SubwordModel {
 public:
  Unigram(std::vector<UnigramPiece> pieces, ByteTrie trie, int32_t unknown)
      : pieces_(std::move(pieces)), trie_(std::move(trie)), unknown_(unknown) {
    double least = std::numeric_limits<double>::infinity();
    for (const UnigramPiece& piece : pieces_) least = std::min(least, piece.score);
    unknown_score_ = least - kUnknownPenalty;
  }

  void use_bytes() {
    byte_fallback_ = true;
    for (size_t b = 0; b < bytes_.size(); ++b) bytes_[b] = id(format("<0x%02X>", static_cast<unsigned>(b)));
  }

  Status tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override;
  [[nodiscard]] int32_t id(std::string_view token) const override {
    const ByteTrie::Match match = trie_.longest(token);
    return match.length == token.size() ? match.value : -1;
  }
  [[nodiscard]] const std::string* token(int32_t id) const override {
    return id < 0 || static_cast<size_t>(id) >= pieces_.size() ? nullptr : &pieces_[static_cast<size_t>(id)].text;
  }
  [[nodiscard]] uint64_t size() const override { return pieces_.size(); }
  [[nodiscard]] ModelKind kind() const override { return ModelKind::unigram; }
  [[nodiscard]] int32_t unknown() const override { return unknown_; }

 private:
  // The best way to the end of a place in the word: the piece that ends there.
  struct Step {
    double score = 0;
    uint32_t begin = kNone;
    int32_t id = -1;
  };
  Status find_path(std::string_view word, std::vector<Step>& steps) const;
  Status push(std::string_view word, ModelToken piece, std::vector<ModelToken>& tokens) const;

  std::vector<UnigramPiece> pieces_;
  ByteTrie trie_;
  int32_t unknown_;
  double unknown_score_ = 0;
  bool byte_fallback_ = false;
  std::array<int32_t, 256> bytes_{};
};

Error no_unknown() {
  return fail(ErrorCode::invalid_argument,
              "the text has a character that is not in the vocabulary, which has no unknown token");
}

Status Unigram::find_path(std::string_view word, std::vector<Step>& steps) const {
  steps.assign(word.size() + 1, {});
  const auto offer = [&](size_t begin, size_t end, int32_t id, double score) {
    Step& step = steps[end];
    const double total = score + steps[begin].score;
    if (step.begin == kNone || total > step.score) step = {total, static_cast<uint32_t>(begin), id};
  };
  for (size_t at = 0; at < word.size();) {
    size_t next = at;
    next_character(word, next);
    bool single = false;  // the character alone is a piece
    uint32_t node = ByteTrie::kRoot;
    for (size_t end = at; end < word.size();) {
      node = trie_.step(node, static_cast<unsigned char>(word[end++]));
      if (node == ByteTrie::kNone) break;
      const int32_t piece = trie_.value(node);
      if (piece < 0) continue;
      offer(at, end, piece, pieces_[static_cast<size_t>(piece)].score);
      single = single || end == next;
    }
    if (!single) {
      if (unknown_ < 0) return no_unknown();
      offer(at, next, unknown_, unknown_score_);
    }
    at = next;
  }
  return {};
}

Status Unigram::push(std::string_view word, ModelToken piece, std::vector<ModelToken>& tokens) const {
  const std::string_view text = word.substr(piece.begin, piece.end - piece.begin);
  piece.id = id(text);
  if (piece.id < 0 && byte_fallback_ &&
      std::all_of(text.begin(), text.end(), [&](char c) { return bytes_[static_cast<unsigned char>(c)] >= 0; })) {
    // A byte stands for its character, not for all unknown ones around it.
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      next_character(text, at);
      const ModelToken place{0, piece.begin + static_cast<uint32_t>(begin), piece.begin + static_cast<uint32_t>(at)};
      for (size_t i = begin; i < at; ++i)
        tokens.push_back({bytes_[static_cast<unsigned char>(text[i])], place.begin, place.end});
    }
    return {};
  }
  if (piece.id < 0) piece.id = unknown_;
  if (piece.id < 0) return no_unknown();
  tokens.push_back(piece);
  return {};
}

Status Unigram::tokenize(std::string_view word, std::vector<ModelToken>& tokens) const {
  std::vector<Step> steps;
  LAPILLI_CHECK(find_path(word, steps));
  std::vector<ModelToken> path;  // from the end
  bool fusing = false;           // unknown neighbours become one token
  for (auto end = static_cast<uint32_t>(word.size()); end > 0; end = steps[end].begin) {
    const Step& step = steps[end];
    // Bytes between characters have no step: a vocabulary with broken pieces could lead there.
    if (step.begin == kNone) return fail(ErrorCode::invalid_data, "the vocabulary has pieces that are no valid UTF-8");
    const bool unknown = unknown_ >= 0 && step.id == unknown_;
    if (unknown && fusing) {
      path.back().begin = step.begin;
    } else {
      path.push_back({step.id, step.begin, end});
    }
    fusing = unknown;
  }
  for (size_t i = path.size(); i-- > 0;) LAPILLI_CHECK(push(word, path[i], tokens));
  return {};
}

}  // namespace

Result<ModelPtr> make_unigram(std::vector<UnigramPiece> pieces, int32_t unknown, bool byte_fallback,
                              const std::string& where) {
  if (pieces.empty()) return fail(ErrorCode::invalid_data, "%s: the vocabulary is empty", where.c_str());
  if (unknown >= 0 && static_cast<size_t>(unknown) >= pieces.size())
    return fail(ErrorCode::invalid_data, "%s: the unknown token has id %d in a vocabulary of %zu", where.c_str(),
                unknown, pieces.size());
  std::vector<std::pair<std::string_view, int32_t>> entries;
  entries.reserve(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!std::isfinite(pieces[i].score))
      return fail(ErrorCode::invalid_data, "%s: the score of piece %zu is not a number", where.c_str(), i);
    entries.emplace_back(pieces[i].text, static_cast<int32_t>(i));
  }
  LAPILLI_TRY(ByteTrie trie, make_limited_trie(std::move(entries), where));
  auto model = std::make_unique<Unigram>(std::move(pieces), std::move(trie), unknown);
  if (byte_fallback) model->use_bytes();
  return ModelPtr(std::move(model));
}

}  // namespace lapilli
