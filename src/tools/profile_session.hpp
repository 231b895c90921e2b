// A search in the middle of its work, for timing the dispatches of its encode pass and decoder step.
#pragma once

#include "runtime/run/profile.hpp"
#include "search/workspace.hpp"
#include "tools/bench_model.hpp"

namespace lapilli::tools {

// A search advanced to the middle of its work: `batch` sentences of random ids with `beams` beams, all of them live.
// Its steps can be run as often as it was made for, and again after restart().
class MiddleOfSearch {
 public:
  // Request and model outlive it. Half of the request's target is done; `steps` more can follow.
  static Result<std::unique_ptr<MiddleOfSearch>> make(const SearchesRequest& request, const BenchModel& loaded,
                                                      unsigned batch, unsigned beams, unsigned steps);
  ~MiddleOfSearch();
  // Runs from the beginning to the middle again.
  Status restart();
  [[nodiscard]] const Workspace& workspace() const;
  [[nodiscard]] MemoryMap memory(ArenaOf arena) const;
  [[nodiscard]] unsigned source_rows() const;  // per sentence, in the encoder
  [[nodiscard]] unsigned steps_before() const;
  // Checks in the log that `ran` steps after the middle were as expected: all rows live.
  [[nodiscard]] Status check_steps(unsigned ran) const;

 private:
  MiddleOfSearch();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A plan and the time of each of its dispatches.
struct ProfiledPlan {
  std::shared_ptr<const Plan> plan;
  PlanTimes times;
};
struct SearchProfile {
  unsigned batch = 1, beams = 1;
  unsigned encode_rows = 0, step_rows = 0;     // no encode_rows: a decoder alone
  unsigned source_rows = 0;                    // per sentence, in the encoder
  unsigned first_position = 0, positions = 0;  // of the timed steps, and capacity of the caches
  ProfiledPlan encode, step;
};
// Profiles a MiddleOfSearch.
Result<SearchProfile> profile_search(const BenchRequest& request, const BenchModel& loaded, unsigned batch,
                                     unsigned beams);

}  // namespace lapilli::tools
