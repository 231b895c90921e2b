#include "graph/schedule.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/math.hpp"

namespace lapilli::graph {
namespace {

constexpr uint64_t kEndOfMemory = ~uint64_t{0};

bool reads(const Range& r) { return (static_cast<uint8_t>(r.access) & static_cast<uint8_t>(Access::read)) != 0; }
bool writes(const Range& r) { return (static_cast<uint8_t>(r.access) & static_cast<uint8_t>(Access::write)) != 0; }

// The bytes of one memory, cut at the ends of ranges. Each interval has the last level (plus one; 0 is never) of a kind
// of access. Since levels only rise, an update is a maximum, and so is a query: a segment tree whose inner marks are
// never pushed down.
class LastUse {
 public:
  explicit LastUse(size_t intervals) : n_(std::max<size_t>(intervals, 1)), below_(2 * n_, 0), mark_(2 * n_, 0) {}

  // Intervals [begin, end) are used at `level`.
  void raise(size_t begin, size_t end, uint32_t level) {
    if (begin >= end) return;
    size_t left = begin + n_, right = end + n_;
    const size_t first = left, last = right - 1;
    for (; left < right; left /= 2, right /= 2) {
      if (left & 1) put(left++, level);
      if (right & 1) put(--right, level);
    }
    for (size_t i = first / 2; i > 0; i /= 2) below_[i] = std::max(below_[i], level);
    for (size_t i = last / 2; i > 0; i /= 2) below_[i] = std::max(below_[i], level);
  }

  [[nodiscard]] uint32_t latest(size_t begin, size_t end) const {
    uint32_t level = 0;
    if (begin >= end) return level;
    size_t left = begin + n_, right = end + n_;
    const size_t first = left, last = right - 1;
    for (; left < right; left /= 2, right /= 2) {
      if (left & 1) level = std::max(level, below_[left++]);
      if (right & 1) level = std::max(level, below_[--right]);
    }
    for (size_t i = first / 2; i > 0; i /= 2) level = std::max(level, mark_[i]);
    for (size_t i = last / 2; i > 0; i /= 2) level = std::max(level, mark_[i]);
    return level;
  }

 private:
  void put(size_t i, uint32_t level) {
    below_[i] = std::max(below_[i], level);
    mark_[i] = std::max(mark_[i], level);
  }

  size_t n_;
  std::vector<uint32_t> below_;  // the latest use of any interval under this tree node
  std::vector<uint32_t> mark_;   // a use of all intervals under this tree node
};

// All ranges of one memory that move by the same stride. Their positions relative to each other never change.
class Track {
 public:
  void add_end(uint64_t byte) { cuts_.push_back(byte); }
  void finish() {
    std::sort(cuts_.begin(), cuts_.end());
    cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
    reads_ = LastUse(cuts_.size());
    writes_ = LastUse(cuts_.size());
  }

  // The first level that an access to the bytes [begin, end) may be at.
  [[nodiscard]] uint32_t earliest(uint64_t begin, uint64_t end, bool write) const {
    const auto [first, last] = intervals(begin, end);
    const uint32_t level = writes_.latest(first, last);
    return write ? std::max(level, reads_.latest(first, last)) : level;
  }

  void use(const Range& r, uint32_t level) {
    const auto [first, last] = intervals(r.begin, r.end);
    if (reads(r)) reads_.raise(first, last, level + 1);
    if (writes(r)) writes_.raise(first, last, level + 1);
  }

 private:
  // Interval i is [cuts_[i], cuts_[i + 1]); gives those that overlap the bytes.
  [[nodiscard]] std::pair<size_t, size_t> intervals(uint64_t begin, uint64_t end) const {
    const auto first = std::upper_bound(cuts_.begin(), cuts_.end(), begin);
    const auto last = std::lower_bound(cuts_.begin(), cuts_.end(), end);
    return {first == cuts_.begin() ? 0 : static_cast<size_t>(first - cuts_.begin()) - 1,
            static_cast<size_t>(last - cuts_.begin())};
  }

