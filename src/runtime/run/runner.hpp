// Submits plans with several steps in flight and no host value between them. A state machine that never blocks: submits
// what fits, polls, harvests the log. What goes into one submission is decided when it is made, by the device's pace:
// as many recordings of segments as may be expected to take no longer than a submission may.
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
  uint32_t steps_per_submit = 4;  // S; step plans were bound with as many repeats if they are one segment
  uint32_t submits_in_flight = 2;
  uint64_t log_stride = 0;               // words from one tick's row of the log to the next
  uint32_t log_ticks = 0;                // rows of the log, a power of two: at least the ticks in flight
  uint32_t log_mark = 0;                 // of the session: rows without it were not written by its steps
  uint32_t first_tick = 0;               // as in the session's step words
  WorkLimit work{2e11};                  // of a submission until the pace is known: fewer steps, or a part of one
  std::shared_ptr<Pace> pace = nullptr;  // null: submissions go by `work` alone
};

class StepRunner {
 public:
  // The session and everything that is submitted must outlive the runner.
  StepRunner(const Session& session, const RunnerOptions& options);

  // Appends to what is to be submitted, in order: a recording, a whole plan, S steps by this plan.
  void append(const vulkan::CommandRecording& recording);
  void append(const BoundPlan& plan);
  void append_steps(const BoundPlan& step);
  // What was appended last gets this name, which on_complete tells when it and all before it are done.
  void name_last(uint64_t name);

  std::function<Status(uint64_t name)> on_complete;
  // Called once per completed step, in order, with the log's words of its tick (valid during the call).
  std::function<Status(std::span<const uint32_t> log)> on_step;

  // Polls and harvests what came back.
  Status poll();
  // Submits what was appended, as far as there is room and no gap is to be left. Never blocks. With a pace, no more
  // than makes the device busy for so long with what is in flight; one recording at least if nothing is.
  Status submit(double budget_us = std::numeric_limits<double>::infinity());
  // Everything that was appended is submitted, and one more submission has room: time to say what comes next.
  [[nodiscard]] bool wants_more() const { return parts_.empty() && flights_.size() < options_.submits_in_flight; }
  [[nodiscard]] bool idle() const { return parts_.empty() && flights_.empty(); }
  [[nodiscard]] std::optional<vulkan::Ticket> oldest() const;

  [[nodiscard]] uint64_t submissions() const { return submissions_; }
  [[nodiscard]] uint32_t tick() const { return tick_; }  // of the next step that is harvested

 private:
  struct Completes {
    uint32_t steps = 0;
    std::vector<uint64_t> names;
  };
  // One recording.
  struct Part {
    const vulkan::CommandRecording* recording = nullptr;
    SegmentTime* segment = nullptr;        // null: a copy, which costs next to nothing
    bool of_step = false, begins = false;  // a submission of its own
    Completes completes;
    SegmentOfPlan from = {};
  };
  struct Flight {
    vulkan::Ticket ticket = 0;
    std::vector<const vulkan::CommandRecording*> recordings;
    std::vector<TimedSegment> timed;  // by recording, as the next
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
  std::deque<Part> parts_;  // to be submitted, in order
  std::deque<Flight> flights_;
  SeenTimes seen_;
  bool was_late_ = false;  // the last one, as the host saw it
  uint32_t tick_;
  uint64_t submissions_ = 0;
};

}  // namespace lapilli
