// Sounds of which a model makes words, and nobody says any: made by formulas.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace lapilli::test {

// The hum of the mains: 50 Hz and some of its multiples.
inline std::vector<float> hum(uint32_t rate, double seconds, double loudness = 0.1) {
  constexpr double kParts[][2] = {{50, 1}, {100, 0.5}, {150, 0.35}, {250, 0.2}, {350, 0.15}, {450, 0.1}};
  std::vector<float> samples(static_cast<size_t>(seconds * rate));
  for (size_t i = 0; i < samples.size(); ++i) {
    double sum = 0;
    for (const auto& [frequency, part] : kParts)
      sum += part * std::sin(2 * M_PI * frequency * static_cast<double>(i) / rate + frequency);
    samples[i] = static_cast<float>(loudness * sum);
  }
  return samples;
}

// Four chords in turn, struck every `each` seconds, of tones with four overtones that fade.
inline std::vector<float> chords(uint32_t rate, double seconds, double each, double loudness = 0.08) {
  constexpr double kChords[4][3] = {
      {261.63, 329.63, 392.0}, {220.0, 261.63, 329.63}, {174.61, 220.0, 261.63}, {196.0, 246.94, 293.66}};
  std::vector<float> samples(static_cast<size_t>(seconds * rate));
  for (size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / rate, since = std::fmod(t, each);
    const double struck = std::min(since / 0.02, 1.0) * std::exp(-1.5 * since) * std::min((each - since) / 0.02, 1.0);
    double sum = 0;
    for (const double tone : kChords[static_cast<size_t>(t / each) % 4])
      for (int k = 1; k <= 5; ++k) sum += std::sin(2 * M_PI * tone * k * t) / k * std::exp(-0.5 * k * since);
    samples[i] = static_cast<float>(loudness * struck * sum);
  }
  return samples;
}

}  // namespace lapilli::test
