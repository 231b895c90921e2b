#include "runtime/run/device_slices.hpp"

namespace lapilli {

namespace {

Timeline::Slice slice_of(const Plan& plan, uint32_t dispatch) {
  const PlannedDispatch& d = plan.dispatches[dispatch];
  const graph::Node& node = plan.graph.node(d.node);
  const graph::Command& command = plan.commands[dispatch];
  Timeline::Slice slice;
  slice.name = format("%s: %s (%s)", node.label, node.op->name, plan.variants[d.node].name);
  slice.numbers = {{"bytes", static_cast<double>(graph::covered_bytes(command))},
                   {"operations", command.cost},
                   {"groups", static_cast<double>(uint64_t{d.groups[0]} * d.groups[1] * d.groups[2])}};
  return slice;
}

Timeline::Slice slice_of(const SegmentOfPlan& segment) {
  const graph::Cost& cost = segment.plan->segments()[segment.index].cost;
  return {segment.plan->name(), 0, 0, {{"bytes", cost.bytes}, {"operations", cost.operations}}};
}

// Dispatches of a level run in parallel, so each gets the time of the level.
void add_levels(const SegmentOfPlan& segment, std::span<const double> ns, std::vector<Timeline::Slice>& slices) {
  const Plan& plan = segment.plan->plan();
  const uint32_t first = plan.schedule.segments[segment.index];
  for (size_t i = 0; i + 1 < ns.size(); ++i) {
    const graph::Level& level = plan.schedule.levels[first + i];
    for (uint32_t k = level.begin; k < level.end; ++k) {
      slices.push_back(slice_of(plan, plan.schedule.order[k]));
      slices.back().begin_us = ns[i] * 1e-3;
      slices.back().end_us = ns[i + 1] * 1e-3;
      slices.back().lane = k - level.begin;
    }
  }
}

// The whole as one slice, which is all that is known without timestamps.
void add_to_whole(const SegmentOfPlan& segment, Timeline::DeviceWork& work) {
  Timeline::Slice slice = slice_of(segment);
  if (work.slices.empty()) {
    slice.begin_us = work.submitted_us;
    slice.end_us = work.done_us;
    work.slices.push_back(std::move(slice));
    return;
  }
  Timeline::Slice& whole = work.slices.front();
  if (!whole.name.ends_with(slice.name)) whole.name += ", " + slice.name;
  for (size_t i = 0; i < whole.numbers.size(); ++i) whole.numbers[i].second += slice.numbers[i].second;
}

}  // namespace

Status tell_slices(Timeline& timeline, std::span<const SegmentOfPlan> segments, Clock::time_point submitted) {
  Timeline::DeviceWork work;
  work.submitted_us = timeline.at(submitted);
  work.done_us = timeline.at(Clock::now());
  for (const SegmentOfPlan& segment : segments) {
    if (!segment.plan) continue;
    LAPILLI_TRY(const auto ns, segment.plan->recordings()[segment.index]->read_timestamps_ns());
    work.by_device = ns.size() > 1;
    if (!work.by_device) {
      add_to_whole(segment, work);
      continue;
    }
    work.slices.push_back(slice_of(segment));
    work.slices.back().begin_us = ns.front() * 1e-3;
    work.slices.back().end_us = ns.back() * 1e-3;
    add_levels(segment, ns, work.slices);
  }
  timeline.device(std::move(work));
  return {};
}

}  // namespace lapilli
