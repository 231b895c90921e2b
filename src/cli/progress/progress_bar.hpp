// One line on the terminal's stderr that shows the progress of a file.
#pragma once

#include <chrono>
#include <string>

namespace lapilli::cli {

class ProgressBar {
 public:
  explicit ProgressBar(bool enabled) : enabled_(enabled) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Starts a new item; its first call of show() sets the beginning.
  void begin() { first_ = -1; }
  // `share` of the file in 0..1, and a text on the finished part. Draws at most ten times a second. The share of the
  // first call does not count as work of this run.
  void show(double share, const std::string& done);
  // Shows text instead of the bar, for input without a known end: an ASCII mark, and as much of the text's end as fits
  // on the line. Draws as often as show(), but at once if there is a mark.
  void show_text(const std::string& mark, const std::string& text);
  // Erases the bar, before other text is written.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool due();
  [[nodiscard]] double seconds() const;
  void draw(double share, const std::string& done);

  bool enabled_, drawn_ = false;
  double first_ = -1;
  Clock::time_point start_ = Clock::now(), begun_{}, last_{};
};

}  // namespace lapilli::cli
