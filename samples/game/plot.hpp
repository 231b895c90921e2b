// How long frames took: as numbers, and as a picture.
#pragma once

#include <string>
#include <vector>

#include "image.hpp"

namespace game {

struct FrameTime {
  double milliseconds;
  bool translating;  // a line was being translated meanwhile
};

struct Series {
  std::string name;
  std::vector<FrameTime> frames;
};

// Lines of "work,frame,milliseconds,translating", the names first.
std::string times_as_csv(const std::vector<Series>& all);

// A panel for each series, with one scale for all; frames in which a line was being translated are shaded.
Image plot_times(const std::vector<Series>& all, const std::string& title, const Font& font);

}  // namespace game
