// The transcription of recordings, as transcribe() pumps it. Works in rounds: makes the frames of the next window of
// each recording that has one, and searches these windows together. Recordings may be in progress (SampleStream): they
// join a round once a window is full.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "generate/batch.hpp"
#include "speech/speech_task.hpp"
#include "speech/window.hpp"
#include "speech/window_search.hpp"

namespace lapilli::speech {

// Samples are pushed into the request's streams between two calls of pump(), which does not wait for the device, except
// where a threshold needs the average probability of sampled ids or of beam search: every step's scores are read back
// then. Counts frames: of recordings in progress, those so far; a failed recording counts as done.
class TranscriptionTask : public SpeechTask {
 public:
  // Refuses as transcribe() does.
  static Result<std::unique_ptr<TranscriptionTask>> start(std::shared_ptr<Model> model, TranscribeRequest request);

  [[nodiscard]] TaskProgress progress() const override;

 private:
  // A recording and its progress.
  struct Progress {
    // State that an interim result must not change.
    struct Before {
      std::vector<int32_t> prefix;
      bool detect_language = false;
      std::string language;
    };
    const Recording* recording = nullptr;
    std::vector<int32_t> prefix;
    bool detect_language = false, over = false;  // over: it has failed
    bool reported = false;                       // on_end was called
    uint64_t seek = 0;
    uint64_t end = 0;          // frames available when the window was begun
    uint64_t interim_end = 0;  // end of its last interim result
    Before before;
    uint32_t windows = 0;
    std::vector<std::vector<int32_t>> written;  // ids of its segments, preceded by the prompt if that counts as one
    bool trusted = true;                        // its last window was taken at a low temperature
    std::shared_ptr<model::Features> frames;    // of the window being read
    WindowSource source;
    Window window;
    WindowResult result;  // of the last attempt
  };
  enum class Phase : uint8_t { choose, read, detect, search };

  TranscriptionTask(std::shared_ptr<Model> model, TranscribeRequest request);
  [[nodiscard]] Status check() const;
  [[nodiscard]] Status check_length(size_t i) const;
  Status begin();
  Status begin_recording(size_t i);

  Status step(double budget_us) override;
  Status wait_for_device() override;
  Status begin_again(const FrontEnd& front) override;
  void release() override;
  Status choose();
  void report_ends();
  void choose_interim();
  [[nodiscard]] bool is_done(const Progress& p) const;
  [[nodiscard]] bool is_ready(const Progress& p) const;
  Status read();
  Result<bool> read_one(Progress& p) const;
  Status open_window(size_t i);
  Status begin_detection();
  Status detect(double budget_us);
  Status end_detection(GenerateOutput& out);
  void begin_attempts();
  Status search(double budget_us);
  void begin_attempt();
  Status end_attempt();
  Status judge(Progress& p, bool& again);
  Status finish_round();
  Status finish_window(size_t i);
  Status keep_window(size_t i, const std::vector<int32_t>& ids);
  [[nodiscard]] SplitWindow split(const Progress& p, const std::vector<int32_t>& ids) const;
  Status finish_interim(size_t i);
  void forget_interim(size_t i);
  Result<Segment> segment_of(size_t i, const WindowPart& part, const std::vector<int32_t>& ids) const;
  [[nodiscard]] std::shared_ptr<const SegmentAttention> attention_of(const Progress& p, const WindowPart& part,
                                                                     const std::vector<Word>& words) const;
  Status deliver(size_t i, const WindowPart& part, const std::vector<int32_t>& ids);
  Status set_aside(size_t i, Status status);

  void give_prefix(Progress& p) const;
  [[nodiscard]] std::vector<int32_t> before_prefix(const Progress& p) const;
  [[nodiscard]] std::vector<int32_t> without_end(const std::vector<int32_t>& ids) const;
  [[nodiscard]] int32_t timestamp_begin() const;
  [[nodiscard]] bool is_last_attempt() const { return interim_ || attempt_ + 1 == temperatures_.size(); }

  const SpeechSettings settings_;
  TranscribeRequest r_;
  std::vector<std::optional<double>> temperatures_;
  std::optional<WindowSearch> search_;
  Phase phase_ = Phase::choose;
  std::vector<Progress> all_;
  std::vector<size_t> round_;  // recordings whose windows are being processed
  size_t next_ = 0;            // index in the round of the one being read
  bool interim_ = false;       // the round is of interim results
  std::vector<size_t> rows_;   // of the round: those being searched
  size_t attempt_ = 0;         // index in temperatures_
  std::unique_ptr<Batch> detection_;
};

}  // namespace lapilli::speech
