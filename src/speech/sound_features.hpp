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

// Numbers that are no sound are an error, which counts them from `first` on.
Status check_samples(std::span<const float> samples, uint64_t first);

// Of one thread at a time. One thing is made at a time: begin_...() says what, poll() goes on with it without waiting
// for the device, and whatever was begun before is dropped. What it reads from and writes to must live until then.
class SoundFeatures {
 public:
  // Refuses a configuration whose features are the samples. The device is asked for nothing yet.
  static Result<std::unique_ptr<SoundFeatures>> create(std::shared_ptr<vulkan::Device> device, SoundConfig config);
  [[nodiscard]] const SoundConfig& config() const { return config_; }
  [[nodiscard]] uint64_t frames(uint64_t samples) const { return config_.frames(samples); }

  // log_mel: the power of the loudest band of frames [first, first + count); found() has it afterwards.
  void begin_loudest(const Sound& sound, uint64_t first, uint64_t count);
  // log_mel: frames from `first` on, as many as `to` has room for (mel_bins numbers each); `loudest` is that of the
  // whole recording, or as much of it as is known.
  Status begin_frames(const Sound& sound, uint64_t first, float loudest, std::span<float> to);
  // filter_banks: all frames, normalized over all of them. Refuses more frames than such a model's encoder takes.
  Status begin_all(const Sound& sound, std::span<float> to);

  // Goes on, by one run of the device at most. True: all of it is done.
  Result<bool> poll();
  // Waits, bounded, for what poll() was waiting for.
  Status rest();
  [[nodiscard]] float found() const { return task_.most; }

  // The same, waiting. All frames, [frames, mel_bins]: log_mel of its own loudest.
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
    FeaturePass* pass = nullptr;  // of `now` frames
    bool running = false;
    float most = 0;
  };
  SoundFeatures() = default;
  Result<bool> load_tables();
  Result<bool> begin_part();
  Status end_part();
  Status wait();
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
  std::vector<float> of_frames_;  // the loudest band of each
  Task task_;
};

}  // namespace lapilli::speech
