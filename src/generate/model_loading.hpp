// A published model on its way onto a device, which Model::load() follows to its end: a state machine that never waits
// for the device.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "generate/generate.hpp"
#include "generate/published.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/weights/weights.hpp"

namespace lapilli {

// Of one thread at a time; cancel() may come from any. May be dropped at any time.
class ModelLoading {
 public:
  // Reads nothing yet.
  ModelLoading(std::shared_ptr<vulkan::Device> device, Files files, const LoadOptions& options);
  ~ModelLoading();

  // Goes on for about so long, at least one step: configuration, a part of a tensor, tokenizer. True once it has ended
  // (well or not). Does nothing while the device is paused, but to end one that was cancelled.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  // Waits, bounded, for what pump() waits for, or for the end of a pause.
  void rest();
  // What a search of this network needed in an earlier run; none until the network is known, behind the first pump().
  [[nodiscard]] const std::vector<PlannedPipeline>& expected_pipelines() const { return expected_; }
  // Ends at the next pump().
  void cancel() { cancelled_ = true; }
  // Of the weights, as stored; 0 until they are known.
  [[nodiscard]] uint64_t bytes_done() const { return bytes_done_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  // After the end: whether it ended well.
  [[nodiscard]] const Status& status() const { return status_; }
  // After the end: the model, once.
  Result<std::shared_ptr<Model>> take();

 private:
  enum class Phase : uint8_t { read, weights, settle, ended };
  [[nodiscard]] vulkan::Device& device() const;
  Status step();
  [[nodiscard]] Result<WeightFormat> chosen_format() const;
  Status read();
  Status load_weights();
  void read_tokenizer();
  Status settle();
  void end(Status status);

  Files files_;
  LoadOptions options_;
  Phase phase_ = Phase::read;
  std::atomic<bool> cancelled_{false};
  bool blocked_ = false, taken_ = false;
  Status status_;
  uint64_t bytes_done_ = 0, bytes_ = 0;
  std::vector<PlannedPipeline> expected_;
  std::shared_ptr<Model> model_;
  // Until the weights are there; each points into the one before.
  std::optional<Published> published_;
  std::vector<WeightSource> sources_;
  std::unique_ptr<WeightsLoading> weights_;
  std::optional<Result<std::unique_ptr<Tokenizer>>> tokenizer_;  // once it was read
};

}  // namespace lapilli
