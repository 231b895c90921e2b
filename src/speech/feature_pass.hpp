// One run of the device over some frames of sound: samples go in, numbers of each frame come out.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "formats/sound_config.hpp"
#include "runtime/bind.hpp"
#include "runtime/upload.hpp"
#include "runtime/weights.hpp"

namespace lapilli::speech {

// The tables of a transform on a device: the weights of a pass's graph, by number.
enum class SoundTable : uint32_t { transform, filters };
Result<std::shared_ptr<const Weights>> load_tables(const std::shared_ptr<vulkan::Device>& device,
                                                   const SoundConfig& config);

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

// Of one thread at a time.
class FeaturePass {
 public:
  static Result<std::unique_ptr<FeaturePass>> create(const std::shared_ptr<vulkan::Device>& device,
                                                     std::shared_ptr<const Weights> tables, const SoundConfig& config,
                                                     const PassShape& shape);
  // Waits for the device. The rows of `to` follow one another.
  Status run(const PassInput& input, std::span<float> to);
  [[nodiscard]] const PassShape& shape() const { return shape_; }

 private:
  FeaturePass() = default;
  Status make_readback(graph::TensorId output);
  Status put(const PassInput& input);

  PassShape shape_;
  uint64_t cols_ = 0, stride_ = 0;  // of the output
  std::shared_ptr<const Weights> tables_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<BoundPlan> plan_;
  std::unique_ptr<UploadArea> area_;
  vulkan::Buffer results_;
  std::unique_ptr<vulkan::CommandRecording> copy_;
};

}  // namespace lapilli::speech
