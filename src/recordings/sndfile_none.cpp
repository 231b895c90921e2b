// In place of sndfile.cpp where there is no libsndfile.
#include "recordings/reader.hpp"
#include "recordings/sound_endings.hpp"

namespace lapilli::recordings {

std::string readable_formats() { return "WAV"; }

std::span<const std::string_view> endings_that_are_read() {
  static constexpr std::string_view kEndings[] = {"wav", "wave"};
  return kEndings;
}

Result<std::unique_ptr<Reader>> open_sound_file(const std::string& path) {
  auto reader = open_wav(path);
  if (reader || reader.error().code == ErrorCode::not_found) return reader;
  return fail(reader.error().code, "%s; this lapilli was built without libsndfile and reads WAV alone",
              reader.error().message.c_str());
}

}  // namespace lapilli::recordings
