// A search as it stands in the middle of its work, for timing the dispatches of its encode pass and decoder step.
#pragma once

#include "api/bench_model.hpp"
#include "runtime/profile.hpp"
#include "search/workspace.hpp"

namespace lapilli::tools {

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
// `batch` sentences of random ids with `beams` beams, all of them live: encoded, started, half of `target` steps on.
Result<SearchProfile> profile_search(const BenchRequest& request, const BenchModel& loaded, unsigned batch,
                                     unsigned beams);

}  // namespace lapilli::tools
