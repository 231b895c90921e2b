// A model's features by the formula.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "audio/spectrum.hpp"
#include "formats/sound_config.hpp"

namespace lapilli::test {

// Whisper's, with chunks of a second.
inline SoundConfig small_whisper() {
  SoundConfig c;
  c.mel_bins = 80;
  c.frame_length = c.fft_length = 400;
  c.hop = 160;
  c.chunk_samples = 16000;
  c.where = "a test";
  return c;
}

// The reference's formula in double precision, a transform by its definition.
inline std::vector<double> features_of(const std::vector<float>& samples, const SoundConfig& c) {
  const auto filters = audio::slaney_filters({c.mel_bins, c.bins(), c.sampling_rate});
  const auto n = static_cast<int64_t>(samples.size());
  const auto at = [&](int64_t i) {
    i = std::abs(i);
    return static_cast<double>(samples[static_cast<size_t>(i < n ? i : 2 * (n - 1) - i)]);
  };
  std::vector<double> cosines(c.frame_length), all;
  for (uint32_t i = 0; i < c.frame_length; ++i) cosines[i] = std::cos(2 * M_PI * i / c.frame_length);
  double most = -10;
  for (int64_t f = 0; f < n / c.hop; ++f) {
    std::vector<double> bands(c.mel_bins);
    for (uint32_t k = 0; k < c.bins(); ++k) {
      double re = 0, im = 0;
      for (uint32_t i = 0; i < c.frame_length; ++i) {
        const double v = at(f * c.hop + i - c.frame_length / 2) * (0.5 - 0.5 * cosines[i]);
        const uint32_t angle = i * k % c.frame_length;
        re += v * cosines[angle];
        im += v * cosines[(angle + c.frame_length * 3 / 4) % c.frame_length];
      }
      for (uint32_t b = 0; b < c.mel_bins; ++b) bands[b] += (re * re + im * im) * filters.at(k, b);
    }
    for (const double b : bands) all.push_back(std::log10(std::max(b, 1e-10)));
  }
  for (const double v : all) most = std::max(most, v);
  for (double& v : all) v = (std::max(v, most - 8) + 4) / 4;
  return all;
}

}  // namespace lapilli::test
