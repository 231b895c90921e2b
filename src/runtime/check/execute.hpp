// One-shot execution: runs lowered dispatches once, in order, and waits. For tests, the self-test and the packing of
// weights; plans and sessions replay instead.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "graph/graph.hpp"
#include "ops/core/op.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::runtime {

// Location of a tensor's bytes. `offset` is a multiple of 256.
struct TensorPlace {
  const vulkan::Buffer* buffer = nullptr;
  uint64_t offset = 0;
};

struct ExecuteOptions {
  // Rows for grids that follow the live rows; by default, and where `caps.indirect_dispatch` is off, all rows.
  uint64_t live_rows = ~uint64_t{0};
  uint64_t live_tiles = ~uint64_t{0};  // the same for grids that follow tiles
  // A recording ends before exceeding these: dispatches, and their estimated cost.
  uint32_t dispatches_per_submit = 512;
  WorkLimit work{std::numeric_limits<double>::infinity()};
};

// Dispatches in one recording, in order, each after a barrier.
struct RecordedDispatches {
  vulkan::DescriptorArena sets;
  vulkan::CommandRecording commands;
  graph::Cost cost;
};
// One recording per submission, in order. Makes missing pipelines. See execute().
Result<std::vector<RecordedDispatches>> record(const std::shared_ptr<vulkan::Device>& device, const Capabilities& caps,
                                               std::span<const Dispatch> dispatches,
                                               std::span<const TensorPlace> places, const ExecuteOptions& options = {});

// `caps` are the capabilities that the dispatches were lowered for (the device's own, possibly narrowed). `places` is
// indexed by TensorId and must contain the tensors that operands name (roots or aliases).
Status execute(const std::shared_ptr<vulkan::Device>& device, const Capabilities& caps,
               std::span<const Dispatch> dispatches, std::span<const TensorPlace> places,
               const ExecuteOptions& options = {});

struct HostRunOptions {
  ExecuteOptions execute;
  uint32_t runs = 1;  // if more than one, each starts from the same values and must give the same bits
};
// Findings of a run on host tensors besides the values.
struct HostRunReport {
  std::string violation;  // a guard region or an input was written, or two runs differ; names the tensor. Empty: none
};
// Runs the dispatches of the graph's node 0 on copies of `values` (doubles become floats) in separate buffers with
// guard regions on both sides, and copies written values back into `values`.
Result<HostRunReport> execute_on_host(const std::shared_ptr<vulkan::Device>& device, const Capabilities& caps,
                                      std::span<const Dispatch> dispatches, HostTensors& values,
                                      const HostRunOptions& options = {});

}  // namespace lapilli::runtime
