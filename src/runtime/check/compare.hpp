// Node by node: compares a plan on the device with the double-precision interpreter on the host. Finds the first op
// that is wrong on a device, whatever the model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/check/interpreter.hpp"
#include "runtime/run/bind.hpp"

namespace lapilli {

// Deviation of a tensor's words on a device from the expected values.
struct TensorDeviation {
  double deviation = 0;  // largest |device - expected| / max(1, largest |expected|), for f32 and (beyond one step) f16
  uint64_t words_that_differ = 0;  // in u32; words that hold close floats do not count
};
TensorDeviation deviation_of(const graph::Tensor& t, std::span<const uint32_t> words, const HostTensor& expected);

struct NodeDeviation {
  graph::NodeId node = graph::kNone;
  std::string label, variant;
  double deviation = 0;            // largest |device - reference| / max(1, largest |reference|) over the node's outputs
  uint64_t words_that_differ = 0;  // in u32 outputs; words that hold close floats do not count
};

// Runs the plan once, level by level, and compares every node's outputs as soon as it is complete. The plan must have
// been compiled with reuse_memory off and segment_per_level on. `interpreter` holds the same weights and states; it
// advances with the device.
Result<std::vector<NodeDeviation>> run_compared(const std::shared_ptr<vulkan::Device>& device,
                                                const std::shared_ptr<const Plan>& plan, const MemoryMap& memory,
                                                Interpreter& interpreter);

}  // namespace lapilli
