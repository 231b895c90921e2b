// Hands one-time work to the device in order and at its pace: a submission takes as many recordings as are expected to
// stay within its time limit, and their times are learnt. For loading, the self-test and setup; replayed work goes
// through StepRunner.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "runtime/run/pace.hpp"

namespace lapilli {

// Used by one thread at a time.
class PacedSubmitter {
 public:
  explicit PacedSubmitter(std::shared_ptr<vulkan::Device> device);
  // Queues a recording after earlier ones. It must live until it is submitted.
  void add(const vulkan::CommandRecording& recording, const graph::Cost& cost);
  // Submits the queued recordings in as many submissions as needed; until the pace is known, each has one recording.
  // True: all are submitted. False: a gap must be left first (Device::may_submit). Learns from completed work. Does not
  // wait.
  Result<bool> submit();
  // Likewise, but waits for gaps.
  Status submit_all();
  [[nodiscard]] bool all_submitted() const { return parts_.empty(); }
  // Ticket of the last submission; 0: none.
  [[nodiscard]] vulkan::Ticket last() const { return last_; }

 private:
  struct Part {
    const vulkan::CommandRecording* recording;
    graph::Cost cost;
  };
  struct Flight {
    vulkan::Ticket ticket = 0;
    std::vector<SegmentTime> segments;  // by recording
    std::vector<double> expected_us;
    Clock::time_point submitted;
  };
  Status submit_some();
  Status poll();
  void learn(Flight& flight);

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Pace> pace_;
  std::deque<Part> parts_;
  std::deque<Flight> flights_;
  vulkan::Ticket last_ = 0;
  ObservedTimes observed_;
};

}  // namespace lapilli