  std::vector<uint64_t> cuts_;
  LastUse reads_{0}, writes_{0};
};

using Tracks = std::map<uint64_t, Track>;  // by stride
using MemoryKey = std::pair<Space, uint32_t>;

// The first level at which an access comes after all conflicting ones so far. Between different strides the query
// covers every step: the faster range passes over all bytes behind its start.
uint32_t earliest_level(const Tracks& memory, const Range& r) {
  uint32_t level = 0;
  for (const auto& [stride, track] : memory) {
    const uint64_t begin = stride > r.step_stride ? 0 : r.begin;
    const uint64_t end = stride < r.step_stride ? kEndOfMemory : r.end;
    level = std::max(level, track.earliest(begin, end, writes(r)));
  }
  return level;
}

// The level of each command. Memory that nothing writes (the weights) imposes no order and is skipped.
std::vector<uint32_t> levels_of(std::span<const Command> commands) {
  std::map<MemoryKey, Tracks> memories;
  for (const Command& c : commands)
    for (const Range& r : c.ranges)
      if (writes(r) && r.begin < r.end) memories[{r.space, r.id}];
  const auto find = [&](const Range& r) -> Tracks* {
    if (r.begin >= r.end) return nullptr;
    const auto it = memories.find({r.space, r.id});
    return it == memories.end() ? nullptr : &it->second;
  };
  for (const Command& c : commands)
    for (const Range& r : c.ranges)
      if (Tracks* memory = find(r)) {
        Track& track = (*memory)[r.step_stride];
        track.add_end(r.begin);
        track.add_end(r.end);
      }
  for (auto& [key, memory] : memories)
    for (auto& [stride, track] : memory) track.finish();

  std::vector<uint32_t> level(commands.size(), 0);
  for (size_t i = 0; i < commands.size(); ++i) {
    for (const Range& r : commands[i].ranges)
      if (const Tracks* memory = find(r)) level[i] = std::max(level[i], earliest_level(*memory, r));
    for (const Range& r : commands[i].ranges)
      if (Tracks* memory = find(r)) (*memory)[r.step_stride].use(r, level[i]);
  }
  return level;
}

}  // namespace

bool conflicts(const Range& a, const Range& b) {
  if (a.space != b.space || a.id != b.id || (!writes(a) && !writes(b))) return false;
  if (a.begin >= a.end || b.begin >= b.end) return false;
  if (a.step_stride == b.step_stride) return a.begin < b.end && b.begin < a.end;
  const Range& fast = a.step_stride > b.step_stride ? a : b;
  const Range& slow = a.step_stride > b.step_stride ? b : a;
  if (fast.begin >= slow.end) return false;  // ahead from the start
  if (fast.end > slow.begin) return true;    // at step 0
  // Behind at step 0: at the first step at which its end has passed the other's begin, its begin must still be short of
  // the other's end.
  const uint64_t gain = fast.step_stride - slow.step_stride;
  const uint64_t steps = (slow.begin - fast.end) / gain + 1;
  return steps <= (slow.end - 1 - fast.begin) / gain;
}

Cost& Cost::operator+=(const Cost& c) {
  operations += c.operations;
  bytes += c.bytes;
  commands += c.commands;
  return *this;
}

uint64_t covered_bytes(const Command& command) {
  uint64_t bytes = 0;
  for (const Range& r : command.ranges) bytes += (r.end - r.begin) * (r.access == Access::read_write ? 2 : 1);
  return bytes;
}

Cost cost_of(const Command& command) { return {command.cost, static_cast<double>(covered_bytes(command)), 1}; }

namespace {

bool exceeds(const Cost& sum, const Cost& more, const ScheduleOptions& options) {
  return sum.operations + more.operations > options.segment_cost || sum.bytes + more.bytes > options.segment_bytes;
}

// Splits a level that exceeds the segment's cost (slices of one large op): an additional barrier does no harm.
void cut_level(Schedule& s, Level level, std::span<const Command> commands, const ScheduleOptions& options) {
  Cost sum;
  for (uint32_t i = level.begin; i < level.end; ++i) {
    const Cost cost = cost_of(commands[s.order[i]]);
    if (options.segment_cost > 0 && i > level.begin && exceeds(sum, cost, options)) {
      s.levels.push_back({level.begin, i});
      level.begin = i;
      sum = {};
    }
    sum += cost;
  }
  s.levels.push_back(level);
}

void cut_segments(Schedule& s, std::span<const Command> commands, const ScheduleOptions& options) {
  for (uint32_t l = 0; l < s.levels.size(); ++l) {
    Cost cost;
    for (uint32_t i = s.levels[l].begin; i < s.levels[l].end; ++i) cost += cost_of(commands[s.order[i]]);
    if (l == 0 || options.segment_cost <= 0 || exceeds(s.segment_costs.back(), cost, options)) {
      s.segments.push_back(l);
      s.segment_costs.emplace_back();
    }
    s.segment_costs.back() += cost;
  }
}

}  // namespace

Schedule schedule(std::span<const Command> commands, const ScheduleOptions& options) {
  const std::vector<uint32_t> level = levels_of(commands);
  Schedule s;
  uint32_t count = 0;
  for (uint32_t l : level) count = std::max(count, l + 1);
  std::vector<uint32_t> next(count + 1, 0);  // counting sort keeps program order inside a level
  for (uint32_t l : level) ++next[l + 1];
  for (uint32_t l = 0; l < count; ++l) next[l + 1] += next[l];
  const std::vector<uint32_t> begins = next;
  s.order.resize(commands.size());
  for (uint32_t i = 0; i < commands.size(); ++i) s.order[next[level[i]]++] = i;
  for (uint32_t l = 0; l < count; ++l) cut_level(s, {begins[l], begins[l + 1]}, commands, options);
  cut_segments(s, commands, options);
  return s;
}

}  // namespace lapilli::graph
