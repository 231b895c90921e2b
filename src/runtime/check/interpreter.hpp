// The whole-model reference: runs graphs node by node through every op's double-precision reference; weights and
// session state are kept by id between graphs, as on the device.
#pragma once

#include <cstdint>
#include <map>

#include "ops/core/op.hpp"

namespace lapilli {

class Interpreter {
 public:
  // Values of weights and states by id; sized on first use if missing (zeros).
  std::map<uint32_t, HostTensor> weights, states;

  // Runs node `id`; begin() first. After each node the tensors match the device's bytes (in place included).
  void begin(const graph::Graph& graph);
  void run_node(graph::NodeId id);
  void end();  // writes states back
  HostTensor& tensor(graph::TensorId id) { return tensors_.at(id); }

  void run(const graph::Graph& graph);

 private:
  HostTensors tensors_;
};

}  // namespace lapilli
