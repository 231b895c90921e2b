// Loads a published model onto a device, as Model::load() does to its end: a state machine that never waits for the
// device.
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

// For one thread at a time; cancel() may come from any. May be dropped at any time.
class ModelLoading {
 public:
  // Reads nothing yet.
  ModelLoading(std::shared_ptr<vulkan::Device> device, Files files, const LoadOptions& options);
  ~ModelLoading();

  // Continues for about this long, at least one step: configuration, a part of a tensor, tokenizer. True once it has
  // ended (well or not). While the device is paused, only ends a cancelled load.
  bool pump(double budget_us = std::numeric_limits<double>::infinity());
  // Waits, bounded, for what pump() waits for, or for the end of a pause.
  void wait();
  // Pipelines that searches of this network used in an earlier run; empty until the first pump() has read the network.
  [[nodiscard]] const std::vector<PlannedPipeline>& expected_pipelines() const { return expected_; }
  // Ends at the next pump().
  void cancel() { cancelled_ = true; }
  // Stored bytes of the weights; 0 until they are known.
  [[nodiscard]] uint64_t bytes_done() const { return bytes_done_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  // Valid after the end: the error, if any.
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
  // Until the weights are loaded; each points into the one before.
  std::optional<Published> published_;
  std::vector<WeightSource> sources_;
  std::unique_ptr<WeightsLoading> weights_;
  std::optional<Result<std::unique_ptr<Tokenizer>>> tokenizer_;  // once it was read
};

}  // namespace lapilli
