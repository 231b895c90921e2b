// Unigram: the most likely segmentation of a word into pieces.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "text/pipeline/best_path.hpp"
#include "text/pipeline/models.hpp"
#include "text/pipeline/vocabulary_trie.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

constexpr double kUnknownPenalty = 10.0;

class Unigram final : public SubwordModel {
 public:
  Unigram(std::vector<UnigramPiece> pieces, BestPath cut, int32_t unknown)
      : pieces_(std::move(pieces)), cut_(std::move(cut)), unknown_(unknown) {}

  void use_bytes() {
    byte_fallback_ = true;
    for (size_t b = 0; b < bytes_.size(); ++b) bytes_[b] = id(format("<0x%02X>", static_cast<unsigned>(b)));
  }

  Status tokenize(std::string_view word, std::vector<ModelToken>& tokens) const override;
  [[nodiscard]] int32_t id(std::string_view token) const override {
    const ByteTrie::Match match = cut_.pieces().longest(token);
    return match.length == token.size() ? match.value : -1;
  }
  [[nodiscard]] const std::string* token(int32_t id) const override {
    return id < 0 || static_cast<size_t>(id) >= pieces_.size() ? nullptr : &pieces_[static_cast<size_t>(id)].text;
  }
  [[nodiscard]] uint64_t size() const override { return pieces_.size(); }
  [[nodiscard]] ModelKind kind() const override { return ModelKind::unigram; }
  [[nodiscard]] int32_t unknown() const override { return unknown_; }

 private:
  Status push(std::string_view word, ModelToken piece, std::vector<ModelToken>& tokens) const;

  std::vector<UnigramPiece> pieces_;
  BestPath cut_;
  int32_t unknown_;
  bool byte_fallback_ = false;
  std::array<int32_t, 256> bytes_{};
};

Status Unigram::push(std::string_view word, ModelToken piece, std::vector<ModelToken>& tokens) const {
  const std::string_view text = word.substr(piece.begin, piece.end - piece.begin);
  piece.id = id(text);
  if (piece.id < 0 && byte_fallback_ &&
      std::all_of(text.begin(), text.end(), [&](char c) { return bytes_[static_cast<unsigned char>(c)] >= 0; })) {
    // A byte stands for its own character, not for all unknown ones around it.
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
  if (piece.id < 0) return no_unknown_token();
  tokens.push_back(piece);
  return {};
}

Status Unigram::tokenize(std::string_view word, std::vector<ModelToken>& tokens) const {
  std::vector<ModelToken> path;
  LAPILLI_CHECK(cut_.find(word, path));
  for (size_t i = 0; i < path.size();) {
    ModelToken piece = path[i++];
    // Adjacent unknown pieces become one token.
    const bool unknown = unknown_ >= 0 && piece.id == unknown_;
    while (unknown && i < path.size() && path[i].id == unknown_) piece.end = path[i++].end;
    LAPILLI_CHECK(push(word, piece, tokens));
  }
  return {};
}

}  // namespace

Result<ModelPtr> make_unigram(std::vector<UnigramPiece> pieces, int32_t unknown, bool byte_fallback,
                              const std::string& where) {
  if (pieces.empty()) return fail(ErrorCode::invalid_data, "%s: the vocabulary is empty", where);
  if (unknown >= 0 && static_cast<size_t>(unknown) >= pieces.size())
    return fail(ErrorCode::invalid_data, "%s: the unknown token has id %d in a vocabulary of %u", where, unknown,
                pieces.size());
  std::vector<std::pair<std::string_view, int32_t>> entries;
  std::vector<double> scores;
  entries.reserve(pieces.size());
  scores.reserve(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (!std::isfinite(pieces[i].score))
      return fail(ErrorCode::invalid_data, "%s: the score of piece %u is not a number", where, i);
    entries.emplace_back(pieces[i].text, static_cast<int32_t>(i));
    scores.push_back(pieces[i].score);
  }
  const double least = *std::min_element(scores.begin(), scores.end());
  LAPILLI_TRY(ByteTrie trie, make_limited_trie(std::move(entries), where));
  BestPath cut(std::move(trie), std::move(scores), {unknown, least - kUnknownPenalty});
  auto model = std::make_unique<Unigram>(std::move(pieces), std::move(cut), unknown);
  if (byte_fallback) model->use_bytes();
  return ModelPtr(std::move(model));
}

}  // namespace lapilli
