// The dialogue of the game and its current place: the lines of two scenes, one after the other.
#pragma once

#include <string>
#include <vector>

#include "dialogue.hpp"

namespace game {

struct Line {
  const char* speaker;
  const char* text;
};

class Story {
 public:
  // A line stays for `hold` frames once it is complete.
  explicit Story(unsigned hold) : hold_(hold) {}

  // Once a frame, behind dialogue.update().
  void update(Dialogue& dialogue);
  // To the end of the scene: a line on its way is cancelled.
  void skip(Dialogue& dialogue);
  // The dialogue has another model, or none: the line begins anew.
  void language_changed() { asked_ = false; }

  bool over() const;
  const Line& line() const;
  // The text to show: the translation as far as it is there, or the original.
  std::string subtitle(const Dialogue& dialogue) const;
  // Subtitles that were complete, in order; "(skipped)" for a scene that was not seen to its end.
  const std::vector<std::string>& log() const { return log_; }

 private:
  void next_line();
  void next_scene();

  unsigned hold_, held_ = 0;
  size_t scene_ = 0, line_ = 0;
  bool asked_ = false, skipping_ = false;
  std::vector<std::string> log_;
};

}  // namespace game
