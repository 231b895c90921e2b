// The coefficients of the transform from samples to mel bands, in double precision, as matrices for any device.
#pragma once

#include <cstdint>
#include <vector>

namespace lapilli::audio {

// [rows, cols], row by row.
struct Table {
  uint64_t rows = 0, cols = 0;
  std::vector<double> values;
  [[nodiscard]] double at(uint64_t r, uint64_t c) const { return values[r * cols + c]; }
};

// A discrete Fourier transform of windowed frames, together with the linear steps before it.
struct TransformShape {
  uint32_t frame_length = 400, fft_length = 400;
  double scale = 1;          // factor on the samples
  bool remove_mean = false;  // of each frame
  double preemphasis = 0;    // x[i] - p * x[i - 1]; the first sample counts as its own predecessor
};
enum class Window : uint8_t { hann, povey };  // Hann's has period frame_length; Povey's is symmetric, ^ 0.85
// [frame_length, 2 * bins]: cosines, then sines, for bins 0 to fft_length / 2.
Table transform_table(const TransformShape& shape, Window window);

// Hann's window of n samples, then the cosines and sines of n parts of a turn, zero-padded to whole vectors.
std::vector<float> spectrum_tables(uint32_t n);

// Triangles between frequencies evenly spaced on the mel scale.
struct MelShape {
  uint32_t bands = 80, bins = 201;  // bins: fft_length / 2 + 1
  uint32_t sampling_rate = 16000;
  double lowest = 0, highest = 8000;  // Hz
};
// [bins, bands]. Slaney's scale, each triangle divided by its width.
Table slaney_filters(const MelShape& shape);
// Kaldi's scale; the triangles are straight on that scale and of height 1.
Table kaldi_filters(const MelShape& shape);

}  // namespace lapilli::audio
