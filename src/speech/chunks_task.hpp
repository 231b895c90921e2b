// The transcription of recordings in chunks, one recording after the other. Several chunks are transcribed together, as
// the recordings of a TranscriptionTask.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "speech/language_detection.hpp"
#include "speech/silence.hpp"
#include "speech/transcription_task.hpp"

namespace lapilli::speech {

struct CutRecording {
  std::shared_ptr<FrameSource> frames;
  std::vector<Chunk> chunks;
  // Null: `chunks` says where to cut. Otherwise these samples are measured, and cut where they are quiet.
  std::shared_ptr<audio::SampleSource> source;
  uint64_t samples = 0;
};

struct ChunksRequest {
  TranscribeRequest how;  // without recordings; on_segment is called once all chunks of a group are done
  std::vector<CutRecording> recordings;
  uint32_t at_a_time = 1;  // chunks
  uint32_t hop = 1;        // samples of a frame
};

// Like TranscriptionTask, for complete recordings.
class ChunksTask : public SpeechTask {
 public:
  // Refuses conditioning on earlier text, and what TranscriptionTask refuses.
  static Result<std::unique_ptr<ChunksTask>> start(std::shared_ptr<Model> model, ChunksRequest request);

  [[nodiscard]] TaskProgress progress() const override;

 private:
  enum class Phase : uint8_t { measure, detect, transcribe };
  ChunksTask(std::shared_ptr<Model> model, ChunksRequest request, bool detects);
  void begin_recording();
  Status step(double budget_us) override;
  Status wait_for_device() override;
  [[nodiscard]] bool idles_in_pauses() const override { return phase_ != Phase::measure; }
  Status begin_again(const FrontEnd& front) override;
  void release() override;
  Status step_recording(double budget_us);
  Status measure(double budget_us);
  void cut();
  Status detect(double budget_us);
  Status transcribe(double budget_us);
  Status begin_together();
  Status end_together();
  void keep_windows(std::vector<Window> windows);
  Status give_chunk(const Chunk& chunk, std::vector<Segment> segments);
  Status end_recording(Status status);
  [[nodiscard]] CutRecording& recording() { return request_.recordings[now_]; }
  [[nodiscard]] std::span<const Chunk> together();

  ChunksRequest request_;
  const bool detects_;   // the language of each recording is detected first
  uint64_t frames_ = 0;  // of all recordings
  Phase phase_ = Phase::transcribe;
  size_t now_ = 0;  // index of the current recording
  std::optional<FrameEnergies> energies_;
  std::unique_ptr<LanguageDetection> detection_;
  std::vector<std::string> languages_;          // of the current recording
  size_t next_ = 0;                             // the first chunk of the group
  std::unique_ptr<TranscriptionTask> job_;      // of these
  std::vector<std::vector<Segment>> segments_;  // by chunk of these
};

}  // namespace lapilli::speech
