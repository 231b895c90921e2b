// The windows of a text whose ids are scored: what is longer than a model reads runs in several, and each id has its
// score from one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

struct ScoreWindowOptions {
  uint32_t most_ids = 0;  // in a window, a begin token included; at least 2
  uint32_t stride = 0;    // ids that a window moves on by; 0: half of a window
};

// Ids [begin, end) of a text, behind its begin token if there is one; those from `scored` on get their scores here.
struct ScoreWindow {
  size_t begin = 0, end = 0, scored = 0;
};

// Each id has the ids before it in its window as context, at least one; so without a begin token the first id of a text
// has no score, and a stride of a whole window moves on by an id less. `marked`: the first id is a begin token, which
// stands in front of every window and has no score. Fewer than two ids have no window.
std::vector<ScoreWindow> score_windows(size_t ids, bool marked, const ScoreWindowOptions& options);

// Fails for a window of fewer ids than two.
Status check_score_windows(const ScoreWindowOptions& options);

}  // namespace lapilli
