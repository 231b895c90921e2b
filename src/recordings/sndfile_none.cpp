// Replaces sndfile.cpp in builds without libsndfile.
#include "recordings/bytes.hpp"
#include "recordings/reader.hpp"
#include "recordings/sound_endings.hpp"
#include "recordings/wav_chunks.hpp"

namespace lapilli::recordings {

std::string readable_formats() { return "WAV"; }

std::span<const std::string_view> endings_that_are_read() {
  static constexpr std::string_view kEndings[] = {"wav", "wave"};
  return kEndings;
}

Result<std::unique_ptr<Reader>> open_sound_stream(Stream& stream, const std::string& path) {
  if (read_wav_head(stream.get())) return read_wav(std::move(stream), path);
  seek_to(stream.get(), 0);
  return fail(ErrorCode::invalid_data,
              "%s is no WAV file; this lapilli was built without libsndfile and reads WAV alone", path);
}

}  // namespace lapilli::recordings
