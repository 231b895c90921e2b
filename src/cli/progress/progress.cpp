#include "cli/progress/progress.hpp"

#include <algorithm>
#include <cstdio>

#include "cli/system.hpp"

namespace lapilli::cli {

namespace {
// Runs shorter than this need no progress line.
constexpr auto kBlink = std::chrono::milliseconds(300), kBetween = std::chrono::milliseconds(100);
// With more lines, counting sentences adds nothing.
constexpr uint64_t kFewLines = 8;
}  // namespace

// Decided when the first line is due, for the other programs of a pipe run by then.
bool Progress::enabled() {
  if (asked_) return enabled_;
  asked_ = true;
  // Output lines on the same terminal show the progress well enough.
  enabled_ = wanted_ && is_terminal(2) && (to_files_ || (!is_terminal(1) && !output_may_be_shown()));
  return enabled_;
}

void Progress::begin_file(uint64_t file, uint64_t files) {
  state_.file = file;
  state_.files = files;
}

void Progress::begin_source(uint64_t bytes, uint64_t done_bytes, uint64_t done_lines) {
  bytes_ = bytes;
  done_bytes_ = done_bytes;
  done_lines_ = done_lines;
  state_.lines_before = done_lines;
  state_.share_before = bytes > 0 ? static_cast<double>(done_bytes) / static_cast<double>(bytes) : 0;
  start_ = Clock::now();
}

void Progress::begin_window(uint64_t lines, uint64_t bytes) {
  window_lines_ = lines;
  window_bytes_ = bytes;
}

void Progress::show(uint64_t done, uint64_t all) {
  if (!wanted_ || all == 0) return;
  const auto now = Clock::now();
  if (now - start_ < kBlink || now - last_ < kBetween || !enabled()) return;
  last_ = now;
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
  state_.sentences_of = all > window_lines_ && window_lines_ <= kFewLines ? all : 0;
  state_.sentences = done;
  draw(share);
}

void Progress::draw(double share_of_window) {
  state_.lines = done_lines_ + static_cast<uint64_t>(share_of_window * static_cast<double>(window_lines_));
  state_.share.reset();
  if (bytes_ > 0) {
    const double bytes = static_cast<double>(done_bytes_) + share_of_window * static_cast<double>(window_bytes_);
    state_.share = bytes / static_cast<double>(bytes_);
  }
  state_.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  std::fprintf(stderr, "\r\033[K%s", progress_text(state_, terminal_columns()).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::end_window() {
  done_bytes_ += window_bytes_;
  done_lines_ += window_lines_;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fprintf(stderr, "\r\033[K");
  std::fflush(stderr);
  drawn_ = false;
  last_ = {};
}

}  // namespace lapilli::cli
