// Work that is done once, handed to the device in order and by its pace: as many recordings in a submission as may be
// expected to take no longer than one may, and what they took is learnt. For loading, the self-test and setup; what is
// replayed goes by StepRunner.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "runtime/run/pace.hpp"

namespace lapilli {

// Of one thread at a time.
class PacedSubmitter {
 public:
  explicit PacedSubmitter(std::shared_ptr<vulkan::Device> device);
  // To be submitted behind what was added before. The recording must live until it is.
  void add(const vulkan::CommandRecording& recording, const graph::Cost& cost);
  // Submits what was added, in as many submissions as it takes; until the pace is known each is one recording. True:
  // all of it. False: a gap is to be left first (Device::may_submit). Learns from what is done. Does not wait.
  Result<bool> submit();
  // The same, waiting for gaps.
  Status submit_all();
  [[nodiscard]] bool all_submitted() const { return parts_.empty(); }
  // Of the last submission; 0: there was none.
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
  SeenTimes seen_;
};

}  // namespace lapilli
