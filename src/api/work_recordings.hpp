// Recordings being transcribed: what is reported and kept of them, whether the model takes them window by window or as
// a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/work.hpp"
#include "audio/samples.hpp"
#include "base/clock.hpp"
#include "speech/speech_task.hpp"

namespace lapilli::api {

class Recordings : public Work {
 public:
  explicit Recordings(WorkRequest& from);
  [[nodiscard]] Task& task() const override { return *task_; }
  Result<WorkOutput> take() override;
  void start(std::unique_ptr<speech::SpeechTask> task) { task_ = std::move(task); }
  // Handlers for the task's on_segment, on_interim and on_end.
  Status report(const speech::Segment& segment);
  void report_interim(size_t input, std::span<const speech::Segment> segments);
  void report_end(size_t input, const Status& status);

 private:
  [[nodiscard]] bool repeats(const speech::Segment& segment);

  const WorkSinks sinks_;
  const int64_t timestamp_begin_;                         // first id that is a timestamp
  std::vector<std::vector<TranscriptSegment>> segments_;  // by input
  std::vector<bool> reported_;                            // by input: its end was reported
  std::vector<std::vector<int32_t>> tails_;               // last ids of each text, without timestamps
  Clock::time_point started_ = Clock::now();
  std::unique_ptr<speech::SpeechTask> task_;
};

// The samples of an input that is complete, and their number.
std::shared_ptr<audio::SampleSource> source_of(const Input& input);
uint64_t samples_of(const Input& input);

// Refuses options that no model for sound takes.
Status refuse_for_sound(const CallOptions& options);
// The error for samples to an input that takes none.
Failure not_continuing(size_t input);

// For models that take recordings window by window, and for those that take them as a whole.
Result<std::unique_ptr<Work>> start_windows(WorkRequest request);
Result<std::unique_ptr<Work>> start_offline(WorkRequest request);

}  // namespace lapilli::api
