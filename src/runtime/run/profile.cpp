#include "runtime/run/profile.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace lapilli {

namespace {

// The same order with one dispatch per level, and the same cuts; or, for the host's clock, one recording per dispatch.
graph::Schedule one_by_one(const Plan& plan, TimedBy by) {
  const graph::Schedule& from = plan.schedule;
  graph::Schedule to;
  to.order = from.order;
  for (uint32_t i = 0; i < to.order.size(); ++i) {
    to.levels.push_back({i, i + 1});
    if (by == TimedBy::device) continue;
    to.segments.push_back(i);
    to.segment_costs.push_back(graph::cost_of(plan.commands[to.order[i]]));
  }
  if (by == TimedBy::host) return to;
  for (const uint32_t level : from.segments) to.segments.push_back(from.levels[level].begin);
  to.segment_costs = from.segment_costs;
  return to;
}

// Microseconds between the timestamps of one run, or by the host's clock. Less than a tick is reported as one tick.
Result<std::vector<double>> run_timed(vulkan::Device& device, const vulkan::CommandRecording& recording) {
  const vulkan::CommandRecording* list[] = {&recording};
  const auto start = Clock::now();
  LAPILLI_TRY(const auto ticket, device.submit(list));
  LAPILLI_CHECK(device.wait(ticket));
  const double host_us = ms_since(start) * 1e3;
  LAPILLI_TRY(const auto ns, recording.read_timestamps_ns());
  if (ns.size() < 2) return std::vector<double>{host_us};
  std::vector<double> us;
  const double tick = static_cast<double>(device.caps().timestamp_period);
  for (size_t i = 1; i < ns.size(); ++i) us.push_back(std::max(ns[i] - ns[i - 1], tick) * 1e-3);
  return us;
}

// Runs all recordings, in order, as one run: a step advances the state that the next one reads.
Result<std::vector<double>> run_once(vulkan::Device& device,
                                     std::span<const vulkan::CommandRecording* const> recordings) {
  std::vector<double> us;
  for (const auto* recording : recordings) {
    LAPILLI_TRY(const auto part, run_timed(device, *recording));
    us.insert(us.end(), part.begin(), part.end());
  }
  return us;
}

using Run = std::function<Result<std::vector<double>>()>;

// One warm-up run, then the median or best of the others.
Result<std::vector<double>> run_all(const Run& run_once, const ProfileOptions& options) {
  std::vector<std::vector<double>> times;  // by interval, over all runs
  for (uint32_t run = 0; run <= options.runs; ++run) {
    LAPILLI_TRY(const auto us, run_once());
    times.resize(us.size());
    for (size_t i = 0; i < us.size() && (run > 0 || options.runs == 0); ++i) times[i].push_back(us[i]);
  }
  std::vector<double> taken;
  for (const auto& one : times) {
    const bool best = options.take == ProfileOptions::Take::best;
    taken.push_back(best ? *std::min_element(one.begin(), one.end()) : median(one));
  }
  return taken;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Result<std::vector<double>> time_recording(vulkan::Device& device, const vulkan::CommandRecording& recording,
                                           const ProfileOptions& options) {
  const vulkan::CommandRecording* list[] = {&recording};
  return run_all([&] { return run_once(device, list); }, options);
}

Result<DispatchTimer> DispatchTimer::make(const std::shared_ptr<vulkan::Device>& device, const Plan& plan,
                                          const MemoryMap& memory) {
  const TimedBy by = device->caps().timestamps ? TimedBy::device : TimedBy::host;
  auto apart = std::make_shared<Plan>(plan);
  apart->schedule = one_by_one(plan, by);
  BindOptions bind;
  bind.timestamps = by == TimedBy::device;
  LAPILLI_TRY(auto bound, BoundPlan::bind(device, apart, memory, bind));
  return DispatchTimer(device, std::move(bound), by);
}

Result<std::vector<double>> DispatchTimer::run() {
  const Plan& plan = bound_.plan();
  LAPILLI_TRY(const auto in_order, run_once(*device_, bound_.recordings()));
  std::vector<double> us(plan.dispatches.size());
  if (in_order.size() != us.size())
    return fail(ErrorCode::internal, "%u times of %u dispatches", in_order.size(), us.size());
  for (size_t i = 0; i < in_order.size(); ++i) us[plan.schedule.order[i]] = in_order[i];
  return us;
}

Result<PlanTimes> profile(const std::shared_ptr<vulkan::Device>& device, const Plan& plan, const MemoryMap& memory,
                          const ProfileOptions& options) {
  LAPILLI_TRY(auto timer, DispatchTimer::make(device, plan, memory));
  PlanTimes times;
  times.by = timer.by();
  LAPILLI_TRY(times.us, run_all([&] { return timer.run(); }, options));
  return times;
}

}  // namespace lapilli
