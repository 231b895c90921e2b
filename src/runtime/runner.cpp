#include "runtime/runner.hpp"

#include <algorithm>

namespace lapilli {

Result<bool> StepRunner::pump() {
  while (!flights_.empty()) {
    LAPILLI_TRY(const bool over, session_.device()->done(flights_.front().ticket));
    if (!over) break;
    const Flight flight = flights_.front();
    flights_.pop_front();
    LAPILLI_CHECK(harvest(flight));
  }
  if (!prologue_.empty() && !stopping_) {
    LAPILLI_TRY(const auto ticket, session_.device()->submit(prologue_));
    flights_.push_back({ticket, 0});
    ++submissions_;
    prologue_.clear();
  }
  while (!done_ && !stopping_ && submitted_ < options_.max_steps && flights_.size() < options_.submits_in_flight)
    LAPILLI_CHECK(submit());
  return flights_.empty() && (done_ || stopping_ || submitted_ >= options_.max_steps);
}

Status StepRunner::wait_oldest() {
  if (flights_.empty()) return {};
  return session_.device()->wait(flights_.front().ticket);
}

const BoundPlan& StepRunner::choose() const {
  if (step_submissions_ < options_.submits_in_flight) return step_;
  const uint32_t live = live_after_[step_submissions_ - options_.submits_in_flight];
  const BoundPlan* chosen = &step_;
  for (const NarrowStep& n : narrow_)
    if (n.rows >= live) chosen = n.step;
  return *chosen;
}

Status StepRunner::submit() {
  std::vector<const vulkan::CommandRecording*> recordings;
  const BoundPlan& plan = choose();
  const auto step = plan.recordings();
  const uint32_t times = std::max(1u, options_.steps_per_submit / plan.repeats());
  for (uint32_t i = 0; i < times; ++i) recordings.insert(recordings.end(), step.begin(), step.end());
  LAPILLI_TRY(const auto ticket, session_.device()->submit(recordings));
  const uint32_t steps = times * plan.repeats();
  ++step_submissions_;
  if (&plan != &step_) ++narrow_submissions_;
  flights_.push_back({ticket, steps});
  submitted_ += steps;
  ++submissions_;
  return {};
}

Status StepRunner::harvest(const Flight& flight) {
  if (flight.steps == 0) {
    if (on_prologue) on_prologue();
    return {};
  }
  const BufferRef log = session_.state(StateKind::log);
  if (!log.buffer || !log.buffer->mapped()) return fail(ErrorCode::internal, "the log is not mapped");
  const uint64_t stride = options_.log_stride;
  // Rows of later steps may be written right now; those of completed steps never are again.
  const uint32_t end = std::min(completed_ + flight.steps, options_.max_steps);
  const uint64_t rows = log.size / (stride * 4);
  if (end > rows)
    return fail(ErrorCode::internal, "the log has room for %llu steps", static_cast<unsigned long long>(rows));
  LAPILLI_CHECK(log.buffer->invalidate(log.offset + completed_ * stride * 4, (end - completed_) * stride * 4));
  const auto* words = reinterpret_cast<const uint32_t*>(log.buffer->mapped() + log.offset);
  uint32_t live = live_after_.empty() ? ~0u : live_after_.back();
  for (; completed_ < end; ++completed_) {
    if (done_) continue;
    const std::span<const uint32_t> row(words + completed_ * stride, stride);
    live = row[0];
    ++harvested_;
    if (on_step) on_step(completed_, row);
    if (row[1] != 0) done_ = true;
  }
  live_after_.push_back(live);
  return {};
}

}  // namespace lapilli
