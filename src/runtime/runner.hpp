// Submits plans with several steps in flight and no host value between them. A state machine that never blocks: pump()
// submits what fits, polls, harvests the log.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/bind.hpp"
#include "runtime/session.hpp"

namespace lapilli {

struct RunnerOptions {
  uint32_t steps_per_submit = 4;  // S; step plans were bound with as many repeats if they are one segment
  uint32_t submits_in_flight = 2;
  uint64_t log_stride = 0;  // words from one tick's row of the log to the next
  uint32_t log_ticks = 0;   // rows of the log, a power of two: at least the ticks in flight
  uint32_t log_mark = 0;    // of the session: rows without it were not written by its steps
  uint32_t first_tick = 0;  // as in the session's step words
  WorkLimit work{2e11};     // of a submission: fewer steps, or a part of one, where it is less
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
  // Submits what was appended, as far as there is room. Never blocks.
  Status submit();
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
  struct Part {
    Batch batch;
    Completes completes;
  };
  struct Flight {
    vulkan::Ticket ticket;
    Completes completes;
  };
  void append(const vulkan::CommandRecording& recording, double cost, bool separate);
  Status harvest(const Flight& flight);
  Status harvest_step();

  const Session& session_;
  RunnerOptions options_;
  std::deque<Part> parts_;  // to be submitted, in order
  std::deque<Flight> flights_;
  uint32_t tick_;
  uint64_t submissions_ = 0;
};

}  // namespace lapilli
