#include "runtime/runner.hpp"

#include <algorithm>

#include "vulkan/trace.hpp"

namespace lapilli {

StepRunner::StepRunner(const Session& session, const RunnerOptions& options)
    : session_(session), options_(options), tick_(options.first_tick) {
  if (const BufferRef log = session.state(StateKind::log); log.buffer) vulkan::tell_step(*log.buffer, tick_);
}

// Recordings share a submission as long as its work stays below the limit. Steps begin one of their own: what came
// before them is told as complete without them.
void StepRunner::append(const vulkan::CommandRecording& recording, double cost, bool separate) {
  const bool full = parts_.empty() || separate || parts_.back().completes.steps != 0 ||
                    !options_.work.allows(parts_.back().batch.cost + cost);
  if (full) parts_.emplace_back();
  parts_.back().batch.recordings.push_back(&recording);
  parts_.back().batch.cost += cost;
}

void StepRunner::append(const vulkan::CommandRecording& recording) { append(recording, 0, false); }

void StepRunner::append(const BoundPlan& plan) {
  const auto recordings = plan.recordings();
  const auto costs = plan.costs();
  for (size_t i = 0; i < recordings.size(); ++i) append(*recordings[i], costs[i], false);
}

void StepRunner::append_steps(const BoundPlan& step) {
  double cost = 0;
  for (const double c : step.costs()) cost += c;
  const uint32_t most = std::max(1u, options_.steps_per_submit / step.repeats());
  const auto times = static_cast<uint32_t>(options_.work.parts(most, cost));
  std::vector<Batch> batches;
  append_batches(step, times, options_.work, batches);
  for (Batch& batch : batches) parts_.push_back({std::move(batch), {}});
  parts_.back().completes.steps = times * step.repeats();
}

void StepRunner::name_last(uint64_t name) {
  if (!parts_.empty()) parts_.back().completes.names.push_back(name);
}

Status StepRunner::poll() {
  while (!flights_.empty()) {
    LAPILLI_TRY(const bool over, session_.device()->done(flights_.front().ticket));
    if (!over) return {};
    const Flight flight = std::move(flights_.front());
    flights_.pop_front();
    LAPILLI_CHECK(harvest(flight));
  }
  return {};
}

Status StepRunner::submit() {
  while (!parts_.empty() && flights_.size() < options_.submits_in_flight) {
    LAPILLI_TRY(const auto ticket, session_.device()->submit(parts_.front().batch.recordings));
    flights_.push_back({ticket, std::move(parts_.front().completes)});
    parts_.pop_front();
    ++submissions_;
  }
  return {};
}

std::optional<vulkan::Ticket> StepRunner::oldest() const {
  if (flights_.empty()) return std::nullopt;
  return flights_.front().ticket;
}

Status StepRunner::harvest(const Flight& flight) {
  for (uint32_t i = 0; i < flight.completes.steps; ++i) LAPILLI_CHECK(harvest_step());
  for (const uint64_t name : flight.completes.names)
    if (on_complete) LAPILLI_CHECK(on_complete(name));
  return {};
}

// The row is written again only by a step that has not been submitted yet.
Status StepRunner::harvest_step() {
  const BufferRef log = session_.state(StateKind::log);
  if (!log.buffer || !log.buffer->mapped()) return fail(ErrorCode::internal, "the log is not mapped");
  const uint64_t at = (tick_ & (options_.log_ticks - 1)) * options_.log_stride;
  if ((at + options_.log_stride) * 4 > log.size)
    return fail(ErrorCode::internal, "the log has no room for tick %u", tick_);
  const auto* words = reinterpret_cast<const uint32_t*>(log.buffer->mapped() + log.offset) + at;
  LAPILLI_CHECK(log.buffer->invalidate(log.offset + at * 4, options_.log_stride * 4));
  if (words[LogLayout::mark] != options_.log_mark || words[LogLayout::tick] != tick_)
    return fail(ErrorCode::device_lost, "step %u was reported as done, but %s has not run it: the device is lost",
                tick_ - options_.first_tick, session_.device()->caps().device_name.c_str());
  ++tick_;
  return on_step ? on_step(std::span(words, options_.log_stride)) : Status{};
}

}  // namespace lapilli
