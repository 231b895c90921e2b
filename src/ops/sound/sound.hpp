// Builders and attributes of the ops that compute a model's features from samples: spectra of overlapping frames,
// logarithms, loudness, and normalization over time. Sums of bins into bands, and transforms preceded by more than a
// window, are products with tables ("frames", "matmul", "power").
#pragma once

#include "graph/graph.hpp"

namespace lapilli {

// "spectrum": y[r, k] = |sum over n of x[r * hop + n] * window[n] * e^(-2 pi i k n / length)|^2, k up to length / 2:
// the power spectra of overlapping windowed frames. inputs: x, one row with the samples of all frames; tables: window,
// cosines and sines of 2 pi n / length, `length` words of each. outputs: y [rows, length / 2 + 1].
constexpr uint32_t kMostSpectrum = 1024;
struct SpectrumAttributes {
  uint32_t length = 400;  // at most kMostSpectrum
  uint32_t hop = 160;
  uint32_t factor = 25;  // of length: sums have this many terms, then length / factor terms
};
uint32_t spectrum_factor(uint32_t length);  // the cheapest

// "frames": y[r, c] = x[r * hop + c]: overlapping rows. inputs: x, one row with the samples of all frames. outputs: y
// [rows, cols], 0 < hop <= cols.
struct FramesAttributes {
  uint32_t hop = 1;
};

// "power": y[r, c] = x[r, c]^2 + x[r, round_up(cols, 4) + c]^2: real and imaginary parts side by side, as a product
// with the transform's table produces them (gate_value_column). inputs: x [rows, round_up(cols, 4) + cols]. outputs: y.

// "log_floor": y[r, c] = scale * ln(max(x[r, c], floor, floors[r])) + offset; floor > 0.
// inputs: x [rows, cols], floors (at least one word per row). outputs: y.
struct LogFloorAttributes {
  float floor = 1e-10f;
  float scale = 1, offset = 0;
};

// "row_max": y[r, 0] = the maximum of x[r, c], at least state::MASKED. inputs: x [rows, cols]. outputs: y [rows, 1].

// "normalize_columns": in the first n rows, n being the word `count` (at most all rows; none: zeros), subtracts the
// mean of each column and divides by its standard deviation (population); either step may be skipped. Later rows become
// 0. inputs: x [rows, cols], count (u32). outputs: y.
struct NormalizeColumnsAttributes {
  uint32_t means = 1, deviations = 1;
  float epsilon = 1e-20f;  // added to the variance, so that a constant column becomes 0
};
constexpr uint64_t kMaxNormalizedRows = 65536;  // keeps an invocation's loops short

namespace ops {
struct SpectrumOperands {
  graph::TensorId x = graph::kNone, tables = graph::kNone;
};
graph::TensorId spectrum(graph::Graph& g, const std::string& label, const SpectrumOperands& of, uint64_t rows,
                         const SpectrumAttributes& attributes);
// Frames of `cols` samples, each `hop` samples behind the one before.
struct FrameRows {
  uint64_t rows = 0, cols = 0;
  uint32_t hop = 0;
};
graph::TensorId frames(graph::Graph& g, const std::string& label, graph::TensorId x, const FrameRows& to);
graph::TensorId power(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t cols);
graph::TensorId log_floor(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId floors,
                          const LogFloorAttributes& attributes);
graph::TensorId row_max(graph::Graph& g, const std::string& label, graph::TensorId x);
graph::TensorId normalize_columns(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId count,
                                  const NormalizeColumnsAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
