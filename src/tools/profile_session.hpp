// A search as it stands in the middle of its work, for timing the dispatches of its encode pass and decoder step.
#pragma once

#include "runtime/run/profile.hpp"
#include "search/workspace.hpp"
#include "tools/bench_model.hpp"

namespace lapilli::tools {

// A search that was started and has come to the middle of its work: `batch` sentences of random ids with `beams` beams,
// all of them live. Steps of it can be run as often as it was made for, and again after restart().
class MiddleOfSearch {
 public:
  // Both outlive it. Half of the request's target is behind it; then come `steps` more.
  static Result<std::unique_ptr<MiddleOfSearch>> make(const SearchesRequest& request, const BenchModel& loaded,
                                                      unsigned batch, unsigned beams, unsigned steps);
  ~MiddleOfSearch();
  // From the beginning to the middle again.
  Status restart();
  [[nodiscard]] const Workspace& workspace() const;
  [[nodiscard]] MemoryMap memory(ArenaOf arena) const;
  [[nodiscard]] unsigned source_rows() const;  // of each sentence, in the encoder
  [[nodiscard]] unsigned steps_before() const;
  // The log says whether `ran` steps behind the middle were what they are taken for: all rows live.
  [[nodiscard]] Status check_steps(unsigned ran) const;

 private:
  MiddleOfSearch();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A plan and how long each of its dispatches took.
struct ProfiledPlan {
  std::shared_ptr<const Plan> plan;
  PlanTimes times;
};
struct SearchProfile {
  unsigned batch = 1, beams = 1;
  unsigned encode_rows = 0, step_rows = 0;
  unsigned source_rows = 0;                    // of each, in the encoder
  unsigned first_position = 0, positions = 0;  // of the steps that were timed, and room in the caches
  ProfiledPlan encode, step;
};
// Of a MiddleOfSearch.
Result<SearchProfile> profile_search(const BenchRequest& request, const BenchModel& loaded, unsigned batch,
                                     unsigned beams);

}  // namespace lapilli::tools
