// Device work of a submission of bound plans, for a timeline: a slice for each segment, and within it one for each
// dispatch, with the bytes that its bindings cover and its operations as estimated by plans.
#pragma once

#include <span>

#include "base/timeline.hpp"
#include "runtime/run/bind.hpp"

namespace lapilli {

// A recording of a submission; null: a copy, which is not reported.
struct SegmentOfPlan {
  const BoundPlan* plan = nullptr;
  size_t index = 0;
};

// Reports a submission that is done and whose recordings have not been submitted again. Without timestamps there is one
// slice, from the host's observations. A timestamp that cannot be read is an error of the device.
Status tell_slices(Timeline& timeline, std::span<const SegmentOfPlan> segments, Clock::time_point submitted);

}  // namespace lapilli
