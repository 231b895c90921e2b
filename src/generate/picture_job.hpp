// A model's texts or classes for pictures. A state machine that never waits for the device; holds some pictures at a
// time, as the model's sources.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "generate/batch_job.hpp"
#include "generate/forward_job.hpp"
#include "generate/picture_reader.hpp"

namespace lapilli {

struct PictureJobRequest {
  size_t pictures = 0;
  // Makes the source of a picture, or fails for that picture alone. Called in order; after a lost device, again for
  // those that had not ended.
  std::function<Result<std::shared_ptr<const model::Features>>(const PictureReader& reader, size_t picture)> source;
  PictureOptions options;
  // Called with each result in the calling thread.
  std::function<void(size_t picture, const PictureResult& result)> on_result;
};

// For one thread at a time; cancel() may come from any.
class PictureJob {
 public:
  // Refuses options that the model does not support, and a prompt without a tokenizer.
  static Result<std::unique_ptr<PictureJob>> start(std::shared_ptr<const PictureReader> reader,
                                                   PictureJobRequest request);

  // As Job's. Prepares at least one picture on the host.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  void rest();
  // Ends at the next pump(), with the results so far.
  void cancel() { cancelled_ = true; }
  [[nodiscard]] uint64_t done() const { return done_; }
  [[nodiscard]] uint64_t total() const { return results_.size(); }
  [[nodiscard]] const GenerateStats& stats() const { return stats_; }
  // Valid after the end: the error of the job as a whole; a cancelled job has none.
  [[nodiscard]] const Status& status() const { return status_; }
  // After the end, once: a result for each picture; ErrorCode::cancelled for those that had not ended.
  std::vector<PictureResult> take() { return std::move(results_); }

  // The job ended because the device was lost, and holds nothing of model and device.
  [[nodiscard]] bool is_interrupted() const { return interrupted_; }
  // Continues an interrupted job with this model, of the same files. Refuses one that cannot be the same.
  Status resume(std::shared_ptr<const PictureReader> reader);
  // Ends an interrupted job as if cancelled.
  Status abandon();

 private:
  enum class Phase : uint8_t { prepare, write, classify, ended };
  PictureJob(std::shared_ptr<const PictureReader> reader, PictureJobRequest request);
  Status read_options();
  Status step(double budget_us);
  [[nodiscard]] size_t at_a_time() const;
  Status prepare(double budget_us);
  void prepare_one();
  Status begin();
  Status begin_writing();
  Status begin_classifying();
  Status write(double budget_us);
  Status classify();
  PictureResult result_of(GenerateOutput& out, size_t row) const;
  void finish(size_t picture, PictureResult result);
  void let_go();
  void stop(Status status);

  std::shared_ptr<const PictureReader> reader_;  // until the end
  const ModelInfo info_;
  PictureJobRequest request_;
  std::vector<int32_t> prompt_;
  Phase phase_ = Phase::prepare;
  std::atomic<bool> cancelled_{false};
  bool interrupted_ = false;
  Status status_;
  size_t next_ = 0;            // the next picture to make a source of
  std::vector<size_t> round_;  // pictures being processed
  std::vector<std::shared_ptr<const model::Features>> sources_;
  std::unique_ptr<BatchJob> batch_;
  std::unique_ptr<ForwardJob> pass_;  // serves all rounds; the last round is padded with its last picture
  size_t pass_sources_ = 0;
  std::vector<bool> over_;  // by picture
  uint64_t done_ = 0;
  GenerateStats stats_;
  std::vector<PictureResult> results_;
};

}  // namespace lapilli
