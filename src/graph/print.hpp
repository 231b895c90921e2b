// A plan as a picture (Graphviz) and as data (JSON), for `lapilli plan`. Names come from the caller, since the graph
// knows no op.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/plan_memory.hpp"
#include "graph/schedule.hpp"

namespace lapilli::graph {

// How a command is run: its workgroups, and what its kernel is specialized with.
struct CommandShape {
  uint64_t groups = 0;
  std::vector<uint32_t> constants;
};

// What is printed. Everything is borrowed and must fit together (commands name nodes of the graph, the schedule those
// commands).
struct PlanPicture {
  const Graph& graph;
  const Placement& placement;
  std::span<const Command> commands;
  const Schedule& schedule;
  std::string title;
  // The name of a node's op, and of the kernel that a command (by index) runs. May be empty: then the node's label
  // stands alone, and commands have no name.
  std::function<std::string(NodeId)> op_name;
  std::function<std::string(uint32_t)> command_name;
  std::function<CommandShape(uint32_t)> command_shape = {};  // may be empty: nothing is said of it
};

// A cluster for each segment, a rank for each level (with its cost), edges where a tensor's value flows from the nodes
// that wrote it to one that reads it. Weights are left out.
std::string to_dot(const PlanPicture& plan);

// One object: title, summary, arena (bytes, and who lies where and lives when), tensors, nodes, commands with their
// ranges, levels with cost and barrier, segments. Indices refer to the lists; null stands for none. Bytes that are no
// UTF-8 in names are replaced.
std::string to_json(const PlanPicture& plan);

}  // namespace lapilli::graph
