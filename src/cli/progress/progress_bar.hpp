// One line on the terminal's stderr that shows how far a file is.
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

  // Of something else from now on, whose first call of show() begins anew.
  void begin() { first_ = -1; }
  // `share` of the file in 0..1, and what is done of it. Draws at most ten times a second. What the first call says was
  // there before.
  void show(double share, const std::string& done);
  // Text in the bar's place, of what has no known end: a mark of ASCII, and as much of the text's end as the line has
  // room for. As often as show(), but at once where there is a mark.
  void show_text(const std::string& mark, const std::string& text);
  // Takes the bar away, before other text is written.
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
