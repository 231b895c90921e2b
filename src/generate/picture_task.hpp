// A model's texts or classes for pictures. Holds some pictures at a time, as the model's sources.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "generate/batch.hpp"
#include "generate/forward_run.hpp"
#include "generate/picture_reader.hpp"
#include "generate/task.hpp"

namespace lapilli {

struct PictureTaskRequest {
  size_t pictures = 0;
  // Makes the source of a picture, or fails for that picture alone. Called in order; after a lost device, again for
  // those that had not ended.
  std::function<Result<std::shared_ptr<const model::Features>>(const PictureReader& reader, size_t picture)> source;
  PictureOptions options;
  // Called with each result in the calling thread.
  std::function<void(size_t picture, const PictureResult& result)> on_result;
};

// Counts pictures. pump() prepares at least one on the host.
class PictureTask : public Task {
 public:
  // Refuses options that the model does not support, and a prompt without a tokenizer.
  static Result<std::unique_ptr<PictureTask>> start(std::shared_ptr<const PictureReader> reader,
                                                    PictureTaskRequest request);

  [[nodiscard]] TaskProgress progress() const override { return {done_, over_.size(), tokens_}; }
  [[nodiscard]] const GenerateStats& stats() const { return stats_; }
  // After the end, once: a result for each picture; ErrorCode::cancelled for those that had not ended.
  std::vector<PictureResult> take() { return std::move(results_); }

 private:
  enum class Phase : uint8_t { prepare, write, classify };
  PictureTask(std::shared_ptr<const PictureReader> reader, PictureTaskRequest request);
  Status read_options();
  Status step(double budget_us) override;
  Status wait_for_device() override;
  Status begin_again(const FrontEnd& front) override;
  void release() override;
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

  std::shared_ptr<const PictureReader> reader_;  // until the end
  PictureTaskRequest request_;
  std::vector<int32_t> prompt_;
  Phase phase_ = Phase::prepare;
  size_t next_ = 0;            // the next picture to make a source of
  std::vector<size_t> round_;  // pictures being processed
  std::vector<std::shared_ptr<const model::Features>> sources_;
  std::unique_ptr<Batch> batch_;
  std::unique_ptr<ForwardRun> pass_;  // serves all rounds; the last round is padded with its last picture
  size_t pass_sources_ = 0;
  std::vector<bool> over_;  // by picture
  uint64_t done_ = 0, tokens_ = 0;
  GenerateStats stats_;
  std::vector<PictureResult> results_;
};

}  // namespace lapilli
