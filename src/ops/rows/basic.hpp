// Builders and attributes of the small ops that work on rows: normalization, elementwise, softmax.
#pragma once

#include <array>

#include "graph/graph.hpp"
#include "ops/core/activations.hpp"

namespace lapilli {

// "layer_norm": y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the columns.
// With rms (Zhang and Sennrich 2019): y = x / sqrt(mean of squares + epsilon) * weight.
// inputs: x, weight tensor of 2 * round_up(cols, 4) words (weight, then bias, zero padded; the weight alone with rms).
// outputs: y.
struct LayerNormAttributes {
  float epsilon = 1e-5f;
  uint32_t rms = 0;
};

// "unfold": row p of a sentence is the window of `kernel` rows of x from its row p * stride - before on, with the rows
// of each column next to each other, as a convolution's weights are stored: y[p, c * kernel + k] = scale * x[p * stride
// - before + k, c] + table[p + position_offset, ...]. Rows outside the sentence are zeros. A product of the result is a
// 1-D convolution (Vincent Dumoulin and Francesco Visin 2016); with a kernel of 1 the op adds positions, and `before`
// inserts rows in front.
// inputs: x, feature_spans (state::SPAN_WORDS per level), table of positions [places, columns] or kNone. outputs: y.
// Sentences lie in x according to level `from` of the spans, in y according to level `to`; rows of y between and after
// them are zeros, or not written if y has live rows. Only as many rows in y get a position as count at that level
// (slot).
struct UnfoldAttributes {
  uint32_t kernel = 1, stride = 1, before = 0;
  uint32_t from = 0, to = 0;
  uint32_t position_offset = 0;
  float scale = 1;
};

// "group_norm": group normalization with one group (Yuxin Wu and Kaiming He 2018): y = (x - mean) / sqrt(variance +
// epsilon) * weight + bias, mean and variance over all columns and rows of a sentence.
// inputs: x, feature_spans, weight tensor of 2 * round_up(cols, 4) words (weight, then bias, zero padded). outputs: y,
// and space for sums. At most `sentences` sentences lie according to level `level` of the spans; rows of y between and
// after them are zeros.
struct GroupNormAttributes {
  float epsilon = 1e-5f;
  uint32_t level = 0, sentences = 0;
};

// "add": x += y, same shape, in place. "transpose": y[c, r] = x[r, c]. "activation": y = scale * act(x).
struct ElementwiseAttributes {
  Activation activation = Activation::none;
  float scale = 1;
};

// "copy": y[r, c] = x[first_row + r, first_column + c].
struct CopyAttributes {
  uint32_t first_column = 0;
  uint32_t first_row = 0;
};

// "gate": y[r, c] = act(x[r, c]) * x[r, round_up(cols, 4) + c]: gate and value side by side, as one product produces
// them when its matrix has a gap of up to three zero columns between them (gate_value_column).
// inputs: x [rows, round_up(cols, 4) + cols]. outputs: y [rows, cols]. Attributes as above.
constexpr uint64_t gate_value_column(uint64_t cols) { return round_up<uint64_t>(cols, 4); }

// "softmax": rows of [rows, cols] over columns [begin, end) of lengths entry r / rows_per_sentence; other columns
// become 0, and an empty range gives zeros. Values at or below state::FORBIDDEN count as outside. In place. inputs: x,
// lengths (of state::MAX_ROWS sentences) or kNone (all columns).
struct SoftmaxAttributes {
  uint32_t rows_per_sentence = 1;
};

// "pool": y[i] = one row for sentence i of its rows of x: the row numbered `row` (zeros if the sentence has none), the
// last one, their mean, their mean weighted by 1, 2, 3..., the maximum of each column, or their sum divided by the root
// of their number. The first `skipped` rows of each sentence are left out. Further poolings stand beside the first.
// inputs: x, spans (StateKind::spans; sentences may lie apart). outputs: y [sentences, cols * (1 + more)]; rows of y
// without a sentence are zeros. With further poolings cols is a multiple of 4.
enum class Pooling : uint32_t { row, last, mean, ramp, maximum, mean_sqrt };
struct PoolAttributes {
  Pooling pooling = Pooling::row;
  uint32_t row = 0;
  uint32_t skipped = 0;
  uint32_t more = 0;  // poolings in `beside`
  std::array<Pooling, 5> beside{};
};

namespace ops {
// In a step and in an encode pass x has live rows; so do tensors derived from it row by row.
graph::TensorId layer_norm(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                           const LayerNormAttributes& attributes);
struct UnfoldOperands {
  graph::TensorId x = graph::kNone, spans = graph::kNone, positions = graph::kNone;
  uint64_t rows = 0;  // rows of y
  bool live_rows = false;
};
graph::TensorId unfold(graph::Graph& g, const std::string& label, const UnfoldOperands& operands,
                       const UnfoldAttributes& attributes);
struct GroupNormOperands {
  graph::TensorId x = graph::kNone, spans = graph::kNone, weight = graph::kNone;
};
graph::TensorId group_norm(graph::Graph& g, const std::string& label, const GroupNormOperands& operands,
                           const GroupNormAttributes& attributes);
graph::TensorId add(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId y);
graph::TensorId activation(graph::Graph& g, const std::string& label, graph::TensorId x, Activation activation);
graph::TensorId gate(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t cols,
                     Activation activation);
// y = factor * x: an "activation" node.
graph::TensorId scale(graph::Graph& g, const std::string& label, graph::TensorId x, float factor);
// Copies `cols` columns from `first_column` on, of any element type and row stride; y is padded to vec4.
graph::TensorId copy(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t first_column,
                     uint64_t cols);
graph::TensorId copy(graph::Graph& g, const std::string& label, graph::TensorId x);
// Copies `rows` rows from `first_row` on; x has no live rows.
graph::TensorId copy_rows(graph::Graph& g, const std::string& label, graph::TensorId x, uint64_t first_row,
                          uint64_t rows);
graph::TensorId softmax(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId lengths,
                        uint32_t rows_per_sentence);
graph::TensorId transpose(graph::Graph& g, const std::string& label, graph::TensorId x);
// Rows of sentences, and the spans that say which.
struct SpannedRows {
  graph::TensorId x = graph::kNone, spans = graph::kNone;
};
graph::TensorId pool(graph::Graph& g, const std::string& label, const SpannedRows& rows, uint32_t sentences,
                     const PoolAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
