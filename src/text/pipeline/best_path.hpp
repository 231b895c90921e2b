// The most likely way to cut a text into pieces of a vocabulary, found by one pass over its characters (Viterbi).
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
  int32_t unknown = -1;           // id of what characters outside the vocabulary become; -1: they are an error
  double unknown_score = 0;       // of one such character
  bool single_precision = false;  // scores of paths are floats, as SentencePiece has them: that decides ties
};

// Immutable; const members may be called from several threads and may throw std::bad_alloc.
class BestPath {
 public:
  // `pieces` finds ids, `scores` has one for each.
  BestPath(ByteTrie pieces, std::vector<double> scores, const BestPathOptions& options)
      : pieces_(std::move(pieces)), scores_(std::move(scores)), options_(options) {}

  // The pieces of `text` (valid UTF-8) in order. Each unknown character comes alone.
  Status find(std::string_view text, std::vector<ModelToken>& path) const;
  [[nodiscard]] const ByteTrie& pieces() const { return pieces_; }

 private:
  // The best way to the end of a place in the text: the piece that ends there.
  struct Step {
    double score = 0;
    uint32_t begin = UINT32_MAX;
    int32_t id = -1;
  };
  struct Paths {
    std::vector<Step> steps;  // for each place
    size_t reached = 0;       // the furthest place that has one
  };
  void offer(Paths& paths, ModelToken piece, double score) const;
  // Offers what begins at `at`. Gives the end of the character there, 0 if it is unknown and may not be.
  [[nodiscard]] size_t advance(std::string_view text, size_t at, Paths& paths) const;
  void keep_small(Paths& paths, size_t at) const;

  ByteTrie pieces_;
  std::vector<double> scores_;
  BestPathOptions options_;
};

// A character that the vocabulary lacks, without a token for such ones.
Failure no_unknown_token();

}  // namespace lapilli
