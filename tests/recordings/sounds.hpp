// Recordings made by formulas, and files of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace lapilli::test {

// A gliding tone with another one that comes and goes; of `channels`, of which each has a phase of its own.
inline std::vector<float> glide(uint32_t rate, double seconds, uint32_t channels = 1) {
  std::vector<float> samples;
  for (uint64_t i = 0; i < static_cast<uint64_t>(seconds * rate); ++i)
    for (uint32_t c = 0; c < channels; ++c) {
      const double t = static_cast<double>(i) / rate;
      const double tone = std::sin(2 * M_PI * (200 + 300 * t) * t + c), other = std::sin(2 * M_PI * 1500 * t);
      samples.push_back(static_cast<float>(0.4 * tone + 0.2 * other * (0.5 + 0.5 * std::sin(7 * t))));
    }
  return samples;
}

inline std::string bytes_of(uint64_t n, size_t size) {
  std::string s;
  for (size_t i = 0; i < size; ++i) s += static_cast<char>(n >> (8 * i) & 0xff);
  return s;
}

struct WavShape {
  uint32_t rate = 16000, channels = 1, kind = 1, bits = 16;  // kind 3: floats
};
inline std::string wav_samples(const std::vector<float>& samples, const WavShape& shape) {
  std::string data;
  for (const float v : samples) {
    if (shape.kind == 3) {
      data.append(reinterpret_cast<const char*>(&v), 4);
      continue;
    }
    const double most = std::ldexp(1.0, static_cast<int>(shape.bits) - 1);
    const auto whole = static_cast<int64_t>(std::lround(static_cast<double>(v) * (most - 1)));
    data += bytes_of(static_cast<uint64_t>(shape.bits == 8 ? whole + 128 : whole), shape.bits / 8);
  }
  return data;
}
// claimed: bytes of samples, as the header says.
inline std::string wav_file(const std::string& data, const WavShape& shape, uint64_t claimed) {
  const uint32_t set = shape.channels * shape.bits / 8;
  return "RIFF" + bytes_of(36 + claimed, 4) + "WAVEfmt " + bytes_of(16, 4) + bytes_of(shape.kind, 2) +
         bytes_of(shape.channels, 2) + bytes_of(shape.rate, 4) + bytes_of(uint64_t{shape.rate} * set, 4) +
         bytes_of(set, 2) + bytes_of(shape.bits, 2) + "data" + bytes_of(claimed, 4) + data;
}
inline std::string wav_of(const std::vector<float>& samples, const WavShape& shape = {}) {
  const std::string data = wav_samples(samples, shape);
  return wav_file(data, shape, data.size());
}

}  // namespace lapilli::test
