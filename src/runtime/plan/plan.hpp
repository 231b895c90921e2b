// A graph compiled for one device: chosen variants, dispatches, memory offsets, barriers, segments. Immutable, names no
// buffer; sessions bind it (runtime/run/bind.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "graph/graph.hpp"
#include "graph/plan_memory.hpp"
#include "graph/schedule.hpp"
#include "ops/core/op.hpp"
#include "vulkan/caps/capabilities.hpp"

namespace lapilli {

// Variants that the self-test ruled out on a device. The floor of an op cannot be refused.
class Verdicts {
 public:
  void refuse(std::string op, std::string variant) { refused_.emplace_back(std::move(op), std::move(variant)); }
  [[nodiscard]] bool refused(const char* op, const char* variant) const;
  [[nodiscard]] bool empty() const { return refused_.empty(); }
  [[nodiscard]] size_t size() const { return refused_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> refused_;
};

class Tunings;  // runtime/plan/tunings.hpp

struct CompileOptions {
  const Verdicts* verdicts = nullptr;
  // Fastest choices found, which replace the defaults of OpDef::variants for the nodes they cover. Null: none.
  const Tunings* tunings = nullptr;
  bool floor_only = false;  // every op uses its floor
  // Only variants with a single summation order, so that a value does not depend on the variant that a plan of another
  // size has.
  bool deterministic = false;
  bool reuse_memory = true;  // false: every value keeps its own bytes (node-by-node comparison)
  bool segment_per_level = false;
  std::optional<WorkLimit> work;  // per dispatch and segment; none: the finest of the device
};

struct PlannedDispatch {
  uint32_t pipeline = 0;  // index into Plan::pipelines
  graph::NodeId node = graph::kNone;
  std::array<uint32_t, 3> groups{1, 1, 1};
  int grid = -1;  // index into Plan::grids: dispatched indirectly
  // Bytes within the arena, the weight or the state.
  struct Binding {
    uint32_t binding = 0;
    graph::Space space = graph::Space::arena;
    uint32_t id = 0;
    uint64_t offset = 0, size = 0;
    friend bool operator==(const Binding&, const Binding&) = default;
  };
  std::vector<Binding> bindings;
  std::array<std::byte, 128> push{};
  uint32_t push_bytes = 0;
};

struct PlannedPipeline {
  ShaderId shader{};
  std::vector<uint32_t> constants;
  friend bool operator==(const PlannedPipeline&, const PlannedPipeline&) = default;
};

struct GridSpec {
  uint32_t groups_per_tile = 0, rows_per_tile = 0;
  Follows follows = Follows::rows;
  friend bool operator==(const GridSpec&, const GridSpec&) = default;
};

struct Plan {
  graph::Graph graph;
  graph::Placement placement;
  std::vector<Variant> variants;  // by node
  std::vector<PlannedPipeline> pipelines;
  std::vector<PlannedDispatch> dispatches;
  std::vector<graph::Command> commands;  // the same dispatches, as byte ranges
  graph::Schedule schedule;
  std::vector<GridSpec> grids;  // distinct grids that follow the live rows; at most state::MAX_GRIDS
  // The state that holds their arguments: encode_grids or prompt_grids if the graph has it, otherwise grids.
  uint32_t grids_state = 0;
  uint32_t max_group_x = 65535;

  // Number of nodes whose variant and numbers come from CompileOptions::tunings.
  [[nodiscard]] size_t tuned() const;
  [[nodiscard]] uint64_t arena_bytes() const { return placement.arena_bytes; }
};

Result<std::shared_ptr<const Plan>> compile(graph::Graph graph, const Capabilities& caps,
                                            const CompileOptions& options = {});

// The variant that compile() takes for a node.
Variant choose_variant(const Capabilities& caps, const graph::Graph& graph, const graph::Node& node,
                       const CompileOptions& options);

}  // namespace lapilli
