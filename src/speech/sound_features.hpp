// The features that a model's encoder takes, made of samples on the device, a part of the frames at a time: memory does
// not grow with the recording.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "audio/samples.hpp"
#include "formats/sound_config.hpp"
#include "speech/feature_pass.hpp"

namespace lapilli::speech {

// A recording as features are made of it: `samples` of the source, and silence up to so many if it ends before.
struct Sound {
  audio::SampleSource* source = nullptr;
  uint64_t samples = 0;
};

// Of one thread at a time.
class SoundFeatures {
 public:
  // Refuses a configuration whose features are the samples.
  static Result<std::unique_ptr<SoundFeatures>> create(std::shared_ptr<vulkan::Device> device, SoundConfig config);
  [[nodiscard]] const SoundConfig& config() const { return config_; }
  [[nodiscard]] uint64_t frames(uint64_t samples) const;

  // log_mel: the power of the loudest band of frames [first, first + count).
  Result<float> loudest(const Sound& sound, uint64_t first, uint64_t count);
  Result<float> loudest(const Sound& sound) { return loudest(sound, 0, frames(sound.samples)); }
  // log_mel: frames from `first` on, as many as `to` has room for (mel_bins numbers each); `loudest` is that of the
  // whole recording.
  Status make(const Sound& sound, uint64_t first, float loudest, std::span<float> to);
  // All frames, [frames, mel_bins]: log_mel of its own loudest, filter_banks normalized over all of them. Refuses more
  // frames than such a model's encoder takes.
  Result<std::vector<float>> make_all(const Sound& sound);

 private:
  SoundFeatures() = default;
  Result<FeaturePass*> pass(uint64_t frames, FrameOutput output);
  Status read_part(const Sound& sound, uint64_t first, uint64_t count);
  Status reflect(const Sound& sound, int64_t begin);
  Result<std::vector<float>> normalized(const Sound& sound);

  std::shared_ptr<vulkan::Device> device_;
  SoundConfig config_;
  std::shared_ptr<const Weights> tables_;
  std::map<std::pair<uint32_t, FrameOutput>, std::unique_ptr<FeaturePass>> passes_;
  std::vector<float> samples_;  // of the frames of a pass
};

}  // namespace lapilli::speech
