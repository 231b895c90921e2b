// In which format the device holds a network's matrices, and the keys and values of its searches.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/network.hpp"

namespace lapilli::model {

// A matrix that stays in fp32, since fp16 would not hold its numbers.
struct KeptMatrix {
  std::string name;
  uint64_t beyond = 0, flushed = 0, numbers = 0;  // larger than 65,504; not 0, but 0 in fp16; all
};

// Gives stored matrices the format, with which they are packed when they are loaded: those whose names `takes` says yes
// to (none: all), and whose tensors are not packed yet; bias, normalization and tables stay as they are. For fp16 the
// numbers are read once: where one is beyond its range, or one in kFlushedOf vanishes, the matrix stays in fp32.
constexpr uint64_t kFlushedOf = 1000;
using MatrixChoice = std::function<bool(const std::string& name)>;
Result<std::vector<KeptMatrix>> set_format(Network& network, WeightFormat format, const MatrixChoice& takes = nullptr);

// Gives the caches of searches the format. fp16 asks for rows of queries that are whole words of halves, for keys and
// values follow them in a product's columns; of a network whose heads are odd in number and width they stay in fp32.
void set_kv_format(Network& network, KvFormat format);

// Those that are in fp32.
uint32_t fp32_matrices(const Network& network);

}  // namespace lapilli::model
