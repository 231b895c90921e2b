#include "generate/repeats.hpp"

#include <algorithm>

namespace lapilli {

namespace {

// Number of ids at the end that each equal the one `period` before.
size_t repeated(std::span<const int32_t> ids, size_t period) {
  size_t n = 0;
  while (n + period < ids.size() && ids[ids.size() - 1 - n] == ids[ids.size() - 1 - n - period]) ++n;
  return n;
}

bool loops(std::span<const int32_t> ids) {
  for (size_t period = 1; period <= kLoopPhrase && period * kLoopTimes <= ids.size(); ++period) {
    if (repeated(ids, period) + period >= std::max<size_t>(period * kLoopTimes, kLoopTokens)) return true;
  }
  return false;
}

}  // namespace

bool ends_in_loop(std::span<const int32_t> ids) {
  return loops(ids) || (!ids.empty() && loops(ids.first(ids.size() - 1)));
}

}  // namespace lapilli
