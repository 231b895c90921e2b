#include "cli/progress/progress_bar.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/system.hpp"

namespace lapilli::cli {

// Short files need no bar.
bool ProgressBar::due() {
  const auto now = Clock::now();
  if (!enabled_ || now - start_ < std::chrono::milliseconds(300) || now - last_ < std::chrono::milliseconds(100))
    return false;
  last_ = now;
  return true;
}

double ProgressBar::seconds() const { return std::chrono::duration<double>(last_ - begun_).count(); }

void ProgressBar::show(double share, const std::string& done) {
  if (first_ < 0) {
    first_ = share;
    begun_ = Clock::now();
  }
  if (due()) draw(share, done);
}

void ProgressBar::draw(double share, const std::string& done) {
  share = std::clamp(share, 0.0, 1.0);
  char tail[128];
  int used = std::snprintf(tail, sizeof tail, " %3.0f %%  %.64s", share * 100, done.c_str());
  const double gained = share - std::max(first_, 0.0);
  if (gained > 0.01) {
    const auto left = std::lround(seconds() / gained * (1 - share));
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

void ProgressBar::show_text(const std::string& mark, const std::string& text) {
  if (!enabled_ || (mark.empty() && !due())) return;
  const auto begins = [&](size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80; };
  size_t from = text.size();
  for (int left = terminal_columns() - static_cast<int>(mark.size()) - 1; from > 0 && left > 0;)
    if (begins(--from)) --left;
  std::fprintf(stderr, "\r\033[K%s%s", mark.c_str(), text.c_str() + from);
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
