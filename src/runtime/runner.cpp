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
  while (!done_ && !stopping_ && flights_.size() < options_.submits_in_flight) {
    if (parts_.empty() && submitted_ < options_.max_steps) next_steps();
    if (parts_.empty()) break;
    LAPILLI_CHECK(submit());
  }
  return flights_.empty() && (done_ || stopping_ || (parts_.empty() && submitted_ >= options_.max_steps));
}

void StepRunner::prologue(const std::vector<const BoundPlan*>& plans) {
  std::vector<Batch> batches;
  for (const BoundPlan* plan : plans) append_batches(*plan, 1, options_.work_limit, batches);
  append(std::move(batches), {0, true});
}

void StepRunner::append(std::vector<Batch> batches, Completes completes) {
  for (size_t i = 0; i < batches.size(); ++i)
    parts_.push_back({std::move(batches[i]), i + 1 == batches.size() ? completes : Completes{}});
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

void StepRunner::next_steps() {
  const BoundPlan& plan = choose();
  double cost = 0;
  for (const double c : plan.costs()) cost += c;
  const double room = options_.work_limit / std::max(1.0, cost);
  const uint32_t most = std::max(1u, options_.steps_per_submit / plan.repeats());
  const uint32_t times = room >= most ? most : std::max(1u, static_cast<uint32_t>(room));
  std::vector<Batch> batches;
  append_batches(plan, times, options_.work_limit, batches);
  append(std::move(batches), {times * plan.repeats(), false});
  ++step_submissions_;
  if (&plan != &step_) ++narrow_submissions_;
  submitted_ += times * plan.repeats();
}

Status StepRunner::submit() {
  LAPILLI_TRY(const auto ticket, session_.device()->submit(parts_.front().batch.recordings));
  flights_.push_back({ticket, parts_.front().completes});
  parts_.pop_front();
  ++submissions_;
  return {};
}

Status StepRunner::harvest(const Flight& flight) {
  if (flight.completes.prologue && on_prologue) on_prologue();
  if (flight.completes.steps == 0) return {};
  const BufferRef log = session_.state(StateKind::log);
  if (!log.buffer || !log.buffer->mapped()) return fail(ErrorCode::internal, "the log is not mapped");
  const uint64_t stride = options_.log_stride;
  // Rows of later steps may be written right now; those of completed steps never are again.
  const uint32_t end = std::min(completed_ + flight.completes.steps, options_.max_steps);
  const uint64_t rows = log.size / (stride * 4);
  if (end > rows)
    return fail(ErrorCode::internal, "the log has room for %llu steps", static_cast<unsigned long long>(rows));
  LAPILLI_CHECK(log.buffer->invalidate(log.offset + completed_ * stride * 4, (end - completed_) * stride * 4));
  const auto* words = reinterpret_cast<const uint32_t*>(log.buffer->mapped() + log.offset);
  uint32_t live = live_after_.empty() ? ~0u : live_after_.back();
  for (; completed_ < end; ++completed_) {
    if (done_) continue;
    const std::span<const uint32_t> row(words + completed_ * stride, stride);
    if (row[LogLayout::mark] != options_.log_mark)
      return fail(ErrorCode::device_lost, "step %u was reported as done, but %s has not run it: the device is lost",
                  completed_, session_.device()->caps().device_name.c_str());
    live = row[0];
    ++harvested_;
    if (on_step) on_step(completed_, row);
    if (row[1] != 0) done_ = true;
  }
  live_after_.push_back(live);
  return {};
}

}  // namespace lapilli
