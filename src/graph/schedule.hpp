// From a list of commands with byte ranges to levels, barriers and segments; and the checker that proves them anew.
//
// A command is one dispatch (or copy) after lowering and placement. Ranges are absolute within their memory: the arena,
// one weight, or one state. Two commands conflict if they touch common bytes and one of them writes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace lapilli::graph {

enum class Access : uint8_t { read = 1, write = 2, read_write = 3 };

struct Range {
  Space space = Space::arena;
  uint32_t id = 0;              // which weight or state
  uint64_t begin = 0, end = 0;  // bytes
  Access access = Access::read;
  // Bytes that the range moves on with every replay of the plan (the log is written step by step). 0: fixed.
  uint64_t step_stride = 0;
};

struct Command {
  std::vector<Range> ranges;
  double cost = 0;  // estimated, in units of about a floating-point operation
  NodeId node = kNone;
};

// What commands are estimated to take of a device: how long that is only a device's pace says (runtime/run/pace.hpp).
struct Cost {
  double operations = 0, bytes = 0, commands = 0;
  Cost& operator+=(const Cost& c);
  friend Cost operator*(Cost c, double times) { return {c.operations * times, c.bytes * times, c.commands * times}; }
  friend bool operator==(const Cost&, const Cost&) = default;
};
Cost cost_of(const Command& command);
// Bytes that a dispatch's bindings cover, those that it reads and writes twice: what it moves at most. It may touch
// less (rows of a table, positions of a cache that are not there yet).
uint64_t covered_bytes(const Command& command);

struct Level {
  uint32_t begin = 0, end = 0;  // into Schedule::order
};
// Commands of one level run concurrently; a global memory barrier stands between consecutive levels of a segment.
struct Schedule {
  std::vector<uint32_t> order;     // command indices
  std::vector<Level> levels;       // consecutive, cover order
  std::vector<uint32_t> segments;  // index of the first level of each segment; a segment is one recording
  std::vector<Cost> segment_costs;
};

struct ScheduleOptions {
  // A segment is closed, and a level cut, when its operations or bytes would exceed these; a single command may. 0
  // operations: each level is one.
  double segment_cost = 1e12, segment_bytes = 1e18;
};
// As-soon-as-possible levels over the conflicts in program order.
Schedule schedule(std::span<const Command> commands, const ScheduleOptions& options);

bool conflicts(const Range& a, const Range& b);

// What happens around and between plans, in order, as the runner does it. Every recording opens with a full barrier and
// closes with shader-write to host-read; a host access is ordered after a submission only by a wait.
struct Event {
  enum class Kind : uint8_t { submit, wait, host } kind = Kind::submit;
  // submit: all segments of this plan, run as replay number `step`
  std::span<const Command> commands;
  const Schedule* schedule = nullptr;
  uint64_t step = 0;
  uint64_t ticket = 0;  // submit: the ticket it gets; wait: the ticket waited for (and all earlier ones)
  Range host;           // host: the range read or written
  // Barriers that are taken out, as (level index) pairs are merged; for tests of the checker only.
  std::vector<uint32_t> removed_barriers;
};

// Independent of schedule(): walks the commands as a device may run them and reports the first pair of conflicting
// accesses that no barrier (or wait) separates, commands that are missing, doubled or out of dependency order.
Status check(std::span<const Event> events);
// One plan alone.
Status check(std::span<const Command> commands, const Schedule& schedule);

}  // namespace lapilli::graph
