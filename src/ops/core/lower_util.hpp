// Helpers shared by the ops: messages that name the node, shape checks, slices by rows.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "ops/core/op.hpp"
#include "ops/core/weight_layout.hpp"

namespace lapilli {

// "op LABEL: message"
Failure node_message(const graph::Node& node, const std::string& message);
template <class... Values>
Failure node_error(const graph::Node& node, std::type_identity_t<Pattern<Values...>> pattern, const Values&... values) {
  return node_message(node, format<Values...>(pattern, values...));
}

inline graph::TensorId operand(const std::vector<graph::TensorId>& list, size_t i) {
  return i < list.size() ? list[i] : graph::kNone;
}

// Checks that the operand exists with this shape and type (rows or cols 0: any).
struct Expect {
  const char* role;
  uint64_t rows = 0, cols = 0;
  graph::DType dtype = graph::DType::f32;
};
Status expect_input(const graph::Graph& g, const graph::Node& node, size_t index, const Expect& expect);
Status expect_output(const graph::Graph& g, const graph::Node& node, size_t index, const Expect& expect);
// Checks that the tensor has at least `words` elements.
Status expect_words(const graph::Graph& g, const graph::Node& node, graph::TensorId id, const char* role,
                    uint64_t words);
// Checks that it is a packed matrix of n columns and depth k, in any format.
struct ExpectWeight {
  const char* role;
  uint64_t n, k;
};
Status expect_weight(const graph::Graph& g, const graph::Node& node, graph::TensorId id, const ExpectWeight& expect);

// The numbers of a packed matrix for references, in fp32's layout.
class HostWeight {
 public:
  HostWeight(const graph::Graph& g, graph::TensorId id, uint64_t n, uint64_t k, HostTensors& tensors);
  HostWeight(const HostWeight&) = delete;
  HostWeight& operator=(const HostWeight&) = delete;
  [[nodiscard]] const std::vector<double>& values() const { return *values_; }

 private:
  std::vector<double> unpacked_;  // for other formats
  const std::vector<double>* values_;
};

// Rows [begin, end) that one dispatch covers.
struct RowSlice {
  uint64_t begin = 0, end = 0;
};
// The cost of a row: bytes in the widest operand that is bound by rows, and groups.
struct RowCost {
  uint64_t bytes = 0;
  uint64_t groups = 1;
};

// Cuts `rows` so that each slice fits the binding limit (with slack for the alignment of its start) and the grid.
// Slices begin at multiples of `tile` rows.
Result<std::vector<RowSlice>> row_slices(const LowerContext& context, const graph::Node& node, uint64_t rows,
                                         RowCost cost, uint64_t tile = 1);

// Makes the grid follow the live rows; only if one dispatch covers all rows from row 0 on.
void follow_live_rows(Dispatch& dispatch, uint32_t groups_per_tile, uint32_t rows_per_tile);

}  // namespace lapilli
