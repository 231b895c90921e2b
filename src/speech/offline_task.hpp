// Transcription with models that take each recording as a whole (Speech2Text, Moonshine): one source, one text; no
// windows, timestamps or choice of languages. Each recording's result is as if it were alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "generate/batch.hpp"
#include "speech/offline_recording.hpp"
#include "speech/speech_task.hpp"

namespace lapilli::speech {

struct OfflineSound {
  std::shared_ptr<audio::SampleSource> source;  // at SoundConfig::sampling_rate
  std::optional<uint64_t> samples;              // none: the recording is in progress
};
struct OfflineRequest {
  std::vector<OfflineSound> recordings;
  GenerationConfig options;  // beams, max_new_tokens...; defaults are the model files'
  // Called with each recording's single segment once it is done, in the calling thread. An error ends the job.
  std::function<Status(const Segment& segment)> on_segment;
  uint32_t batch = 0, steps_in_flight = 0;                             // as in GenerateRequest
  std::function<void(size_t recording, const Status& status)> on_end;  // as in TranscribeRequest
};

// Counts recordings.
class OfflineTask : public SpeechTask {
 public:
  // Refuses options that the model does not support.
  static Result<std::unique_ptr<OfflineTask>> start(std::shared_ptr<Model> model,
                                                    std::shared_ptr<OfflineRecordings> reader, OfflineRequest request);

  // Marks the end of a recording in progress.
  void end_recording(size_t recording, uint64_t samples) { request_.recordings[recording].samples = samples; }
  [[nodiscard]] TaskProgress progress() const override { return {done(), over_.size(), tokens()}; }

 private:
  enum class Phase : uint8_t { choose, read, search };
  OfflineTask(std::shared_ptr<Model> model, std::shared_ptr<OfflineRecordings> reader, OfflineRequest request);
  Status step(double budget_us) override;
  Status wait_for_device() override;
  Status begin_again(const FrontEnd& front) override;
  void release() override;
  [[nodiscard]] uint64_t done() const;
  Status choose();
  Status read();
  Status begin_search();
  Status search(double budget_us);
  Status take_results(GenerateOutput& out);
  Status deliver(size_t recording, const Hypothesis& hypothesis);
  [[nodiscard]] Result<Segment> segment_of(size_t recording, const Hypothesis& hypothesis) const;
  Status set_aside(size_t recording, Status status);

  std::shared_ptr<OfflineRecordings> reader_;
  const uint32_t rate_;
  OfflineRequest request_;
  Phase phase_ = Phase::choose;
  bool begun_ = false;                                           // a recording is being read
  std::vector<bool> over_;                                       // by recording
  std::vector<size_t> round_;                                    // recordings being processed
  std::vector<std::shared_ptr<const model::Features>> sources_;  // of the round, those read so far
  std::unique_ptr<Batch> batch_;
};

}  // namespace lapilli::speech
