#include "runtime/run/paced_submitter.hpp"

#include <utility>

namespace lapilli {

PacedSubmitter::PacedSubmitter(std::shared_ptr<vulkan::Device> device)
    : device_(std::move(device)), pace_(Pace::of(*device_)) {}

void PacedSubmitter::add(const vulkan::CommandRecording& recording, const graph::Cost& cost) {
  parts_.push_back({&recording, cost});
}

Result<bool> PacedSubmitter::submit() {
  LAPILLI_CHECK(poll());
  while (!parts_.empty()) {
    LAPILLI_TRY(const bool may, device_->may_submit());
    if (!may) return false;
    LAPILLI_CHECK(submit_some());
  }
  return true;
}

Status PacedSubmitter::submit_all() {
  for (;;) {
    LAPILLI_TRY(const bool all, submit());
    if (all) return {};
    LAPILLI_CHECK(device_->wait_for_gap());
  }
}

// Submits the first of the added parts.
Status PacedSubmitter::submit_some() {
  const size_t most = pace_->knows() ? vulkan::kMostTimedRecordings : 1;
  Flight flight;
  std::vector<const vulkan::CommandRecording*> recordings;
  double all_us = 0;
  for (const Part& part : parts_) {
    const SegmentTime segment{part.cost, 0};
    const double us = pace_->expect_us(segment);
    if (recordings.size() == most || (!recordings.empty() && all_us + us > pace_->max_submit_us())) break;
    recordings.push_back(part.recording);
    flight.segments.push_back(segment);
    flight.expected_us.push_back(us);
    all_us += us;
  }
  LAPILLI_TRY(last_, device_->submit(recordings, all_us));
  parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(recordings.size()));
  flight.ticket = last_;
  flight.submitted = Clock::now();
  flights_.push_back(std::move(flight));
  return {};
}

Status PacedSubmitter::poll() {
  while (!flights_.empty()) {
    LAPILLI_TRY(const bool done, device_->done(flights_.front().ticket));
    if (!done) return observed_.pending(), Status();
    learn(flights_.front());
    flights_.pop_front();
  }
  return {};
}

void PacedSubmitter::learn(Flight& flight) {
  std::vector<TimedSegment> timed;
  for (size_t i = 0; i < flight.segments.size(); ++i) timed.push_back({&flight.segments[i], flight.expected_us[i]});
  const TimeBounds whole = observed_.done(flight.submitted);
  pace_->learn(timed, device_->times_us(flight.ticket), whole);
}

}  // namespace lapilli
