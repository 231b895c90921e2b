// The options of the command line.
#pragma once

#include <string>
#include <vector>

#include "dialogue.hpp"

namespace game {

struct Options {
  bool help = false, window = false, still = false;
  int device = -1;  // below 0: the first that can draw
  VkExtent2D size{1280, 720};
  unsigned hold = 90;            // frames that a complete line stays
  uint64_t frames = UINT64_MAX;  // at most
  uint64_t budget_us = 1000;     // of the device's time, a frame
  uint64_t skip_at = UINT64_MAX, language_at = UINT64_MAX;
  std::vector<Work> work{Work::queue};  // one run of the story for each
  std::vector<std::string> models;      // none: the bundled one
  std::string font, out, times, plot, log;
};

extern const char* const kUsage;

// Throws with the argument and what is wrong with it.
Options parse_options(const std::vector<std::string>& arguments);

const char* name_of(Work work);

}  // namespace game
