#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/path.hpp"
#include "recordings/bytes.hpp"
#include "recordings/reader.hpp"
#include "recordings/wav_chunks.hpp"

namespace lapilli::recordings {
namespace {

struct WavFormat {
  SoundFormat sound;
  Stored stored = Stored::s16;
};

// Format numbers: 1 is integers, 3 is floats; with 0xfffe the actual number follows later in the chunk.
Result<Stored> stored_as(uint64_t kind, uint64_t bits, const std::string& path) {
  if (kind == 1 && bits == 8) return Stored::u8;
  if (kind == 1 && bits == 16) return Stored::s16;
  if (kind == 1 && bits == 24) return Stored::s24;
  if (kind == 1 && bits == 32) return Stored::s32;
  if (kind == 3 && bits == 32) return Stored::f32;
  if (kind == 3 && bits == 64) return Stored::f64;
  return fail(ErrorCode::unsupported,
              "%s: a WAV file with samples of kind %u and %u bits, which is not read; convert it to 16 bits", path,
              kind, bits);
}

Result<WavFormat> read_format(std::FILE* f, const Chunk& chunk, const std::string& path) {
  std::byte fields[40] = {};
  const uint64_t n = std::min<uint64_t>(chunk.bytes, sizeof(fields));
  if (chunk.bytes < 16 || !read_bytes(f, std::span(fields).first(n)) || !skip(f, chunk.bytes - n + chunk.bytes % 2))
    return fail(ErrorCode::invalid_data, "%s: its header ends too early", path);
  WavFormat format;
  format.sound = {static_cast<uint32_t>(number_of(fields + 4, 4)), static_cast<uint32_t>(number_of(fields + 2, 2))};
  uint64_t kind = number_of(fields, 2);
  if (kind == 0xfffe && chunk.bytes >= 26) kind = number_of(fields + 24, 2);
  LAPILLI_TRY(format.stored, stored_as(kind, number_of(fields + 14, 2), path));
  LAPILLI_CHECK(check_format(format.sound, path));
  return format;
}

class WavReader : public Reader {
 public:
  // bytes: of samples, according to the header. 0 and the largest number mean an unknown length; to a pipe, writers
  // also put about the largest signed number.
  WavReader(Stream stream, const WavFormat& format, uint64_t bytes) : stream_(std::move(stream)), format_(format) {
    constexpr uint64_t kUnknown = 0xffffffff, kUnknownInPipes = 0x7ffff000;
    const uint64_t set = uint64_t{format.sound.channels} * bytes_of(format.stored);
    if (bytes < (!can_seek(stream_.get()) ? kUnknownInPipes : kUnknown)) left_ = claimed_ = bytes / set;
    if (bytes == 0 && is_unfinished(stream_.get())) left_.reset();
  }
  [[nodiscard]] SoundFormat format() const override { return format_.sound; }
  [[nodiscard]] std::optional<uint64_t> claimed() const override { return claimed_; }
  Result<uint64_t> read(std::span<float> to) override {
    const uint64_t channels = format_.sound.channels;
    const uint64_t sets = std::min<uint64_t>(to.size() / channels, left_.value_or(~uint64_t{0}));
    const uint64_t got = read_samples(stream_.get(), format_.stored, to.first(sets * channels)) / channels;
    if (left_) *left_ -= got;
    return got;
  }

 private:
  Stream stream_;
  WavFormat format_;
  std::optional<uint64_t> claimed_, left_;
};

}  // namespace

Result<std::unique_ptr<Reader>> open_wav(const std::string& path) {
  Stream stream(open_stream(path, "rb"));
  if (!stream) return fail(ErrorCode::not_found, "%s cannot be opened: %s", path, std::strerror(errno));
  if (!read_wav_head(stream.get())) return fail(ErrorCode::invalid_data, "%s is no WAV file", path);
  return read_wav(std::move(stream), path);
}

Result<std::unique_ptr<Reader>> read_wav(Stream stream, const std::string& path) {
  std::optional<WavFormat> format;
  for (Chunk chunk; read_chunk(stream.get(), chunk);) {
    if (chunk.is("data")) {
      if (!format) return fail(ErrorCode::invalid_data, "%s: its samples stand before their format", path);
      return std::unique_ptr<Reader>(new WavReader(std::move(stream), *format, chunk.bytes));
    }
    if (chunk.is("fmt ")) {
      LAPILLI_TRY(format, read_format(stream.get(), chunk, path));
    } else if (!skip(stream.get(), chunk.bytes + chunk.bytes % 2)) {
      break;
    }
  }
  return fail(ErrorCode::invalid_data, "%s: a WAV file without samples", path);
}

}  // namespace lapilli::recordings
