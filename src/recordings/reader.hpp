// Recordings in files and pipes, read block by block: no more than a block is held, whatever a file claims to be.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"

namespace lapilli::recordings {

struct SoundFormat {
  uint32_t rate = 0;      // samples a second, of each channel
  uint32_t channels = 0;  // side by side
};
constexpr uint32_t kLeastRate = 1000, kMostRate = 768000, kMostChannels = 256;
// An error that says what the format is instead.
Status check_format(const SoundFormat& format, const std::string& name);

class Reader {
 public:
  virtual ~Reader() = default;
  [[nodiscard]] virtual SoundFormat format() const = 0;
  // How many samples a channel the file says it has; none if it does not say. It may be wrong: a file that was not
  // finished says 0.
  [[nodiscard]] virtual std::optional<uint64_t> claimed() const = 0;
  // The next samples, channels side by side, as many as there are: fewer than `to` has room for only at the end.
  // Whole sets of channels; the count is of these.
  virtual Result<uint64_t> read(std::span<float> to) = 0;
};

struct CloseStream {
  void operator()(std::FILE* f) const {
    if (f != stdin) std::fclose(f);
  }
};
using Stream = std::unique_ptr<std::FILE, CloseStream>;

// How what only ffmpeg reads is read.
struct MediaRequest {
  uint32_t rate = 16000;                       // samples a second that are asked of it
  std::chrono::milliseconds patience{30'000};  // it is stopped when it gives nothing for so long
};
// A recording by its content, whatever its name: a sound file; what ffmpeg reads (films, m4a...), where it is
// installed; and what comes through a pipe ("-": standard input), WAV while it comes, other kinds when they are there.
// Errors name the file, and the line that makes a WAV file of it.
Result<std::unique_ptr<Reader>> open_recording(const std::string& path, const MediaRequest& request);
// A sound file alone: with libsndfile WAV, FLAC, Ogg, Opus, MP3 and more, else WAV.
Result<std::unique_ptr<Reader>> open_sound_file(const std::string& path);
// The same of what is open, and can be read anywhere. It is taken if this succeeds.
Result<std::unique_ptr<Reader>> open_sound_stream(Stream& stream, const std::string& path);
// WAV: whole numbers of 8 to 32 bits, floats of 32 and 64; also one whose header was written before its end was known.
Result<std::unique_ptr<Reader>> open_wav(const std::string& path);
// The same from behind read_wav_head() on, also of a pipe.
Result<std::unique_ptr<Reader>> read_wav(Stream stream, const std::string& path);
// What open_sound_file() can read, for messages: "WAV, FLAC, Ogg, Opus, MP3".
std::string readable_formats();

// Samples without a header: "f32le:16000", "s16le:48000:2" (two channels).
struct RawFormat {
  enum class Type : uint8_t { s16, s32, f32 } type = Type::f32;
  SoundFormat format;
};
Result<RawFormat> parse_raw_format(const std::string& text);
Result<std::unique_ptr<Reader>> open_raw(const std::string& path, const RawFormat& format);  // "-": standard input

// Changes the number of samples a second, keeping what happens when.
class Resampler {
 public:
  virtual ~Resampler() = default;
  struct Progress {
    uint64_t taken = 0, made = 0;
  };
  // Of one channel. `last`: nothing follows; called until nothing is made any more.
  virtual Result<Progress> run(std::span<const float> from, std::span<float> to, bool last) = 0;
};
// Refuses where there is no library that resamples, saying so.
Result<std::unique_ptr<Resampler>> make_resampler(uint32_t from_rate, uint32_t to_rate);
bool can_resample();

}  // namespace lapilli::recordings
