// Recordings on their way to text: what transcribe() pumps. Frames are made, windows are searched, in rounds: of each
// recording that has one the next window, together. Recordings may still be going on (SampleStream): they join a round
// as soon as a window is full.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "generate/batch_job.hpp"
#include "speech/transcribe.hpp"
#include "speech/window.hpp"
#include "speech/window_search.hpp"

namespace lapilli::speech {

// Of one thread at a time; cancel() may come from any. Whoever has the request's streams pushes into them between two
// calls of pump().
class TranscriptionJob {
 public:
  // Refuses as transcribe() does.
  static Result<std::unique_ptr<TranscriptionJob>> start(std::shared_ptr<Model> model, TranscribeRequest request);

  // As lapilli::Job's. Segments are given out here (TranscribeRequest::on_segment). Does not wait for the device, but
  // where a threshold asks for the average probability of ids that are drawn, or come of several beams: the scores of
  // every step are read back then.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  // Waits, bounded, for what pump() waits for; not for samples.
  void rest();
  // Ends at the next pump(), with what was finished.
  void cancel() { cancelled_ = true; }

  // It has ended because the device was lost. It holds nothing of model and device then.
  [[nodiscard]] bool is_interrupted() const { return interrupted_; }
  // Of one that is interrupted: goes on with this model, of the same files, on any device, and features there, with the
  // windows that were not finished. Refuses a model that cannot be the same one, and is interrupted as before then.
  Status resume(std::shared_ptr<Model> model, const std::shared_ptr<SoundFeatures>& features);
  // Of one that is interrupted: ends like one that was cancelled.
  Status abandon();

  // pump() has nothing to do before samples come, or an end.
  [[nodiscard]] bool is_hungry() const { return hungry_; }

  // Of all recordings; of those that are going on the frames so far.
  [[nodiscard]] uint64_t frames_done() const;
  [[nodiscard]] uint64_t frames() const;  // a recording that has failed counts as done
  // What there is so far.
  [[nodiscard]] const TranscribeOutput& output() const { return out_; }
  // After the end: what concerns the whole job; a job that was cancelled has ended well.
  [[nodiscard]] const Status& status() const { return status_; }
  // After the end: the result, once; also after an error, what was finished before.
  TranscribeOutput take() { return std::move(out_); }

 private:
  // One recording and how far it has come.
  struct Progress {
    // What a draft must not change.
    struct Before {
      std::vector<int32_t> prefix;
      bool detect_language = false;
      std::string language;
    };
    const Recording* recording = nullptr;
    std::vector<int32_t> prefix;
    bool detect_language = false, over = false;  // over: it has failed
    bool told = false;                           // that there will be no more of it
    uint64_t seek = 0;
    uint64_t end = 0;      // of the frames that were there when the window was begun
    uint64_t drafted = 0;  // the end of its last draft
    Before before;
    uint32_t windows = 0;
    std::vector<std::vector<int32_t>> written;  // ids of its segments, the prompt in front if it counts as one
    bool trusted = true;                        // its last window was taken at a low temperature
    std::shared_ptr<model::Features> frames;    // of the window that is read
    WindowSource source;
    Window window;
    WindowResult result;  // of the last attempt
  };
  enum class Phase : uint8_t { choose, read, detect, search, ended };

  TranscriptionJob(std::shared_ptr<Model> model, TranscribeRequest request);
  [[nodiscard]] Status check() const;
  [[nodiscard]] Status check_length(size_t i) const;
  Status begin();
  Status begin_recording(size_t i);

  Status step(double budget_us);
  Status choose();
  void tell_ends();
  void choose_drafts();
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
  Status finish_draft(size_t i);
  void forget_draft(size_t i);
  Result<Segment> segment_of(size_t i, const WindowPart& part, const std::vector<int32_t>& ids) const;
  [[nodiscard]] std::shared_ptr<const SegmentLooks> looks_of(const Progress& p, const WindowPart& part,
                                                             const std::vector<Word>& words) const;
  Status deliver(size_t i, const WindowPart& part, const std::vector<int32_t>& ids);
  Status set_aside(size_t i, Status status);
  void stop(Status status);
  void interrupt(Status status);
  void end(Status status);

  void give_prefix(Progress& p) const;
  [[nodiscard]] std::vector<int32_t> before_prefix(const Progress& p) const;
  [[nodiscard]] std::vector<int32_t> without_end(const std::vector<int32_t>& ids) const;
  [[nodiscard]] const ModelInfo& info() const { return info_; }
  [[nodiscard]] int32_t timestamp_begin() const;
  [[nodiscard]] bool is_last_attempt() const { return drafting_ || attempt_ + 1 == temperatures_.size(); }

  std::shared_ptr<Model> model_;  // until the end
  const ModelInfo info_;          // of the first one
  const SpeechSettings settings_;
  TranscribeRequest r_;
  std::vector<std::optional<double>> temperatures_;
  std::optional<WindowSearch> search_;
  Phase phase_ = Phase::choose;
  std::atomic<bool> cancelled_{false};
  bool hungry_ = false, interrupted_ = false;
  uint64_t frames_ = 0, frames_done_ = 0;  // at the end
  Status status_;
  std::vector<Progress> all_;
  std::vector<size_t> round_;  // recordings whose windows are worked on
  size_t next_ = 0;            // of the round: the one that is read
  bool drafting_ = false;      // the round is one of drafts
  std::vector<size_t> rows_;   // of the round: those that are searched now
  size_t attempt_ = 0;         // of temperatures_
  std::unique_ptr<BatchJob> detection_;
  TranscribeOutput out_;
};

}  // namespace lapilli::speech
