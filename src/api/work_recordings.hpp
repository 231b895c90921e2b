// Recordings on their way through a model that hears: what is told and kept of them, whether it goes through them
// window by window or takes each as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/work.hpp"
#include "audio/samples.hpp"
#include "base/clock.hpp"

namespace lapilli::api {

class Recordings : public Work {
 protected:
  explicit Recordings(WorkRequest& from);
  // For the job's on_segment, on_draft and on_end.
  Status hear(const speech::Segment& segment);
  void hear_draft(size_t input, std::span<const speech::Segment> segments);
  void tell_end(size_t input, const Status& status);
  // For take().
  WorkOutput output(const speech::TranscribeOutput& from);
  [[nodiscard]] uint64_t tokens() const { return tokens_; }

 private:
  [[nodiscard]] bool repeats(const speech::Segment& segment);

  const WorkSinks sinks_;
  const int64_t timestamp_begin_;                 // ids from there on are timestamps
  std::vector<std::vector<HeardSegment>> heard_;  // by input
  std::vector<bool> told_;                        // that it has ended
  std::vector<std::vector<int32_t>> tails_;       // the last ids of its text, timestamps left out
  uint64_t tokens_ = 0;
  Clock::time_point started_ = Clock::now();
};

// A recording of an input that does not go on, and its number of samples.
std::shared_ptr<audio::SampleSource> source_of(const Input& input);
uint64_t samples_of(const Input& input);

// Options that no model that hears knows.
Status refuse_for_sound(const lapilli_options& options);
// The answer to samples for an input that takes none.
Failure not_going_on(size_t input);
// The answer to a model of other files, after a lost device.
Failure hears_nothing();

// For models that go through recordings window by window, and for those that take each as a whole.
Result<std::unique_ptr<Work>> start_windows(WorkRequest request);
Result<std::unique_ptr<Work>> start_whole(WorkRequest request);
// Cut where they are quiet (lapilli_options.pieces).
Result<std::unique_ptr<Work>> start_pieces(WorkRequest request, speech::TranscribeRequest how);

}  // namespace lapilli::api
