#include "recordings/sound_endings.hpp"

namespace lapilli::recordings {

std::span<const std::string_view> endings_of_sound() {
  static constexpr std::string_view kEndings[] = {
      "wav", "wave", "flac", "ogg", "oga",  "opus", "mp3", "aif", "aiff", "aifc", "au",  "snd", "caf", "w64", "rf64",
      "voc", "m4a",  "m4b",  "aac", "webm", "weba", "wma", "amr", "ac3",  "mp4",  "m4v", "mkv", "mka", "mov", "avi"};
  return kEndings;
}

}  // namespace lapilli::recordings
