// Node by node: compares a plan on the device with the double-precision interpreter on the host. Finds the first op
// that is wrong on a device, whatever the model.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/worst.hpp"
#include "runtime/check/compare.hpp"
#include "runtime/run/bind.hpp"

namespace lapilli {

struct NodeDeviation {
  graph::NodeId node = graph::kNone;
  std::string label, variant;
  double deviation = 0;            // largest |device - reference| / max(1, largest |reference|) over the node's outputs
  uint64_t words_that_differ = 0;  // in u32 outputs; words that hold close floats do not count
};

class Comparer {
 public:
  Comparer(vulkan::Device& device, const Plan& plan, const MemoryMap& memory, Interpreter& interpreter)
      : device_(device), plan_(plan), memory_(memory), interpreter_(interpreter) {}

  Result<NodeDeviation> compare(graph::NodeId id) {
    const auto& node = plan_.graph.node(id);
    NodeDeviation result{id, node.label, plan_.variants[id].name};
    for (const graph::TensorId output : node.outputs)
      if (output != graph::kNone && !plan_.graph.tensor(output).scratch) LAPILLI_CHECK(compare_tensor(output, result));
    return result;
  }

 private:
  Status compare_tensor(graph::TensorId id, NodeDeviation& result) {
    const auto root = plan_.graph.root(id);
    const auto& t = plan_.graph.tensor(root);
    const BufferRef ref = memory_(t.space, t.id);
    if (!ref.buffer) return fail(ErrorCode::internal, "tensor %s has no buffer", t.name);
    const uint64_t offset = ref.offset + (t.space == graph::Space::arena ? plan_.placement.offset[root] : 0);
    words_.resize(t.elements());
    LAPILLI_CHECK(device_.read(*ref.buffer, offset, std::as_writable_bytes(std::span(words_))));
    HostTensor& expected = interpreter_.tensor(root);
    const TensorDeviation d = deviation_of(t, words_, expected);
    result.deviation = worse(result.deviation, d.deviation);
    result.words_that_differ += d.words_that_differ;
    // The interpreter continues with the device's halves, so that later values differ only by fp32 rounding.
    if (t.dtype == graph::DType::f16) std::copy(words_.begin(), words_.end(), expected.u.begin());
    return {};
  }

  vulkan::Device& device_;
  const Plan& plan_;
  const MemoryMap& memory_;
  Interpreter& interpreter_;
  std::vector<uint32_t> words_;
};

// Runs the plan once, level by level, and compares every node's outputs as soon as it is complete. The plan must have
// been compiled with reuse_memory off and segment_per_level on. `interpreter` holds the same weights and states; it
// advances with the device.
inline Result<std::vector<NodeDeviation>> run_compared(const std::shared_ptr<vulkan::Device>& device,
                                                       const std::shared_ptr<const Plan>& plan, const MemoryMap& memory,
                                                       Interpreter& interpreter) {
  const auto& s = plan->schedule;
  if (s.segments.size() != s.levels.size())
    return fail(ErrorCode::invalid_argument, "the plan was not compiled with a segment per level");
  LAPILLI_TRY(const auto bound, BoundPlan::bind(device, plan, memory, {.use = vulkan::RecordingUse::single}));
  std::vector<uint32_t> left(plan->graph.nodes().size(), 0);
  for (const auto& d : plan->dispatches) ++left[d.node];
  interpreter.begin(plan->graph);
  Comparer comparer(*device, *plan, memory, interpreter);
  std::vector<NodeDeviation> all;
  const auto recordings = bound.recordings();
  for (size_t level = 0; level < recordings.size(); ++level) {
    LAPILLI_TRY(const auto ticket, device->submit(std::span(recordings).subspan(level, 1)));
    LAPILLI_CHECK(device->wait(ticket));
    std::vector<graph::NodeId> complete;
    for (uint32_t i = s.levels[level].begin; i < s.levels[level].end; ++i) {
      const graph::NodeId node = plan->dispatches[s.order[i]].node;
      if (--left[node] == 0) complete.push_back(node);
    }
    std::sort(complete.begin(), complete.end());
    for (const graph::NodeId node : complete) {
      interpreter.run_node(node);
      LAPILLI_TRY(auto deviation, comparer.compare(node));
      all.push_back(std::move(deviation));
    }
  }
  interpreter.end();
  return all;
}

}  // namespace lapilli
