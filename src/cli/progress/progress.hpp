// One line on the terminal's stderr that shows the progress of a run.
#pragma once

#include <chrono>
#include <cstdint>

#include "cli/progress/progress_text.hpp"

namespace lapilli::cli {

class Progress {
 public:
  // `to_files`: the run's output goes to no terminal, whatever stdout is.
  Progress(bool quiet, bool to_files) : wanted_(!quiet), to_files_(to_files) {}
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Called if lines are typed on the terminal that would show the progress.
  void be_silent() { wanted_ = false; }
  void begin_file(uint64_t file, uint64_t files);
  // `bytes`: the total, 0 if unknown; the parts already done do not count as work of this run.
  void begin_source(uint64_t bytes, uint64_t done_bytes = 0, uint64_t done_lines = 0);

  // Starts a window of lines: their number, and their bytes.
  void begin_window(uint64_t lines, uint64_t bytes);
  // Counts pieces of work: the lines of the window, or their sentences. Draws at most ten times a second.
  void show(uint64_t done, uint64_t all);
  void end_window();

  // Erases the line, before other text is written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled();
  void draw(double share_of_window);

  bool wanted_, to_files_, drawn_ = false, asked_ = false, enabled_ = false;
  ProgressState state_;
  uint64_t bytes_ = 0, done_bytes_ = 0, done_lines_ = 0, window_lines_ = 0, window_bytes_ = 0;
  Clock::time_point start_ = Clock::now(), last_{};
};

}  // namespace lapilli::cli
