// Replays a step plan with several steps in flight and no host value between them. A state machine that never blocks:
// pump() submits what fits, polls, harvests the log; wait() blocks for the oldest submission only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/bind.hpp"
#include "runtime/session.hpp"

namespace lapilli {

struct RunnerOptions {
  uint32_t max_steps = 0;         // the search cannot need more
  uint32_t steps_per_submit = 4;  // S; the step plan was bound with as many repeats if it is one segment
  uint32_t submits_in_flight = 2;
  uint64_t log_stride = 0;  // words from one step's log to the next
  uint32_t log_mark = 0;    // as in the params: rows without it were not written by this run
  double work_limit =
      2e11;  // of a submission, in estimated operations: fewer steps, or a part of one, where it is less
};

// A step plan for fewer rows, bound to the same session. State is addressed by slot, so nothing moves when it takes
// over.
struct NarrowStep {
  const BoundPlan* step = nullptr;
  uint32_t rows = 0;  // live rows that it has room for
};

class StepRunner {
 public:
  // The bound plans and the session must outlive the runner. `step` runs S steps per submission, either by its repeats
  // or by submitting its recordings S times.
  StepRunner(const Session& session, const BoundPlan& step, const RunnerOptions& options)
      : session_(session), step_(step), options_(options) {}

  // Widest first, each bound with as many repeats as the step plan. A submission takes the narrowest with room for the
  // rows that were live when the submission before those in flight had ended: which one runs a step follows from the
  // log and the options alone, never from how fast the host was.
  void narrow(std::vector<NarrowStep> steps) { narrow_ = std::move(steps); }

  // Submitted before the first steps (encode, init), in submissions of their own that nothing waits for.
  void prologue(const std::vector<const BoundPlan*>& plans);

  std::function<void()> on_prologue;  // the prologue is complete
  // Called once per completed step, in order, with the step's log words (valid during the call).
  std::function<void(uint32_t step, std::span<const uint32_t> log)> on_step;

  // True once the search has ended and nothing is in flight. Never blocks.
  Result<bool> pump();
  // Blocks until the oldest submission is done (bounded by the device's time-out), if there is one.
  Status wait_oldest();
  // No further submissions; pump() until it returns true.
  void stop() { stopping_ = true; }

  [[nodiscard]] uint32_t steps_done() const { return harvested_; }
  [[nodiscard]] uint32_t submissions() const { return submissions_; }
  // Submissions that ran by a narrower plan.
  [[nodiscard]] uint32_t narrow_submissions() const { return narrow_submissions_; }
  [[nodiscard]] bool in_flight() const { return !flights_.empty(); }

 private:
  // What one submission completes: so many steps, the prologue, or nothing yet (it is a part).
  struct Completes {
    uint32_t steps = 0;
    bool prologue = false;
  };
  struct Flight {
    vulkan::Ticket ticket;
    Completes completes;
  };
  struct Part {
    Batch batch;
    Completes completes;
  };
  [[nodiscard]] const BoundPlan& choose() const;
  void append(std::vector<Batch> batches, Completes completes);
  void next_steps();
  Status submit();
  Status harvest(const Flight& flight);

  const Session& session_;
  const BoundPlan& step_;
  RunnerOptions options_;
  std::deque<Part> parts_;  // to be submitted, in order
  std::vector<NarrowStep> narrow_;
  std::vector<uint32_t> live_after_;  // rows that went on after each submission of steps that came back
  std::deque<Flight> flights_;
  uint32_t submitted_ = 0, completed_ = 0, harvested_ = 0, submissions_ = 0;
  uint32_t step_submissions_ = 0, narrow_submissions_ = 0;
  bool done_ = false, stopping_ = false;
};

}  // namespace lapilli
