// A plan as a picture (Graphviz) and as data (JSON), for `lapilli plan`. Names come from the caller, since the graph
// knows no ops.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/plan_memory.hpp"
#include "graph/schedule.hpp"

namespace lapilli::graph {

// How a command runs: its workgroups, and the specialization constants of its kernel.
struct CommandShape {
  uint64_t groups = 0;
  std::vector<uint32_t> constants;
};

// The plan to print. Everything is borrowed and must be consistent (commands name nodes of the graph, the schedule
// those commands).
struct PlanPicture {
  const Graph& graph;
  const Placement& placement;
  std::span<const Command> commands;
  const Schedule& schedule;
  std::string title;
  // The names of a node's op and of the kernel that a command (by index) runs. If empty, a node has only its label, and
  // commands have no name.
  std::function<std::string(NodeId)> op_name;
  std::function<std::string(uint32_t)> command_name;
  std::function<CommandShape(uint32_t)> command_shape = {};  // if empty, shapes are not printed
};

// A cluster for each segment, a rank for each level (with its cost), and edges from the nodes that wrote a tensor's
// value to one that reads it. Weights are omitted.
std::string to_dot(const PlanPicture& plan);

// One object: title, summary, arena (its bytes, and each tensor's place and lifetime), tensors, nodes, commands with
// their ranges, levels with cost and barrier, segments. Indices refer to the lists; null stands for none. Invalid UTF-8
// in names is replaced.
std::string to_json(const PlanPicture& plan);

}  // namespace lapilli::graph
