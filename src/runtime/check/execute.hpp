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
#include "vulkan/device.hpp"

namespace lapilli::runtime {

// Where the bytes of a tensor are. `offset` is a multiple of 256.
struct TensorPlace {
  const vulkan::Buffer* buffer = nullptr;
  uint64_t offset = 0;
};

struct ExecuteOptions {
  // Grids that follow the live rows run for so many rows; by default, and where `caps.indirect_dispatch` is off, for
  // all.
  uint64_t live_rows = ~uint64_t{0};
  uint64_t live_tiles = ~uint64_t{0};  // the same for grids that follow tiles
  // A recording ends before these are exceeded: dispatches, and their estimated cost.
  uint32_t dispatches_per_submit = 512;
  WorkLimit work{std::numeric_limits<double>::infinity()};
};

// Dispatches in one recording, in order, each behind a barrier.
struct RecordedDispatches {
  vulkan::DescriptorArena sets;
  vulkan::CommandRecording commands;
  graph::Cost cost;
};
// For one submission each, in order. Makes the pipelines that are missing. See execute().
Result<std::vector<RecordedDispatches>> record(const std::shared_ptr<vulkan::Device>& device, const Capabilities& caps,
                                               std::span<const Dispatch> dispatches,
                                               std::span<const TensorPlace> places, const ExecuteOptions& options = {});

// `caps` are those that the dispatches were lowered for (the device's own, perhaps narrowed). `places` by TensorId;
// what the operands name (roots or aliases alike) must be there.
Status execute(const std::shared_ptr<vulkan::Device>& device, const Capabilities& caps,
               std::span<const Dispatch> dispatches, std::span<const TensorPlace> places,
               const ExecuteOptions& options = {});

struct HostRunOptions {
  ExecuteOptions execute;
  uint32_t runs = 1;  // more than one: each starts from the same values and must give the same bits
};
// What a run on host tensors found besides the values.
struct HostRunReport {
  std::string violation;  // a guard region or an input was written, or two runs differ; names the tensor. Empty: none
};
// Runs the dispatches of the graph's node 0 on copies of `values` (floats where those are doubles) in buffers of their
// own with guard regions on both sides, and puts what was written back into `values`.
Result<HostRunReport> execute_on_host(const std::shared_ptr<vulkan::Device>& device, const Capabilities& caps,
                                      std::span<const Dispatch> dispatches, HostTensors& values,
                                      const HostRunOptions& options = {});

}  // namespace lapilli::runtime
