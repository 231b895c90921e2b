#include "text/pipeline/split.hpp"

#include <algorithm>

#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

// Merges a stretch with its predecessor if `joins(is a delimiter, predecessor was one)`.
template <class F>
std::vector<Stretch> merge(const std::vector<Stretch>& stretches, F&& joins) {
  std::vector<Stretch> out;
  bool before = false;
  for (const Stretch& s : stretches) {
    if (!out.empty() && joins(s.delimiter, before)) {
      out.back().end = s.end;
    } else {
      out.push_back(s);
    }
    before = s.delimiter;
  }
  return out;
}

}  // namespace

std::vector<Stretch> character_stretches(std::string_view text, bool (*test)(char32_t)) {
  std::vector<Stretch> out;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    if (!test(next_character(text, at))) continue;
    if (done < begin) out.push_back({done, begin, false});
    out.push_back({begin, at, true});
    done = at;
  }
  if (done < text.size()) out.push_back({done, text.size(), false});
  return out;
}

std::vector<Stretch> match_stretches(const std::vector<Regex::Match>& matches, size_t size, bool invert) {
  std::vector<Stretch> out;
  size_t done = 0;
  for (const Regex::Match& match : matches) {
    if (done < match.begin) out.push_back({done, match.begin, invert});
    out.push_back({match.begin, match.end, !invert});
    done = match.end;
  }
  if (done < size) out.push_back({done, size, invert});
  return out;
}

std::vector<Stretch> split_stretches(std::vector<Stretch> stretches, SplitBehavior behavior) {
  switch (behavior) {
    case SplitBehavior::isolated: return stretches;
    case SplitBehavior::removed:
      std::erase_if(stretches, [](const Stretch& s) { return s.delimiter; });
      return stretches;
    case SplitBehavior::contiguous: return merge(stretches, [](bool now, bool before) { return now == before; });
    // Only the nearest of several consecutive delimiters joins its neighbour.
    case SplitBehavior::merged_with_previous:
      return merge(stretches, [](bool now, bool before) { return now && !before; });
    case SplitBehavior::merged_with_next: {
      std::vector<Stretch> out;
      bool behind = false;
      for (size_t i = stretches.size(); i-- > 0;) {
        const Stretch& s = stretches[i];
        if (!out.empty() && s.delimiter && !behind) {
          out.back().begin = s.begin;
        } else {
          out.push_back(s);
        }
        behind = s.delimiter;
      }
      std::reverse(out.begin(), out.end());
      return out;
    }
  }
  return stretches;
}

}  // namespace lapilli
