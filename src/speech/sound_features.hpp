// The features that a model's encoder takes, computed from samples on the device in parts, so that memory does not grow
// with the recording.
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

// The input of feature extraction: `samples` samples of the source, padded with silence if it ends early.
struct Sound {
  audio::SampleSource* source = nullptr;
  uint64_t samples = 0;
};

// Fails on values that are no sound; the message counts samples from `first` on.
Status check_samples(std::span<const float> samples, uint64_t first);

// For one thread at a time. Does one task at a time: begin_...() starts it and drops any earlier one, poll() continues
// it without waiting for the device. The task's source and destination must live until it is done.
class SoundFeatures {
 public:
  // Refuses a configuration whose features are the samples. Does not use the device yet.
  static Result<std::unique_ptr<SoundFeatures>> create(std::shared_ptr<vulkan::Device> device, SoundConfig config);
  [[nodiscard]] const SoundConfig& config() const { return config_; }
  [[nodiscard]] uint64_t frames(uint64_t samples) const { return config_.frames(samples); }

  // log_mel: the power of the loudest band in frames [first, first + count), which found() then returns.
  void begin_loudest(const Sound& sound, uint64_t first, uint64_t count);
  // log_mel: frames from `first` on, as many as `to` has room for (mel_bins values each); `loudest` is that of the
  // whole recording, or of the part known so far.
  Status begin_frames(const Sound& sound, uint64_t first, float loudest, std::span<float> to);
  // filter_banks: all frames, normalized over all of them. Refuses more frames than such a model's encoder takes.
  Status begin_all(const Sound& sound, std::span<float> to);

  // Continues with at most one device run. True: the whole task is done.
  Result<bool> poll();
  // Waits, bounded, for what poll() was waiting for.
  Status wait();
  [[nodiscard]] float found() const { return task_.most; }

  // Blocking versions. make_all() makes all frames, [frames, mel_bins]; log_mel relative to their own loudest.
  Result<float> loudest(const Sound& sound, uint64_t first, uint64_t count);
  Result<float> loudest(const Sound& sound) { return loudest(sound, 0, frames(sound.samples)); }
  Status make(const Sound& sound, uint64_t first, float loudest, std::span<float> to);
  Result<std::vector<float>> make_all(const Sound& sound);

 private:
  struct Task {
    Sound sound;
    FrameOutput output = FrameOutput::features;
    uint64_t first = 0, count = 0;  // frames
    uint64_t most_at_a_time = 0;
    float floor = 0;
    std::span<float> to;

    uint64_t done = 0, now = 0;
    FeaturePass* pass = nullptr;  // for `now` frames
    bool running = false;
    float most = 0;
  };
  SoundFeatures() = default;
  Result<bool> load_tables();
  Result<bool> begin_part();
  Status end_part();
  Status run_to_end();
  Result<FeaturePass*> pass(uint64_t frames, FrameOutput output);
  Status read_part(const Sound& sound, uint64_t first, uint64_t count);
  Status reflect(const Sound& sound, int64_t begin);

  std::shared_ptr<vulkan::Device> device_;
  SoundConfig config_;
  std::vector<WeightSource> sources_;  // until the tables are there
  std::unique_ptr<WeightsLoading> loading_;
  std::shared_ptr<const Weights> tables_;
  std::map<std::pair<uint32_t, FrameOutput>, std::unique_ptr<FeaturePass>> passes_;
  std::vector<float> samples_;    // of the frames of a pass
  std::vector<float> of_frames_;  // the loudest band of each frame
  Task task_;
};

}  // namespace lapilli::speech
