// Recordings in files and pipes, read block by block: memory is bounded by a block, whatever a file claims.
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
  uint32_t channels = 0;  // interleaved
};
constexpr uint32_t kLeastRate = 1000, kMostRate = 768000, kMostChannels = 256;
// The error states the actual format.
Status check_format(const SoundFormat& format, const std::string& name);

class Reader {
 public:
  virtual ~Reader() = default;
  [[nodiscard]] virtual SoundFormat format() const = 0;
  // The number of samples a channel that the file claims; none if it does not say. It may be wrong: an unfinished file
  // says 0.
  [[nodiscard]] virtual std::optional<uint64_t> claimed() const = 0;
  // Reads the next samples, channels interleaved; fewer than `to` holds only at the end. Counts frames (whole sets of
  // channels).
  virtual Result<uint64_t> read(std::span<float> to) = 0;
};

struct CloseStream {
  void operator()(std::FILE* f) const {
    if (f != stdin) std::fclose(f);
  }
};
using Stream = std::unique_ptr<std::FILE, CloseStream>;

// How recordings that only ffmpeg reads are read.
struct MediaRequest {
  uint32_t rate = 16000;                       // samples a second requested from ffmpeg
  std::chrono::milliseconds patience{30'000};  // ffmpeg is stopped if it gives nothing for so long
};
// Opens a recording by its content, whatever its name: a sound file; a kind that only ffmpeg reads (films, m4a...),
// where it is installed; or the content of a pipe ("-": standard input), WAV while it comes, other kinds once they are
// complete. Errors name the file and the command that converts it to WAV.
Result<std::unique_ptr<Reader>> open_recording(const std::string& path, const MediaRequest& request);
// The same for an open, seekable stream at its beginning. `name`: for messages.
Result<std::unique_ptr<Reader>> open_recording_stream(Stream stream, const std::string& name,
                                                      const MediaRequest& request);
// A sound file alone: WAV, FLAC, Ogg, Opus, MP3 and more with libsndfile, otherwise WAV.
Result<std::unique_ptr<Reader>> open_sound_file(const std::string& path);
// The same for an open, seekable stream, which is taken on success.
Result<std::unique_ptr<Reader>> open_sound_stream(Stream& stream, const std::string& path);
// WAV: integers of 8 to 32 bits, floats of 32 and 64; also with a header that was written before the length was known.
Result<std::unique_ptr<Reader>> open_wav(const std::string& path);
// The same for a stream, also a pipe, that stands behind read_wav_head().
Result<std::unique_ptr<Reader>> read_wav(Stream stream, const std::string& path);
// The formats that open_sound_file() reads, for messages: "WAV, FLAC, Ogg, Opus, MP3".
std::string readable_formats();

// Samples without a header: "f32le:16000", "s16le:48000:2" (two channels).
struct RawFormat {
  enum class Type : uint8_t { s16, s32, f32 } type = Type::f32;
  SoundFormat format;
};
Result<RawFormat> parse_raw_format(const std::string& text);
Result<std::unique_ptr<Reader>> open_raw(const std::string& path, const RawFormat& format);  // "-": standard input

// Changes the sample rate; times stay the same.
class Resampler {
 public:
  virtual ~Resampler() = default;
  struct Progress {
    uint64_t taken = 0, made = 0;
  };
  // Takes one channel. `last`: nothing follows; to be called until it makes nothing more.
  virtual Result<Progress> run(std::span<const float> from, std::span<float> to, bool last) = 0;
};
// Fails, with a message, in a build without a resampling library.
Result<std::unique_ptr<Resampler>> make_resampler(uint32_t from_rate, uint32_t to_rate);
bool can_resample();

}  // namespace lapilli::recordings
