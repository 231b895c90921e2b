// One run of the device over some frames of sound: samples go in, numbers of each frame come out.
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

// The tables of a transform on a device: the weights of a pass's graph, by number.
enum class SoundTable : uint32_t { transform, filters };
std::vector<WeightSource> sound_tables(const SoundConfig& config);

// What a pass tells of a frame.
enum class FrameOutput : uint8_t {
  features,  // SoundConfig::mel_bins numbers, as the encoder takes them
  loudest,   // the power of its loudest band alone
};
struct PassShape {
  uint32_t frames = 0;  // at most, in a run
  FrameOutput output = FrameOutput::features;
};

// Words of a pass's input. Those behind the frames of a run may hold anything finite.
struct PassInput {
  std::span<const float> samples;  // (frames - 1) * hop + frame_length of them
  float floor = 0;                 // no band counts as quieter (log_mel)
  uint32_t frames = 0;
};

// Of one thread at a time; may be dropped at any time.
class FeaturePass {
 public:
  // Compiles nothing yet.
  FeaturePass(std::shared_ptr<vulkan::Device> device, std::shared_ptr<const Weights> tables, const SoundConfig& config,
              const PassShape& shape);
  // True: begin() may be called. False: kernels are on trial, or an earlier run goes on. Does not wait.
  Result<bool> ready();
  // What it is given is copied.
  Status begin(const PassInput& input);
  // Goes on submitting. True: it is done, and rows() are there.
  Result<bool> poll();
  // The rows of `to` follow one another.
  Status rows(std::span<float> to) const;
  // Waits, bounded, for what ready() or poll() waits for.
  Status rest();
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
