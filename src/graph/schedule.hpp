// Turns a list of commands with byte ranges into levels, barriers and segments; and a checker that verifies them.
//
// A command is one dispatch (or copy) after lowering and placement. Ranges are absolute within their memory: the arena,
// one weight, or one state. Two commands conflict if they access common bytes and one of them writes.
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
  // Bytes by which the range moves at every replay of the plan (the log is written step by step). 0: fixed.
  uint64_t step_stride = 0;
};

struct Command {
  std::vector<Range> ranges;
  double cost = 0;  // estimated, in units of about a floating-point operation
  NodeId node = kNone;
};

// The work that commands are estimated to cause; only a device's pace (runtime/run/pace.hpp) turns it into time.
struct Cost {
  double operations = 0, bytes = 0, commands = 0;
  Cost& operator+=(const Cost& c);
  friend Cost operator*(Cost c, double times) { return {c.operations * times, c.bytes * times, c.commands * times}; }
  friend bool operator==(const Cost&, const Cost&) = default;
};
Cost cost_of(const Command& command);
// Bytes covered by a dispatch's bindings, counted twice if read and written: an upper bound of its traffic. It may
// touch less (rows of a table, positions of a cache that are not there yet).
uint64_t covered_bytes(const Command& command);

struct Level {
  uint32_t begin = 0, end = 0;  // into Schedule::order
};
// Commands of one level run concurrently; a global memory barrier separates consecutive levels of a segment.
struct Schedule {
  std::vector<uint32_t> order;     // command indices
  std::vector<Level> levels;       // consecutive, cover order
  std::vector<uint32_t> segments;  // index of the first level of each segment; a segment is one recording
  std::vector<Cost> segment_costs;
};

struct ScheduleOptions {
  // A segment is closed, and a level split, before its operations or bytes exceed these; a single command may. 0
  // operations: each level is a segment.
  double segment_cost = 1e12, segment_bytes = 1e18;
};
// As-soon-as-possible levels over the conflicts in program order.
Schedule schedule(std::span<const Command> commands, const ScheduleOptions& options);

bool conflicts(const Range& a, const Range& b);

// The events around and between plans, in the runner's order. Every recording opens with a full barrier and closes with
// shader-write to host-read; a host access is ordered after a submission only by a wait.
struct Event {
  enum class Kind : uint8_t { submit, wait, host } kind = Kind::submit;
  // submit: all segments of this plan, as replay number `step`
  std::span<const Command> commands;
  const Schedule* schedule = nullptr;
  uint64_t step = 0;
  uint64_t ticket = 0;  // submit: the ticket it gets; wait: the ticket waited for (and all earlier ones)
  Range host;           // host: the range read or written
  // Barriers to leave out, by level index; for tests of the checker only.
  std::vector<uint32_t> removed_barriers;
};

// Independent of schedule(): walks the commands as a device may run them and reports the first conflicting pair of
// accesses that no barrier (or wait) separates, and commands that are missing, duplicated or out of dependency order.
Status check(std::span<const Event> events);
// One plan alone.
Status check(std::span<const Command> commands, const Schedule& schedule);

}  // namespace lapilli::graph
