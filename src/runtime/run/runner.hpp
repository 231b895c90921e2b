// Submits plans with several steps in flight and no host value between them. A state machine that never blocks: submits
// what fits, polls, harvests the log. The device's pace decides the size of a submission when it is made: as many
// recordings of segments as are expected to stay within its time limit.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "runtime/run/bind.hpp"
#include "runtime/run/device_slices.hpp"
#include "runtime/run/session.hpp"

namespace lapilli {

struct RunnerOptions {
  uint32_t steps_per_submit = 4;  // S; step plans were bound with this many repeats if they are one segment
  uint32_t submits_in_flight = 2;
  uint64_t log_stride = 0;               // words from one tick's row of the log to the next
  uint32_t log_ticks = 0;                // rows of the log, a power of two: at least the ticks in flight
  uint32_t log_mark = 0;                 // of the session: rows without it were not written by its steps
  uint32_t first_tick = 0;               // as in the session's step words
  WorkLimit work{2e11};                  // per submission until the pace is known: fewer steps, or a part of one
  std::shared_ptr<Pace> pace = nullptr;  // null: only `work` limits submissions
};

class StepRunner {
 public:
  // The session and everything submitted must outlive the runner.
  StepRunner(const Session& session, const RunnerOptions& options);

  // Append to the queue, in order: a recording, a whole plan, S steps of this plan, or `most` if these are fewer.
  void append(const vulkan::CommandRecording& recording);
  void append(const BoundPlan& plan);
  void append_steps(const BoundPlan& step, uint32_t most = ~uint32_t{0});
  // Names the last appended work; on_complete receives the name when it and everything before it are done.
  void name_last(uint64_t name);

  std::function<Status(uint64_t name)> on_complete;
  // Called once per completed step, in order, with the log's words of its tick (valid during the call).
  std::function<Status(std::span<const uint32_t> log)> on_step;

  // Polls, and harvests completed work.
  Status poll();
  // Submits appended work, as far as there is room and no gap must be left. Never blocks. With a pace, keeps the
  // device's work in flight within the budget, but submits at least one recording if nothing is in flight.
  Status submit(double budget_us = std::numeric_limits<double>::infinity());
  // Everything appended is submitted, and there is room for one more submission: time to append the next work.
  [[nodiscard]] bool wants_more() const { return parts_.empty() && flights_.size() < options_.submits_in_flight; }
  [[nodiscard]] bool idle() const { return parts_.empty() && flights_.empty(); }
  [[nodiscard]] std::optional<vulkan::Ticket> oldest() const;

  [[nodiscard]] uint64_t submissions() const { return submissions_; }
  [[nodiscard]] uint32_t tick() const { return tick_; }  // of the next step to harvest

 private:
  struct Completes {
    uint32_t steps = 0;
    std::vector<uint64_t> names;
  };
  // One recording.
  struct Part {
    const vulkan::CommandRecording* recording = nullptr;
    SegmentTime* segment = nullptr;        // null: a copy, which costs almost nothing
    bool of_step = false, begins = false;  // begins: starts a new submission
    Completes completes;
    SegmentOfPlan from = {};
  };
  struct Flight {
    vulkan::Ticket ticket = 0;
    std::vector<const vulkan::CommandRecording*> recordings;
    std::vector<TimedSegment> timed;  // by recording, like the next
    std::vector<SegmentOfPlan> from;
    double operations = 0, expected_us = 0;
    Completes completes;
    Clock::time_point submitted;
  };
  void append(Part part);
  void append_segments(const BoundPlan& plan, bool of_step);
  [[nodiscard]] uint32_t steps_at_once(const BoundPlan& step) const;
  [[nodiscard]] Flight next_flight(double room_us) const;
  [[nodiscard]] bool fits(const Flight& flight, const Part& part, double expected_us, double room_us) const;
  [[nodiscard]] double expect_us(const SegmentTime* segment) const;
  Status harvest(const Flight& flight);
  [[nodiscard]] bool is_timed(const Flight& flight) const;
  void learn(const Flight& flight);
  [[nodiscard]] Status tell(const Flight& flight) const;
  Status harvest_step();

  const Session& session_;
  RunnerOptions options_;
  std::deque<Part> parts_;  // queue, in order
  std::deque<Flight> flights_;
  ObservedTimes observed_;
  bool was_late_ = false;  // the last submission, as seen by the host
  uint32_t tick_;
  uint64_t submissions_ = 0;
};

}  // namespace lapilli
