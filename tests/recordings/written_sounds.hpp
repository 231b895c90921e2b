// Files of the kinds that people have, written by the library that reads them too.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "recordings/sounds.hpp"
#include "support/temp_directory.hpp"

#ifdef LAPILLI_HAVE_SNDFILE
#include <sndfile.h>
#endif

namespace lapilli::test {

struct SoundShape {
  uint32_t rate = 16000, channels = 1;
};

// A file's content; "" where it cannot be written here.
inline std::string sound_file(const TempDirectory& dir, int kind, const std::vector<float>& samples,
                              const SoundShape& shape) {
#ifdef LAPILLI_HAVE_SNDFILE
  SF_INFO info{};
  info.samplerate = static_cast<int>(shape.rate);
  info.channels = static_cast<int>(shape.channels);
  info.format = kind;
  const std::string path = dir.path() + "/written";
  SNDFILE* file = sf_format_check(&info) ? sf_open(path.c_str(), SFM_WRITE, &info) : nullptr;
  if (!file) return "";
  sf_writef_float(file, samples.data(), static_cast<sf_count_t>(samples.size() / shape.channels));
  sf_close(file);
  return read_file(path);
#else
  (void)dir;
  return kind == 0 ? test::wav_of(samples, {shape.rate, shape.channels, 1, 16}) : "";
#endif
}

// The same, of a gliding tone.
inline std::string sound_file(const TempDirectory& dir, int kind, uint32_t rate, uint32_t channels, double seconds) {
  return sound_file(dir, kind, glide(rate, seconds, channels), {rate, channels});
}

struct Kind {
  const char* name;
  int format;
};
inline void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
#ifdef LAPILLI_HAVE_SNDFILE
inline constexpr Kind kKinds[] = {{"wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16},
                                  {"flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16},
                                  {"ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS},
                                  {"opus", SF_FORMAT_OGG | SF_FORMAT_OPUS},
                                  {"mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}};
#else
inline constexpr Kind kKinds[] = {{"wav", 0}};
#endif

}  // namespace lapilli::test
