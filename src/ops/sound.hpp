// Builders and attributes of the ops that make a model's features of samples: overlapping frames, the power of a
// spectrum, logarithms, loudness, and normalization over time. The transform itself, and the bands that its bins are
// summed in, are products with tables ("matmul").
#pragma once

#include "graph/graph.hpp"

namespace lapilli {

// "frames": y[r, c] = x[r * hop + c]: rows that overlap. inputs: x, one row with the samples of all frames. outputs: y
// [rows, cols], 0 < hop <= cols.
struct FramesAttributes {
  uint32_t hop = 1;
};

// "power": y[r, c] = x[r, c]^2 + x[r, round_up(cols, 4) + c]^2: real and imaginary parts side by side, as a product
// with the transform's table gives them (gate_value_column). inputs: x [rows, round_up(cols, 4) + cols]. outputs: y.

// "log_floor": y[r, c] = scale * ln(max(x[r, c], floor, floors[r])) + offset; floor > 0.
// inputs: x [rows, cols], floors (at least one word a row). outputs: y.
struct LogFloorAttributes {
  float floor = 1e-10f;
  float scale = 1, offset = 0;
};

// "row_max": y[r, 0] = the largest x[r, c], at least kMasked. inputs: x [rows, cols]. outputs: y [rows, 1].

// "normalize_columns": of the first n rows (at most all; none: zeros), n being the word `count`, the mean of each
// column is taken away, and what is left divided by the column's standard deviation (population); either may be left
// out. Rows behind them become 0. inputs: x [rows, cols], count (u32). outputs: y.
struct NormalizeColumnsAttributes {
  uint32_t means = 1, deviations = 1;
  float epsilon = 1e-20f;  // added to the variance, so that a column without any becomes 0
};
constexpr uint64_t kMaxNormalizedRows = 65536;  // an invocation's loops stay short

namespace ops {
graph::TensorId frames(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t rows, uint64_t cols,
                       uint32_t hop);
graph::TensorId power(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t cols);
graph::TensorId log_floor(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId floors,
                          const LogFloorAttributes& attributes);
graph::TensorId row_max(graph::Graph& g, const std::string& label, graph::TensorId x);
graph::TensorId normalize_columns(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId count,
                                  const NormalizeColumnsAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
