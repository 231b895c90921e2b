// What models that take a recording as a whole (Speech2Text, Moonshine) read of it: one source, of any length up to the
// model's limit.
#pragma once

#include <memory>

#include "generate/generate.hpp"
#include "speech/sound_features.hpp"

namespace lapilli::speech {

// Whether the model hears, and takes recordings of any length up to a limit rather than windows of one length.
bool takes_whole_recordings(const Model& model);

// Of one thread at a time. One recording is read at a time: begin() says which, poll() goes on with it without waiting
// for the device.
class WholeRecordings {
 public:
  // The configuration must be the model's (check_sound_config).
  static Result<std::unique_ptr<WholeRecordings>> create(const std::shared_ptr<Model>& model, SoundConfig config);
  [[nodiscard]] const SoundConfig& config() const { return config_; }

  // An error: a recording that is too long for the model, or too short for its convolutions.
  [[nodiscard]] Status check_length(uint64_t samples) const;
  // What the sound points to must live until poll() has said that it is done.
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
  WholeRecordings() = default;

  model::FeatureInput input_;
  std::string family_;
  SoundConfig config_;
  std::unique_ptr<SoundFeatures> features_;  // null: the samples are the features
  Sound sound_;
  std::shared_ptr<model::Features> made_;
};

}  // namespace lapilli::speech
