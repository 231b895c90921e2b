// Transcription with models that take each recording as a whole (Speech2Text, Moonshine): one source, one text; no
// windows, timestamps or choice of languages. Each recording's result is as if it were alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "generate/batch_job.hpp"
#include "speech/offline_recording.hpp"
#include "speech/transcribe.hpp"

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

// For one thread at a time; cancel() may come from any.
class OfflineJob {
 public:
  // Refuses options that the model does not support.
  static Result<std::unique_ptr<OfflineJob>> start(std::shared_ptr<Model> model,
                                                   std::shared_ptr<OfflineRecordings> reader, OfflineRequest request);

  // As TranscriptionJob's.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  void rest();
  void cancel() { cancelled_ = true; }
  [[nodiscard]] bool is_hungry() const { return hungry_; }
  // Marks the end of a recording in progress.
  void end_recording(size_t recording, uint64_t samples) { request_.recordings[recording].samples = samples; }

  [[nodiscard]] uint64_t done() const;
  [[nodiscard]] uint64_t total() const { return out_.transcripts.size(); }
  [[nodiscard]] const TranscribeOutput& output() const { return out_; }
  [[nodiscard]] const Status& status() const { return status_; }
  TranscribeOutput take() { return std::move(out_); }

  [[nodiscard]] bool is_interrupted() const { return interrupted_; }
  Status resume(std::shared_ptr<Model> model, std::shared_ptr<OfflineRecordings> reader);
  Status abandon();

 private:
  enum class Phase : uint8_t { choose, read, search, ended };
  OfflineJob(std::shared_ptr<Model> model, std::shared_ptr<OfflineRecordings> reader, OfflineRequest request);
  Status step(double budget_us);
  Status choose();
  Status read();
  Status begin_search();
  Status search(double budget_us);
  Status take_results(GenerateOutput& out);
  Status deliver(size_t recording, const Hypothesis& said);
  [[nodiscard]] Result<Segment> segment_of(size_t recording, const Hypothesis& said) const;
  Status set_aside(size_t recording, Status status);
  void let_go();
  void stop(Status status);
  void end(Status status);

  std::shared_ptr<Model> model_;  // until the end
  const ModelInfo info_;          // of the first model
  std::shared_ptr<OfflineRecordings> reader_;
  const uint32_t rate_;
  OfflineRequest request_;
  Phase phase_ = Phase::choose;
  std::atomic<bool> cancelled_{false};
  bool hungry_ = false, interrupted_ = false;
  bool begun_ = false;  // a recording is being read
  Status status_;
  std::vector<bool> over_;                                       // by recording
  std::vector<size_t> round_;                                    // recordings being processed
  std::vector<std::shared_ptr<const model::Features>> sources_;  // of the round, those read so far
  std::unique_ptr<BatchJob> batch_;
  TranscribeOutput out_;
};

}  // namespace lapilli::speech
