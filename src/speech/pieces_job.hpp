// The transcription of one recording in pieces, as transcribe_pieces() pumps it. Several pieces are heard together, as
// the recordings of a TranscriptionJob.
#pragma once

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "speech/language_detection.hpp"
#include "speech/silence.hpp"
#include "speech/transcription_job.hpp"

namespace lapilli::speech {

// Like TranscriptionJob, for one complete recording.
class PiecesJob {
 public:
  // Refuses requests that are invalid for any recording; true: the language must be detected first.
  static Result<bool> check(const std::shared_ptr<Model>& model, const TranscribeRequest& request);
  // Refuses conditioning on earlier text, and what TranscriptionJob refuses.
  static Result<std::unique_ptr<PiecesJob>> start(std::shared_ptr<Model> model, TranscribeRequest request,
                                                  std::vector<Piece> pieces, uint32_t at_a_time);

  // Calls on_segment, in order, once all pieces that are heard together are done.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  void rest();
  void cancel() { cancelled_ = true; }

  [[nodiscard]] bool is_interrupted() const { return interrupted_; }
  Status resume(std::shared_ptr<Model> model, const std::shared_ptr<SoundFeatures>& features);

  [[nodiscard]] uint64_t frames_done() const;
  [[nodiscard]] uint64_t frames() const { return frames_; }
  // Valid after the end. The transcript has the errors of the recording alone.
  [[nodiscard]] const Status& status() const { return status_; }
  TranscribeOutput take() { return std::move(out_); }

 private:
  PiecesJob(std::shared_ptr<Model> model, TranscribeRequest request, std::vector<Piece> pieces, uint32_t at_a_time);
  Status step(double budget_us);
  Status detect(double budget_us);
  Status begin_together();
  Status end_together();
  Status give(const Piece& piece, std::vector<Segment> heard);
  [[nodiscard]] std::span<const Piece> together() const;
  [[nodiscard]] FrameSource& all() const { return *request_.recordings.front().frames; }
  void stop(Status status);
  void end(Status status);

  std::shared_ptr<Model> model_;  // until the end
  const ModelInfo info_;          // of the first model
  TranscribeRequest request_;
  const std::vector<Piece> pieces_;
  const uint32_t at_a_time_;
  const uint64_t frames_;
  std::atomic<bool> cancelled_{false};
  bool ended_ = false, interrupted_ = false;
  Status status_;
  bool detects_ = false;  // the language must be detected first
  std::unique_ptr<LanguageDetection> detection_;
  size_t next_ = 0;                          // the first of the pieces heard together
  std::unique_ptr<TranscriptionJob> job_;    // of these
  std::vector<std::vector<Segment>> heard_;  // by piece of these
  TranscribeOutput out_;
};

}  // namespace lapilli::speech
