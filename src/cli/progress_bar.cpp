#include "cli/progress_bar.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "cli/system.hpp"

namespace lapilli::cli {

void ProgressBar::show(double share, uint64_t lines) {
  if (!enabled_) return;
  const auto now = Clock::now();
  // A file that is done in a blink needs no bar.
  if (now - start_ < std::chrono::milliseconds(300) || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  share = std::clamp(share, 0.0, 1.0);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  char tail[96];
  int used = std::snprintf(tail, sizeof tail, " %3.0f %%  %llu lines, %.1f/s", share * 100,
                           static_cast<unsigned long long>(lines), static_cast<double>(lines) / seconds);
  if (share > 0.01) {
    const auto left = std::lround(seconds / share * (1 - share));
    used +=
        std::snprintf(tail + used, sizeof tail - static_cast<size_t>(used), ", %ld:%02ld left", left / 60, left % 60);
  }
  const int width = std::clamp(terminal_columns() - used - 3, 0, 40);
  const int filled = static_cast<int>(width * share);
  std::string bar;
  if (width > 4) {
    bar.assign(static_cast<size_t>(width) + 2, '.');
    std::fill_n(bar.begin() + 1, filled, '#');
    bar.front() = '[';
    bar.back() = ']';
  }
  std::fprintf(stderr, "\r\033[K%s%s", bar.c_str(), tail);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
  last_ = {};
}

}  // namespace lapilli::cli
