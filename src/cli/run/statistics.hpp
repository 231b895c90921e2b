// --stats: the figures of all runs of the model together.
#pragma once

#include "lapilli/lapilli.h"

namespace lapilli::cli {

class Statistics {
 public:
  // Takes peaks, and figures counted since the model was loaded, from the last run.
  void add(const lapilli_stats& stats);
  // Prints to stderr, in milliseconds and mebibytes; if nothing ran, the model's load time is still given.
  void print(const lapilli_model_info& model, bool json) const;

 private:
  lapilli_stats sum_{};
};

}  // namespace lapilli::cli
