// Shared by the ops that convert stored weights: stored values on the host, and the lowering of packing.
#pragma once

#include <vector>

#include "ops/core/op.hpp"
#include "ops/core/weight_layout.hpp"
#include "ops/products/pack.hpp"

namespace lapilli::stored {

constexpr uint64_t element_bytes(StoredFormat format) { return format == StoredFormat::f32 ? 4 : 2; }
constexpr uint64_t words(StoredFormat format, uint64_t elements) {
  return div_up<uint64_t>(elements * element_bytes(format), 4);
}
const char* name(StoredFormat format);

// Element i of raw words.
double value(StoredFormat format, const std::vector<uint32_t>& raw, uint64_t i);
// Raw words of reproducible values for cases, including subnormal and large ones.
std::vector<uint32_t> random_words(StoredFormat format, uint64_t elements, uint64_t seed);

// Initial contents of a case's destination; packing overwrites only its rows.
HostTensor before_packing(const graph::Tensor& destination, uint64_t seed);

// An operand over elements [begin, end) of raw words; `delta` receives the elements between the bound start and
// `begin`.
struct ElementSpan {
  graph::TensorId raw = graph::kNone;
  StoredFormat format = StoredFormat::f32;
  uint64_t begin = 0, end = 0;
};
Operand bind_elements(const LowerContext& context, uint32_t binding, const ElementSpan& elements, uint32_t& delta);

// Destinations of stored elements, for both "pack" and "pack_bias".
struct Packing {
  PackAttributes attributes;
  WeightFormat format = WeightFormat::fp32;  // of the output
  uint64_t rows = 0, k = 0;                  // stored rows (columns of the packed matrix) and depth
  uint64_t panel_words = 0;                  // panel stride in words
  uint64_t begin = 0;                        // destination word of column 0, depth 0 of the part
  uint64_t first_row = 0;                    // number of stored row 0 of the part

  [[nodiscard]] uint64_t column(uint64_t row) const {
    const uint64_t n = first_row + row;
    return attributes.first_column + n / attributes.group * attributes.group_stride + n % attributes.group;
  }
  [[nodiscard]] uint64_t element(uint64_t row, uint64_t depth) const {
    return attributes.transposed ? depth * rows + row : row * k + depth;
  }
  [[nodiscard]] uint64_t word(uint64_t row, uint64_t depth) const {
    return begin + packed::element(column(row), packed::depth_row(format, depth), panel_words);
  }
  // The first word of a column for a depth that begins a granule.
  [[nodiscard]] uint64_t first_word(uint64_t row, uint64_t depth) const {
    return begin + packed::element(column(row), packed::granule_row(format, depth), panel_words);
  }
};

// inputs: raw, destination; outputs: destination. The columns lie within the matrix, and no two rows share one.
Status expect_packing(const graph::Graph& g, const graph::Node& node, const Packing& packing);
std::vector<Variant> packing_variants(const Capabilities& caps, WeightFormat format);
Status lower_packing(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                     const Packing& packing, std::vector<Dispatch>& out);
void packing_reference(const graph::Node& node, const Packing& packing, HostTensors& values);

}  // namespace lapilli::stored
