// Settings for sound, pictures and the texts of encoders from a model's directory: read while the model loads, the same
// on any device.
#pragma once

#include <memory>
#include <optional>

#include "formats/sentence_modules.hpp"
#include "formats/sound_config.hpp"
#include "generate/chat/chat_template.hpp"
#include "generate/encoders/text_classes.hpp"
#include "generate/picture_reader.hpp"

namespace lapilli {

struct FrontEnd {
  std::optional<SoundConfig> sound;           // of models for sound
  std::optional<PictureSettings> pictures;    // of models for pictures
  std::optional<SentenceSettings> sentences;  // of encoders of texts
  std::optional<ClassSettings> classes;       // of those that score texts
  std::vector<std::string> tags;              // labels of those that tag words
  std::shared_ptr<const ChatTemplate> chat;   // of decoders alone; null: there is none
  Status status;                              // the reason if a model that needs one of these has none
};

// A model works without one, on features that a program makes itself; so an error is reported only when it is needed.
FrontEnd read_front_end(const Model& model, const Files& files);

// Fails if the model takes no sound, or its files contradict each other about it.
Result<SoundConfig> read_sound(const Model& model, const Files& files);

}  // namespace lapilli
