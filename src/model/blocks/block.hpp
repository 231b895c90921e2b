// The context of blocks that append ops to a graph: the network, the graph, and the outputs to keep.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "model/network.hpp"
#include "ops/attention/attention.hpp"
#include "ops/rows/basic.hpp"

namespace lapilli::model {

// An output that the caller reads back, under the reference's name for it.
struct NamedOutput {
  std::string name;
  graph::TensorId tensor = graph::kNone;
};

// The input of a sublayer (h), and the tensor that its result is added to in place (x): the same tensor in post-norm
// networks; in pre-norm ones, h is the normalization of x. Attention with a cache, or to an encoder's output, also has
// the keys and values (kv).
struct Sublayer {
  graph::TensorId h = graph::kNone, x = graph::kNone, kv = graph::kNone;
};

class Builder {
 public:
  Builder(const Network& network, graph::Graph& graph) : network_(network), graph_(graph) {}

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] const Config& config() const { return network_.config; }
  graph::Graph& g() { return graph_; }

  // The graph's tensor for a weight; repeated calls return the same one.
  graph::TensorId weight(WeightIndex index);
  // The graph's tensor for a state of `words` 32-bit words; one per state.
  graph::TensorId state(uint32_t id, std::string name, uint64_t rows, uint64_t cols,
                        graph::DType dtype = graph::DType::u32);

  // Keeps a value under a name; the tensor must not be updated in place afterwards (see keep_copy).
  void keep(std::string name, graph::TensorId tensor);
  // Keeps a copy, for values that are updated in place later.
  void keep_copy(const std::string& name, graph::TensorId tensor);
  [[nodiscard]] const std::vector<NamedOutput>& outputs() const { return outputs_; }

 private:
  const Network& network_;
  graph::Graph& graph_;
  std::vector<std::pair<WeightIndex, graph::TensorId>> weights_;
  std::vector<std::pair<uint32_t, graph::TensorId>> states_;
  std::vector<NamedOutput> outputs_;
};

}  // namespace lapilli::model
