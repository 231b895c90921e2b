#include "cli/arguments/suggestions.hpp"

#include <algorithm>

namespace lapilli::cli {

namespace {

constexpr size_t kLongestName = 96;  // of a model; longer names are none of ours

// Edit distance: letters to leave out, add, change or swap with the next one to turn one word into the other.
size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& typed, const std::vector<std::string>& names) {
  std::string found;
  if (typed.size() < 2 || typed.size() > kLongestName) return found;
  size_t least = std::max<size_t>(1, typed.size() / 3) + 1;  // a short word is close to too many others
  for (const std::string& name : names) {
    const bool begun = typed.size() >= 3 && name.starts_with(typed);
    const size_t distance = begun ? 1 : edits(typed, name);
    if (distance >= least) continue;
    least = distance;
    found = name;
  }
  return found;
}

std::string did_you_mean(const std::string& typed, const std::vector<std::string>& names) {
  const std::string name = nearest(typed, names);
  return name.empty() ? "" : "; did you mean " + name + "?";
}

}  // namespace lapilli::cli
