// Conversions of stored weights into their layouts.
#pragma once

#include "graph/graph.hpp"

namespace lapilli {

// Number formats of values in a checkpoint.
enum class StoredFormat : uint32_t { f32, f16, bf16 };

// "convert": raw words (u32, holding f32, f16 pairs or bf16 pairs, little-endian) to f32, element by element.
struct ConvertAttributes {
  StoredFormat format = StoredFormat::f32;
  uint32_t elements = 0;
  uint32_t destination = 0;  // first element of the output
};
// "pack": rows [n, k] of a linear layer's weight as stored (out, in), raw words, into columns of a packed matrix:
//   stored row r goes to column first_column + (r / group) * group_stride + r % group.
// "pack_bias": the same for a bias vector [n] (raw words).
struct PackAttributes {
  StoredFormat format = StoredFormat::f32;
  uint32_t rows = 0, k = 0;  // size of the stored matrix part given as input
  uint32_t n_total = 0;      // columns of the packed matrix
  uint32_t first_row = 0;    // number of the input's first row within the stored matrix
  uint32_t first_column = 0, group = 1, group_stride = 1;
  uint32_t transposed = 0;  // 1: stored as (in, out), like GPT-2's; `rows` then counts k and `k` counts columns
  // 1: rows of words in the destination's format (packed::row_words), moved unchanged; `k` counts words.
  uint32_t packed = 0;
};

namespace ops {
// Write in place into an existing tensor (a weight).
void convert(graph::Graph& g, const std::string& label, graph::TensorId raw, graph::TensorId destination,
             const ConvertAttributes& attributes);
void pack(graph::Graph& g, const std::string& label, graph::TensorId raw, graph::TensorId destination,
          const PackAttributes& attributes);
void pack_bias(graph::Graph& g, const std::string& label, graph::TensorId raw, graph::TensorId destination,
               const PackAttributes& attributes);
}  // namespace ops

}  // namespace lapilli
