#include "audio/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lapilli::audio {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

double window_at(Window window, uint32_t i, uint32_t n) {
  const double period = window == Window::hann ? n : std::max(n - 1, 1u);
  const double hann = 0.5 - 0.5 * std::cos(kTurn * i / period);
  return window == Window::hann ? hann : std::pow(hann, 0.85);
}

// Turns a bin's weights for windowed, emphasized samples into weights for the raw samples of a frame: applies the steps
// in front of the transform in reverse order.
void take_back(const TransformShape& s, std::vector<double>& column) {
  const uint32_t n = s.frame_length;
  column[0] *= 1 - s.preemphasis;
  for (uint32_t i = 0; i + 1 < n; ++i) column[i] -= s.preemphasis * column[i + 1];
  double mean = 0;
  for (const double v : column) mean += v / n;
  for (double& v : column) v = s.scale * (s.remove_mean ? v - mean : v);
}

double slaney_mel(double hz) { return hz < 1000 ? 3 * hz / 200 : 15 + std::log(hz / 1000) * (27 / std::log(6.4)); }
double slaney_hz(double mel) { return mel < 15 ? 200 * mel / 3 : 1000 * std::exp((mel - 15) * (std::log(6.4) / 27)); }
double kaldi_mel(double hz) { return 1127 * std::log(1 + hz / 700); }

// Corners of the triangles: one more on each side than there are bands.
std::vector<double> corners(double lowest, double highest, uint32_t bands) {
  std::vector<double> all(bands + 2);
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = lowest + (highest - lowest) * i / (bands + 1);
  return all;
}

double triangle(const std::vector<double>& corner, uint32_t band, double at) {
  const double up = (at - corner[band]) / (corner[band + 1] - corner[band]);
  const double down = (corner[band + 2] - at) / (corner[band + 2] - corner[band + 1]);
  return std::max(0.0, std::min(up, down));
}

double bin_hz(const MelShape& s, uint32_t bin) {
  return static_cast<double>(s.sampling_rate) / 2 * bin / std::max(s.bins - 1, 1u);
}

}  // namespace

Table transform_table(const TransformShape& s, Window window) {
  const uint32_t n = s.frame_length, bins = s.fft_length / 2 + 1;
  Table t{n, uint64_t{2} * bins, std::vector<double>(uint64_t{n} * 2 * bins)};
  std::vector<double> column(n);
  for (uint32_t c = 0; c < 2 * bins; ++c) {
    for (uint32_t i = 0; i < n; ++i) {
      const auto turns = static_cast<double>(uint64_t{i} * (c % bins) % s.fft_length) / s.fft_length;
      column[i] = window_at(window, i, n) * (c < bins ? std::cos(kTurn * turns) : -std::sin(kTurn * turns));
    }
    take_back(s, column);
    for (uint32_t i = 0; i < n; ++i) t.values[i * t.cols + c] = column[i];
  }
  return t;
}

std::vector<float> spectrum_tables(uint32_t n) {
  std::vector<float> all((uint64_t{3} * n + 3) / 4 * 4);
  for (uint32_t i = 0; i < n; ++i) {
    const double angle = kTurn * i / n;
    all[i] = static_cast<float>(window_at(Window::hann, i, n));
    all[n + i] = static_cast<float>(std::cos(angle));
    all[2 * uint64_t{n} + i] = static_cast<float>(std::sin(angle));
  }
  return all;
}

Table slaney_filters(const MelShape& s) {
  auto corner = corners(slaney_mel(s.lowest), slaney_mel(s.highest), s.bands);
  std::transform(corner.begin(), corner.end(), corner.begin(), slaney_hz);
  Table t{s.bins, s.bands, {}};
  for (uint32_t bin = 0; bin < s.bins; ++bin)
    for (uint32_t band = 0; band < s.bands; ++band)
      t.values.push_back(triangle(corner, band, bin_hz(s, bin)) * 2 / (corner[band + 2] - corner[band]));
  return t;
}

Table kaldi_filters(const MelShape& s) {
  const auto corner = corners(kaldi_mel(s.lowest), kaldi_mel(s.highest), s.bands);
  Table t{s.bins, s.bands, {}};
  for (uint32_t bin = 0; bin < s.bins; ++bin)
    for (uint32_t band = 0; band < s.bands; ++band)
      t.values.push_back(triangle(corner, band, kaldi_mel(bin_hz(s, bin))));
  return t;
}

}  // namespace lapilli::audio
