// A device run over some frames of sound, from samples to per-frame values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "formats/sound_config.hpp"
#include "runtime/check/self_test.hpp"
#include "runtime/run/bind.hpp"
#include "runtime/run/upload.hpp"
#include "runtime/weights/weights.hpp"

namespace lapilli::speech {

// Tables of a transform on a device, numbered as the weights of a pass's graph.
enum class SoundTable : uint32_t { transform, filters };
std::vector<WeightSource> sound_tables(const SoundConfig& config);

// Output of a pass for each frame.
enum class FrameOutput : uint8_t {
  features,  // SoundConfig::mel_bins values, as the encoder takes them
  loudest,   // only the power of its loudest band
};
struct PassShape {
  uint32_t frames = 0;  // most frames of a run
  FrameOutput output = FrameOutput::features;
};

// Input of a run. Samples beyond its frames may be any finite values.
struct PassInput {
  std::span<const float> samples;  // (frames - 1) * hop + frame_length of them
  float floor = 0;                 // lower bound on the bands' power (log_mel)
  uint32_t frames = 0;
};

// For one thread at a time; may be dropped at any time.
class FeaturePass {
 public:
  // Compiles nothing yet.
  FeaturePass(std::shared_ptr<vulkan::Device> device, std::shared_ptr<const Weights> tables, const SoundConfig& config,
              const PassShape& shape);
  // True: begin() may be called. False: kernels are on trial, or an earlier run goes on. Does not wait.
  Result<bool> ready();
  // Copies its input.
  Status begin(const PassInput& input);
  // Continues submitting. True: the run is done, and rows() may be called.
  Result<bool> poll();
  // Copies the result, row after row.
  Status rows(std::span<float> to) const;
  // Waits, bounded, for what ready() or poll() waits for.
  Status wait();
  [[nodiscard]] const PassShape& shape() const { return shape_; }

 private:
  Status bind(std::shared_ptr<const Plan> plan);
  Status make_readback();
  Status put(const PassInput& input);

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<const Weights> tables_;
  PassShape shape_;
  graph::Graph graph_;
  graph::TensorId output_;
  std::optional<TestedCompilation> compilation_;  // until there is a plan
  uint32_t frames_ = 0;                           // of this run
  std::unique_ptr<Session> session_;
  std::unique_ptr<BoundPlan> plan_;
  std::unique_ptr<UploadArea> area_;
  vulkan::Buffer results_;
  std::unique_ptr<vulkan::CommandRecording> copy_;
  std::optional<PacedSubmitter> submitter_;
};

}  // namespace lapilli::speech
