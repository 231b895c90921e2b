// The most likely segmentation of a text into pieces of a vocabulary, found in one pass over its characters (Viterbi).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "text/pipeline/models.hpp"
#include "text/unicode/byte_trie.hpp"

namespace lapilli {

struct BestPathOptions {
  int32_t unknown = -1;           // id for characters outside the vocabulary; -1: they are an error
  double unknown_score = 0;       // per such character
  bool single_precision = false;  // path scores are floats as in SentencePiece, which decides ties
};

// Immutable; const members may be called from several threads and may throw std::bad_alloc.
class BestPath {
 public:
  // `pieces` maps to ids, `scores` has one per id.
  BestPath(ByteTrie pieces, std::vector<double> scores, const BestPathOptions& options)
      : pieces_(std::move(pieces)), scores_(std::move(scores)), options_(options) {}

  // The pieces of `text` (valid UTF-8) in order. Unknown characters are separate pieces.
  Status find(std::string_view text, std::vector<ModelToken>& path) const;
  [[nodiscard]] const ByteTrie& pieces() const { return pieces_; }

 private:
  // The best path to a position: the piece that ends there.
  struct Step {
    double score = 0;
    uint32_t begin = UINT32_MAX;
    int32_t id = -1;
  };
  struct Paths {
    std::vector<Step> steps;  // one per position
    size_t reached = 0;       // furthest position that has a step
  };
  void offer(Paths& paths, ModelToken piece, double score) const;
  // Offers all pieces that begin at `at`. Returns the end of the character there; 0 if it is unknown and must not be.
  [[nodiscard]] size_t advance(std::string_view text, size_t at, Paths& paths) const;
  void keep_small(Paths& paths, size_t at) const;

  ByteTrie pieces_;
  std::vector<double> scores_;
  BestPathOptions options_;
};

// The error for a character outside the vocabulary if there is no unknown token.
Failure no_unknown_token();

}  // namespace lapilli
