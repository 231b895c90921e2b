// Sound as feature extraction reads it: samples of one channel at one rate, from first to last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace lapilli::audio {

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  // Reads samples from number `first` on; fewer than asked for only at the end. Each read continues where the last one
  // began or ended, or at most half a second before; or starts over at 0 if the source can be read again.
  virtual Result<uint64_t> read(uint64_t first, std::span<float> to) = 0;
};

// Samples in memory, which must outlive this object.
class SamplesInMemory : public SampleSource {
 public:
  explicit SamplesInMemory(std::span<const float> samples) : samples_(samples) {}
  Result<uint64_t> read(uint64_t first, std::span<float> to) override {
    const uint64_t n = first < samples_.size() ? std::min<uint64_t>(to.size(), samples_.size() - first) : 0;
    if (n > 0) std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(first), n, to.begin());
    return n;
  }

 private:
  std::span<const float> samples_;
};

}  // namespace lapilli::audio
