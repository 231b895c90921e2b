#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/path.hpp"
#include "recordings/bytes.hpp"
#include "recordings/reader.hpp"

namespace lapilli::recordings {
namespace {

class RawReader : public Reader {
 public:
  RawReader(Stream stream, const RawFormat& format) : stream_(std::move(stream)), format_(format) {}
  [[nodiscard]] SoundFormat format() const override { return format_.format; }
  [[nodiscard]] std::optional<uint64_t> claimed() const override { return std::nullopt; }
  Result<uint64_t> read(std::span<float> to) override {
    constexpr Stored kStored[] = {Stored::s16, Stored::s32, Stored::f32};
    const uint32_t channels = format_.format.channels;
    const auto whole = to.first(to.size() / channels * channels);
    return read_samples(stream_.get(), kStored[static_cast<size_t>(format_.type)], whole) / channels;
  }

 private:
  Stream stream_;
  RawFormat format_;
};

// The number between `at` and the next colon or the end; 0 if there is none.
uint32_t number_at(const std::string& text, size_t at) {
  const size_t end = std::min(text.find(':', at), text.size());
  uint32_t n = 0;
  const auto [stop, error] = std::from_chars(text.data() + at, text.data() + end, n);
  return error == std::errc() && stop == text.data() + end ? n : 0;
}

}  // namespace

Status check_format(const SoundFormat& f, const std::string& name) {
  if (f.channels < 1 || f.channels > kMostChannels)
    return fail(ErrorCode::invalid_data, "%s: %u channels; 1 to %u are read", name, f.channels, kMostChannels);
  if (f.rate >= kLeastRate && f.rate <= kMostRate) return {};
  return fail(ErrorCode::invalid_data, "%s: %u samples a second; %u to %u are read", name, f.rate, kLeastRate,
              kMostRate);
}

Result<RawFormat> parse_raw_format(const std::string& text) {
  RawFormat raw;
  const size_t colon = text.find(':');
  const std::string type = text.substr(0, colon);
  const auto bad = [&] {
    return fail(ErrorCode::invalid_argument,
                "\"%s\" is no format of raw samples: write TYPE:RATE or TYPE:RATE:CHANNELS, TYPE being s16le, s32le "
                "or f32le (f32le:16000)",
                text);
  };
  if (type == "s16le")
    raw.type = RawFormat::Type::s16;
  else if (type == "s32le")
    raw.type = RawFormat::Type::s32;
  else if (type != "f32le")
    return bad();
  if (colon == std::string::npos) return bad();
  raw.format.rate = number_at(text, colon + 1);
  const size_t second = text.find(':', colon + 1);
  raw.format.channels = second == std::string::npos ? 1 : number_at(text, second + 1);
  if (text.find(':', second == std::string::npos ? text.size() : second + 1) != std::string::npos) return bad();
  if (raw.format.rate == 0 || raw.format.channels == 0) return bad();
  LAPILLI_CHECK(check_format(raw.format, text));
  return raw;
}

Result<std::unique_ptr<Reader>> open_raw(const std::string& path, const RawFormat& format) {
  Stream stream(path == "-" ? stdin : open_stream(path, "rb"));
  if (!stream) return fail(ErrorCode::not_found, "%s cannot be opened: %s", path, std::strerror(errno));
  return std::unique_ptr<Reader>(new RawReader(std::move(stream), format));
}

}  // namespace lapilli::recordings
