// --stats: what all runs of the model took together.
#pragma once

#include "lapilli/lapilli.h"

namespace lapilli::cli {

class Statistics {
 public:
  // Peaks and what counts from the model's loading are those of the last run.
  void add(const lapilli_stats& stats);
  // On stderr, in milliseconds and mebibytes. The model's load time stands where nothing ran.
  void print(const lapilli_model_info& model, bool json) const;

 private:
  lapilli_stats sum_{};
};

}  // namespace lapilli::cli
