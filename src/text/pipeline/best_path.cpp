#include "text/pipeline/best_path.hpp"

#include <algorithm>
#include <cmath>

#include "text/unicode/unicode.hpp"

namespace lapilli {

Failure no_unknown_token() {
  return fail(ErrorCode::invalid_argument,
              "the text has a character that is not in the vocabulary, which has no unknown token");
}

void BestPath::offer(Paths& paths, ModelToken piece, double score) const {
  Step& step = paths.steps[piece.end];
  double total = score + paths.steps[piece.begin].score;
  if (options_.single_precision) total = static_cast<float>(total);
  if (step.begin != UINT32_MAX && total <= step.score) return;
  step = {total, piece.begin, piece.id};
  paths.reached = std::max<size_t>(paths.reached, piece.end);
}

// Floats of large sums would no longer distinguish pieces: restarts the sums now and then, at the positions where
// SentencePiece does.
void BestPath::keep_small(Paths& paths, size_t at) const {
  constexpr double kLargest = 100000;
  const double sum = paths.steps[at].score;
  if (!options_.single_precision || std::abs(sum) <= kLargest) return;
  paths.steps[at].score = 0;
  for (size_t i = at + 1; i <= paths.reached; ++i) {
    Step& step = paths.steps[i];
    if (step.begin != UINT32_MAX) step.score = static_cast<float>(step.score - sum);
  }
}

size_t BestPath::advance(std::string_view text, size_t at, Paths& paths) const {
  const auto begin = static_cast<uint32_t>(at);
  size_t next = at;
  next_character(text, next);
  bool single = false;  // the character alone is a piece
  uint32_t node = ByteTrie::kRoot;
  for (size_t end = at; end < text.size();) {
    node = pieces_.step(node, static_cast<unsigned char>(text[end++]));
    if (node == ByteTrie::kNone) break;
    const int32_t piece = pieces_.value(node);
    if (piece < 0) continue;
    offer(paths, {piece, begin, static_cast<uint32_t>(end)}, scores_[static_cast<size_t>(piece)]);
    single = single || end == next;
  }
  if (single) return next;
  if (options_.unknown < 0) return 0;
  offer(paths, {options_.unknown, begin, static_cast<uint32_t>(next)}, options_.unknown_score);
  return next;
}

Status BestPath::find(std::string_view text, std::vector<ModelToken>& path) const {
  Paths paths;
  paths.steps.resize(text.size() + 1);
  for (size_t at = 0; at < text.size();) {
    keep_small(paths, at);
    at = advance(text, at, paths);
    if (at == 0) return no_unknown_token();
  }
  const size_t first = path.size();
  for (auto end = static_cast<uint32_t>(text.size()); end > 0; end = paths.steps[end].begin) {
    const Step& step = paths.steps[end];
    // Positions inside a character have no step: a vocabulary with broken pieces could lead there.
    if (step.begin == UINT32_MAX)
      return fail(ErrorCode::invalid_data, "the vocabulary has pieces that are no valid UTF-8");
    path.push_back({step.id, step.begin, end});
  }
  std::reverse(path.begin() + static_cast<std::ptrdiff_t>(first), path.end());
  return {};
}

}  // namespace lapilli
