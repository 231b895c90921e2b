#include "cli/progress/progress_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "base/counts.hpp"

namespace lapilli::cli {

namespace {

constexpr int kLongestBar = 40, kShortestBar = 6;

// In display order; the parts of greatest `rank` are dropped first if there is no room.
struct Shown {
  std::string text;
  int rank;
};

std::string listed(const std::vector<Shown>& parts) {
  std::string text;
  for (const Shown& part : parts) text += (text.empty() ? "" : ", ") + part.text;
  return text;
}

std::string rate(double per_second) {
  char text[32];
  std::snprintf(text, sizeof text, per_second < 10 ? "%.1f/s" : "%.0f/s", std::min(per_second, 1e9));
  return text;
}

std::string time_left(double seconds) {
  const auto left = static_cast<unsigned long long>(std::min(seconds, 3.6e8));
  char text[48];
  if (left < 3600) {
    std::snprintf(text, sizeof text, "%llu:%02llu left", left / 60, left % 60);
  } else {
    std::snprintf(text, sizeof text, "%llu:%02llu:%02llu left", left / 3600, left / 60 % 60, left % 60);
  }
  return text;
}

std::vector<Shown> parts_of(const ProgressState& state, double share) {
  std::vector<Shown> parts;
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3.0f %%", std::floor(share * 100));
  if (state.share) parts.push_back({percent, 0});
  if (state.files > 1) parts.push_back({"file " + grouped(state.file) + "/" + grouped(state.files), 2});
  parts.push_back({counted(state.lines, "line"), 1});
  if (state.sentences_of > 1)
    parts.push_back({grouped(state.sentences) + " of " + counted(state.sentences_of, "sentence"), 3});
  if (state.seconds > 0 && state.lines > state.lines_before)
    parts.push_back({rate(static_cast<double>(state.lines - state.lines_before) / state.seconds), 5});
  const double now = share - state.share_before;
  if (state.share && now > 0.01) parts.push_back({time_left(state.seconds / now * (1 - share)), 4});
  return parts;
}

std::string bar(int width, double share) {
  std::string text(static_cast<size_t>(width), '.');
  std::fill_n(text.begin() + 1, static_cast<int>((width - 2) * share), '#');
  text.front() = '[';
  text.back() = ']';
  return text + " ";
}

}  // namespace

std::string progress_text(const ProgressState& state, int columns) {
  const int room = std::max(columns - 1, 0);
  const double share = std::clamp(state.share.value_or(0), 0.0, 1.0);
  std::vector<Shown> parts = parts_of(state, share);
  std::string text = listed(parts);
  while (static_cast<int>(text.size()) > room && parts.size() > 1) {
    parts.erase(std::max_element(parts.begin(), parts.end(), [](auto& a, auto& b) { return a.rank < b.rank; }));
    text = listed(parts);
  }
  const int left = std::min(room - static_cast<int>(text.size()) - 1, kLongestBar + 2);
  if (state.share && left >= kShortestBar + 2) text.insert(0, bar(left, share));
  return text.substr(0, static_cast<size_t>(room));
}

}  // namespace lapilli::cli
