// What a model's directory says of sound and pictures: read while the model loads, and the same on any device.
#pragma once

#include <optional>

#include "formats/sound_config.hpp"
#include "generate/picture_reader.hpp"

namespace lapilli::api {

struct FrontEnd {
  std::optional<SoundConfig> sound;         // of models that hear
  std::optional<PictureSettings> pictures;  // of models that see
  Status status;                            // of one that hears or sees: why it has neither
};

// A model works without one, with features that a program makes itself; so what is wrong is said to whom needs it.
FrontEnd read_front_end(const Model& model, const Files& files);

// The model's files agree on what it hears. Errors: it hears nothing, or they do not.
Result<SoundConfig> read_sound(const Model& model, const Files& files);

}  // namespace lapilli::api
