// Input of models that take a recording as a whole (Speech2Text, Moonshine): one source, of any length up to the
// model's limit.
#pragma once

#include <memory>

#include "generate/generate.hpp"
#include "speech/sound_features.hpp"

namespace lapilli::speech {

// True if the model takes sound, of any length up to a limit rather than in windows of one length.
bool takes_offline_recordings(const Model& model);

// Length limits of such a model's recordings. Holds no device resources.
class OfflineLimits {
 public:
  OfflineLimits(const Model& model, SoundConfig config);
  // Length of the longest recording that the model takes.
  [[nodiscard]] uint64_t most_samples() const;
  // The error for a recording of this length ("70.0 s").
  [[nodiscard]] Failure too_long(const std::string& length) const;
  // Errors, with times in seconds: a recording is too long for the model,
  [[nodiscard]] Status check_longest(uint64_t samples) const;
  // or too short for its convolutions.
  [[nodiscard]] Status check(uint64_t samples) const;
  [[nodiscard]] const SoundConfig& config() const { return config_; }
  // Rows of features, or samples, that a recording becomes.
  [[nodiscard]] uint64_t rows(uint64_t samples) const;

 private:
  [[nodiscard]] uint64_t most_rows() const;

  model::FeatureInput input_;
  std::string family_;
  SoundConfig config_;
};

// For one thread at a time. Reads one recording at a time: begin() selects it, poll() continues without waiting for the
// device.
class OfflineRecordings {
 public:
  // The configuration must be the model's (check_sound_config).
  static Result<std::unique_ptr<OfflineRecordings>> create(const std::shared_ptr<Model>& model, SoundConfig config);
  [[nodiscard]] const OfflineLimits& limits() const { return limits_; }

  // Refuses what the limits do. The sound's source must live until poll() returns true.
  Status begin(const Sound& sound);
  // True: features() are ready. Fails on samples that are no sound.
  Result<bool> poll();
  // Waits, bounded, for what poll() was waiting for.
  Status wait();
  // The encoder's input: filter banks, or the samples themselves. Call once.
  std::shared_ptr<const model::Features> features() { return std::move(made_); }

  // Blocking version.
  Result<std::shared_ptr<const model::Features>> source(const Sound& sound);

 private:
  explicit OfflineRecordings(OfflineLimits limits) : limits_(std::move(limits)) {}

  const OfflineLimits limits_;
  std::unique_ptr<SoundFeatures> features_;  // null: the samples are the features
  Sound sound_;
  std::shared_ptr<model::Features> made_;
};

}  // namespace lapilli::speech
