#include "generate/scores/score_windows.hpp"

#include <algorithm>

namespace lapilli {

Status check_score_windows(const ScoreWindowOptions& options) {
  if (options.most_ids >= 2) return {};
  return fail(ErrorCode::invalid_argument,
              "a window of %u tokens scores none: each needs a token before it; 2 or more are possible",
              options.most_ids);
}

std::vector<ScoreWindow> score_windows(size_t ids, bool marked, const ScoreWindowOptions& options) {
  std::vector<ScoreWindow> windows;
  if (ids < 2) return windows;
  const size_t room = options.most_ids - (marked ? 1 : 0), most = marked ? room : room - 1;
  const size_t stride = std::clamp<size_t>(options.stride ? options.stride : (room + 1) / 2, 1, most);
  const size_t first = marked ? 1 : 0;
  size_t scored = 1;
  for (size_t begin = first; scored < ids; begin += stride) {
    const size_t end = std::min(begin + room, ids);
    windows.push_back({begin, end, scored});
    scored = end;
  }
  return windows;
}

}  // namespace lapilli
