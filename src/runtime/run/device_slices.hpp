// What a submission of bound plans did on the device, for a timeline: a slice for each segment, within it one for each
// dispatch, with the bytes that its bindings cover and its operations as plans estimate them.
#pragma once

#include <span>

#include "base/timeline.hpp"
#include "runtime/run/bind.hpp"

namespace lapilli {

// A recording of a submission; null: a copy, which is not told of.
struct SegmentOfPlan {
  const BoundPlan* plan = nullptr;
  size_t index = 0;
};

// Of a submission that is done, and whose recordings have not been submitted again. Where they have no timestamps
// there is one slice, by what the host saw. A timestamp that cannot be read is an error of the device.
Status tell_slices(Timeline& timeline, std::span<const SegmentOfPlan> segments, Clock::time_point submitted);

}  // namespace lapilli
