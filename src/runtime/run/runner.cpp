#include "runtime/run/runner.hpp"

#include <algorithm>

#include "vulkan/device/trace.hpp"

namespace lapilli {

StepRunner::StepRunner(const Session& session, const RunnerOptions& options)
    : session_(session), options_(options), tick_(options.first_tick) {
  if (const BufferRef log = session.state(StateKind::log); log.buffer) vulkan::tell_step(*log.buffer, tick_);
}

// Steps begin their own submission: work before them is reported as complete without them.
void StepRunner::append(Part part) {
  part.begins = part.begins || (!parts_.empty() && parts_.back().of_step && !part.of_step);
  parts_.push_back(std::move(part));
}

void StepRunner::append(const vulkan::CommandRecording& recording) { append(Part{&recording}); }

void StepRunner::append_segments(const BoundPlan& plan, bool of_step) {
  const auto recordings = plan.recordings();
  for (size_t i = 0; i < recordings.size(); ++i)
    append(Part{recordings[i], &plan.segments()[i], of_step, false, {}, {&plan, i}});
}

void StepRunner::append(const BoundPlan& plan) { append_segments(plan, false); }

void StepRunner::append_steps(const BoundPlan& step, uint32_t most) {
  const uint32_t times = std::min(steps_at_once(step), std::max(1u, most));
  const size_t first = parts_.size();
  for (uint32_t i = 0; i < times; ++i) {
    append_segments(step, true);
    parts_.back().completes.steps = step.repeats();
  }
  parts_[first].begins = true;
}

// As many as one submission holds, or one, however many submissions it takes.
uint32_t StepRunner::steps_at_once(const BoundPlan& step) const {
  const uint32_t most = std::max(1u, options_.steps_per_submit / step.repeats());
  graph::Cost cost;
  double us = 0;
  for (const SegmentTime& s : step.segments()) {
    cost += s.cost;
    us += expect_us(&s);
  }
  if (!options_.pace || !options_.pace->knows())
    return static_cast<uint32_t>(options_.work.parts(most, cost.operations));
  return us * most <= options_.pace->max_submit_us()
             ? most
             : std::max(1u, static_cast<uint32_t>(options_.pace->max_submit_us() / us));
}

double StepRunner::expect_us(const SegmentTime* segment) const {
  return segment && options_.pace ? options_.pace->expect_us(*segment) : 0;
}

void StepRunner::name_last(uint64_t name) {
  if (!parts_.empty()) parts_.back().completes.names.push_back(name);
}

Status StepRunner::poll() {
  while (!flights_.empty()) {
    LAPILLI_TRY(const bool over, session_.device()->done(flights_.front().ticket));
    if (!over) {
      observed_.pending();
      return {};
    }
    const Flight flight = std::move(flights_.front());
    flights_.pop_front();
    learn(flight);
    LAPILLI_CHECK(tell(flight));
    LAPILLI_CHECK(harvest(flight));
  }
  return {};
}

// Until the pace is known, a submission is one segment.
bool StepRunner::fits(const Flight& flight, const Part& part, double expected_us, double room_us) const {
  const double operations = part.segment ? part.segment->cost.operations : 0;
  const bool bounded = options_.pace && options_.pace->knows();
  if (!bounded && !options_.work.allows(flight.operations + operations)) return false;
  if (!options_.pace || !part.segment) return true;
  if (!bounded) return flight.operations == 0;
  const double most = std::min(room_us, options_.pace->max_submit_us());
  return flight.expected_us + expected_us <= most && flight.recordings.size() < vulkan::kMostTimedRecordings;
}

// The parts of the next submission; empty if there is no room for it.
StepRunner::Flight StepRunner::next_flight(double room_us) const {
  Flight flight;
  for (const Part& part : parts_) {
    const double us = expect_us(part.segment);
    const bool first = flight.recordings.empty();
    if (!first && (part.begins || !fits(flight, part, us, room_us))) break;
    if (first && !flights_.empty() && us > room_us) break;
    flight.recordings.push_back(part.recording);
    flight.timed.push_back({part.segment, us});
    flight.from.push_back(part.from);
    flight.operations += part.segment ? part.segment->cost.operations : 0;
    flight.expected_us += us;
    flight.completes.steps += part.completes.steps;
    flight.completes.names.insert(flight.completes.names.end(), part.completes.names.begin(),
                                  part.completes.names.end());
  }
  return flight;
}

// Times unmeasured segments, submissions close to the time limit, and occasionally others. For untimed ones the host
// sees when they end; after a late one the next are timed again.
bool StepRunner::is_timed(const Flight& flight) const {
  constexpr uint64_t kSeldom = 16;
  constexpr double kNear = 1.0 / 8;
  if (!options_.pace || was_late_ || submissions_ % kSeldom == 0) return true;
  if (flight.expected_us > kNear * options_.pace->max_submit_us()) return true;
  return std::any_of(flight.timed.begin(), flight.timed.end(),
                     [](const TimedSegment& t) { return t.segment && t.segment->us <= 0; });
}

Status StepRunner::submit(double budget_us) {
  while (!parts_.empty() && flights_.size() < options_.submits_in_flight) {
    LAPILLI_TRY(const bool may, session_.device()->may_submit());
    if (!may) return {};
    double room_us = budget_us;
    for (const Flight& f : flights_) room_us -= f.expected_us;
    Flight flight = next_flight(room_us);
    if (flight.recordings.empty()) return {};
    TimelineScope scope(session_.device()->timeline(), "submit");
    scope.number("recordings", static_cast<double>(flight.recordings.size()));
    LAPILLI_TRY(flight.ticket, session_.device()->submit(flight.recordings, flight.expected_us, is_timed(flight)));
    flight.submitted = Clock::now();
    parts_.erase(parts_.begin(), parts_.begin() + static_cast<ptrdiff_t>(flight.recordings.size()));
    flights_.push_back(std::move(flight));
    ++submissions_;
  }
  return {};
}

void StepRunner::learn(const Flight& flight) {
  constexpr double kLate = 1.0 / 4;  // with another submission before it, which the host sees end at the same time
  const TimeBounds whole = observed_.done(flight.submitted);
  was_late_ = options_.pace && whole.most_us > kLate * options_.pace->max_submit_us();
  if (options_.pace) options_.pace->learn(flight.timed, session_.device()->times_us(flight.ticket), whole);
}

Status StepRunner::tell(const Flight& flight) const {
  Timeline* const timeline = session_.device()->timeline();
  return timeline ? tell_slices(*timeline, flight.from, flight.submitted) : Status();
}

std::optional<vulkan::Ticket> StepRunner::oldest() const {
  if (flights_.empty()) return std::nullopt;
  return flights_.front().ticket;
}

Status StepRunner::harvest(const Flight& flight) {
  const TimelineScope scope(session_.device()->timeline(), "read back");
  for (uint32_t i = 0; i < flight.completes.steps; ++i) LAPILLI_CHECK(harvest_step());
  for (const uint64_t name : flight.completes.names)
    if (on_complete) LAPILLI_CHECK(on_complete(name));
  return {};
}

// Only steps that have not been submitted yet write this row again.
Status StepRunner::harvest_step() {
  const BufferRef log = session_.state(StateKind::log);
  if (!log.buffer || !log.buffer->mapped()) return fail(ErrorCode::internal, "the log is not mapped");
  const uint64_t at = (tick_ & (options_.log_ticks - 1)) * options_.log_stride;
  if ((at + options_.log_stride) * 4 > log.size)
    return fail(ErrorCode::internal, "the log has no room for tick %u", tick_);
  const auto* words = reinterpret_cast<const uint32_t*>(log.buffer->mapped() + log.offset) + at;
  LAPILLI_CHECK(log.buffer->invalidate(log.offset + at * 4, options_.log_stride * 4));
  if (words[state::LOG_MARK] != options_.log_mark || words[state::LOG_TICK] != tick_)
    return fail(ErrorCode::device_lost, "step %u was reported as done, but %s has not run it: the device is lost",
                tick_ - options_.first_tick, session_.device()->caps().device_name);
  ++tick_;
  return on_step ? on_step(std::span(words, options_.log_stride)) : Status{};
}

}  // namespace lapilli
