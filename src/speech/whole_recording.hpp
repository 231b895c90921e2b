// What models that take a recording as a whole (Speech2Text, Moonshine) read of it: one source, of any length up to the
// model's limit.
#pragma once

#include <memory>

#include "generate/generate.hpp"
#include "speech/sound_features.hpp"

namespace lapilli::speech {

// Whether the model hears, and takes recordings of any length up to a limit rather than windows of one length.
bool takes_whole_recordings(const Model& model);

// How long a recording such a model takes. Holds nothing of the device.
class WholeLimits {
 public:
  WholeLimits(const Model& model, SoundConfig config);
  // Of the longest recording that the model takes.
  [[nodiscard]] uint64_t most_samples() const;
  // Why one of such a length ("70.0 s") is refused.
  [[nodiscard]] Failure too_long(const std::string& length) const;
  // Errors, said in seconds: a recording that is too long for the model,
  [[nodiscard]] Status check_longest(uint64_t samples) const;
  // or too short for its convolutions.
  [[nodiscard]] Status check(uint64_t samples) const;
  [[nodiscard]] const SoundConfig& config() const { return config_; }
  // So many rows of features a recording becomes, or of samples.
  [[nodiscard]] uint64_t rows(uint64_t samples) const;

 private:
  [[nodiscard]] uint64_t most_rows() const;

  model::FeatureInput input_;
  std::string family_;
  SoundConfig config_;
};

// Of one thread at a time. One recording is read at a time: begin() says which, poll() goes on with it without waiting
// for the device.
class WholeRecordings {
 public:
  // The configuration must be the model's (check_sound_config).
  static Result<std::unique_ptr<WholeRecordings>> create(const std::shared_ptr<Model>& model, SoundConfig config);
  [[nodiscard]] const WholeLimits& limits() const { return limits_; }

  // Refuses what the limits do. What the sound points to must live until poll() has said that it is done.
  Status begin(const Sound& sound);
  // True: features() are there. An error: samples that are no sound.
  Result<bool> poll();
  // Waits, bounded, for what poll() was waiting for.
  Status rest();
  // What the encoder takes: filter banks, or the samples themselves. Once.
  std::shared_ptr<const model::Features> features() { return std::move(made_); }

  // The same, waiting.
  Result<std::shared_ptr<const model::Features>> source(const Sound& sound);

 private:
  explicit WholeRecordings(WholeLimits limits) : limits_(std::move(limits)) {}

  const WholeLimits limits_;
  std::unique_ptr<SoundFeatures> features_;  // null: the samples are the features
  Sound sound_;
  std::shared_ptr<model::Features> made_;
};

}  // namespace lapilli::speech
