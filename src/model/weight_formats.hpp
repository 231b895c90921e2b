// Formats of a network's matrices on the device, and of the keys and values of its searches.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/network.hpp"

namespace lapilli::model {

// A matrix that stays in fp32 because fp16 would not hold its numbers.
struct KeptMatrix {
  std::string name;
  uint64_t beyond = 0, flushed = 0, numbers = 0;  // above 65,504; nonzero but 0 in fp16; all
};

// Sets the format in which stored matrices are packed when loaded: those whose names `takes` accepts (none: all) and
// whose tensors are not packed yet; biases, norms, tables and convolutions stay as they are. For fp16, the numbers are
// read once: a matrix stays in fp32 if one of them is out of range, or more than one in kFlushedOf becomes 0.
constexpr uint64_t kFlushedOf = 1000;
using MatrixChoice = std::function<bool(const std::string& name)>;
Result<std::vector<KeptMatrix>> set_format(Network& network, WeightFormat format, const MatrixChoice& takes = nullptr);

// Sets the format of search caches. fp16 requires rows of queries to be whole words of halves, because keys and values
// follow them in a product's columns; with an odd number of query columns, the caches stay in fp32.
void set_kv_format(Network& network, KvFormat format);

// The number of matrices in fp32.
uint32_t fp32_matrices(const Network& network);

}  // namespace lapilli::model
