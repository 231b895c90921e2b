// Reads a pipe as samples of one channel: a WAV file of 16-bit or 32-bit float samples, or else 32-bit floats without a
// header, of one channel and the expected rate. Reads on a machine whose bytes lie in the order of these files (little
// endian, which all of today's are).
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

class Sound {
 public:
  Sound(std::FILE* from, uint32_t expected_rate) : from_(from), rate_(expected_rate) {
#if defined(_WIN32)
    _setmode(_fileno(from), _O_BINARY);
#endif
    begun_ = static_cast<uint32_t>(std::fread(begin_, 1, 4, from_));
    if (begun_ == 4 && std::memcmp(begin_, "RIFF", 4) == 0) error_ = read_header();
  }
  const char* error() const { return error_; }  // null: none
  uint32_t rate() const { return rate_; }       // samples a second

  // The next ones, as many as there is room for or are left.
  size_t read(std::vector<float>& to) {
    size_t count = 0;
    while (count < to.size() && read_one(to[count])) ++count;
    return count;
  }

 private:
  static constexpr uint64_t kUnknown = UINT64_MAX;

  bool bytes(void* to, size_t count) {
    auto* at = static_cast<unsigned char*>(to);
    if (count > left_) return false;
    left_ -= left_ == kUnknown ? 0 : count;
    for (; begun_ > 0 && count > 0; --count, --begun_) *at++ = begin_[4 - begun_];  // what was looked at
    return std::fread(at, 1, count, from_) == count;
  }
  bool skip(uint32_t count) {
    char byte = 0;
    for (; count > 0 && bytes(&byte, 1); --count) {
    }
    return count == 0;
  }

  // Up to where the samples begin; their number may not have been known when it was written.
  const char* read_header() {
    char name[12];
    uint32_t size = 0;
    if (!bytes(name, 12)) return "the WAV file ends within its header";
    while (bytes(name, 4) && bytes(&size, 4)) {
      if (std::memcmp(name, "data", 4) == 0) {
        if (size > 0 && size < 0xffffff00) left_ = size;
        return channels_ ? nullptr : "the WAV file does not say its format";
      }
      if (!(std::memcmp(name, "fmt ", 4) == 0 && size >= 16 ? read_format(size - 16) : skip(size + size % 2))) break;
    }
    return "the WAV file is neither of 16-bit nor of 32-bit float samples, or ends within its header";
  }
  bool read_format(uint32_t rest) {
    uint16_t kind = 0, channels = 0, align = 0, bits = 0;
    uint32_t rate = 0, a_second = 0;
    if (!bytes(&kind, 2) || !bytes(&channels, 2) || !bytes(&rate, 4) || !bytes(&a_second, 4) || !bytes(&align, 2) ||
        !bytes(&bits, 2))
      return false;
    uint16_t meant = kind;
    if (kind == 0xfffe && rest >= 10 && (!skip(8) || !bytes(&meant, 2))) return false;  // the extended header
    const uint32_t read = kind == 0xfffe && rest >= 10 ? 10 : 0;
    rate_ = rate;
    channels_ = channels;
    whole_ = meant == 1 && bits == 16;
    return channels > 0 && (whole_ || (meant == 3 && bits == 32)) && skip(rest - read);
  }

  // Channels are mixed.
  bool read_one(float& to) {
    float sum = 0, value = 0;
    const uint32_t channels = channels_ ? channels_ : 1;
    for (uint32_t c = 0; c < channels; ++c, sum += value) {
      int16_t whole = 0;
      if (!(whole_ ? bytes(&whole, 2) : bytes(&value, 4))) return false;
      if (whole_) value = static_cast<float>(whole) / 32768.0f;
    }
    to = sum / static_cast<float>(channels);
    return true;
  }

  std::FILE* from_;
  unsigned char begin_[4] = {};
  uint32_t begun_ = 0, rate_, channels_ = 0;
  uint64_t left_ = kUnknown;  // bytes
  bool whole_ = false;
  const char* error_ = nullptr;
};
