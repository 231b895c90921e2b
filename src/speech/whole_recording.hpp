// Recordings to text by models that take each as a whole (Speech2Text, Moonshine): one source, one text; no windows, no
// timestamps, no languages to choose from. Each recording is treated as if it were alone.
#pragma once

#include <functional>
#include <memory>

#include "generate/generate.hpp"
#include "speech/sound_features.hpp"
#include "speech/transcribe.hpp"

namespace lapilli::speech {

// Whether the model hears, and takes recordings of any length up to a limit rather than windows of one length.
bool takes_whole_recordings(const Model& model);

struct WholeRequest {
  Sound sound;                  // samples at SoundConfig::sampling_rate
  GenerationConfig options;     // beams, max_new_tokens...; what they leave open the model's files say
  std::function<bool()> go_on;  // asked often; false cancels
};
struct WholeTranscript {
  Segment segment;   // the whole recording
  bool cut = false;  // the text has no end: it is as long as the options or the decoder's positions allow
};

// Of one thread at a time.
class WholeRecordings {
 public:
  // The configuration must be the model's (check_sound_config).
  static Result<std::unique_ptr<WholeRecordings>> create(std::shared_ptr<Model> model, SoundConfig config);
  // Of the longest recording that the model takes.
  [[nodiscard]] uint64_t most_samples() const;
  // Why one of such a length ("70.0 s") is refused.
  [[nodiscard]] Error too_long(const std::string& length) const;
  // What the encoder takes: filter banks, or the samples themselves. Errors: a recording that is too long for the model
  // or too short for its convolutions, samples that are no sound.
  Result<std::shared_ptr<const model::Features>> source(const Sound& sound);
  // Blocks.
  Result<WholeTranscript> transcribe(const WholeRequest& request);

 private:
  WholeRecordings() = default;
  [[nodiscard]] uint64_t most_rows() const;
  Status check_length(const Sound& sound) const;
  Result<WholeTranscript> transcript(const WholeRequest& request, const Hypothesis& said) const;

  std::shared_ptr<Model> model_;
  SoundConfig config_;
  std::unique_ptr<SoundFeatures> features_;  // null: the samples are the features
};

}  // namespace lapilli::speech
