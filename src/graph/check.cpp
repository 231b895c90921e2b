// The checker of schedules and of sequences of submissions. It deliberately shares no code with schedule.cpp: it plays
// the device, tracks the last accesses of every byte, and reports the first unordered access.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/math.hpp"
#include "graph/schedule.hpp"

namespace lapilli::graph {
namespace {

using ull = unsigned long long;

bool has(Access access, Access part) { return (static_cast<unsigned>(access) & static_cast<unsigned>(part)) != 0; }

// One command of one submission, and the epoch it runs in: commands of one epoch run in any order or concurrently; a
// full barrier separates epochs.
struct Touch {
  uint32_t submission = kNone, command = kNone;
  uint64_t epoch = 0;

  [[nodiscard]] bool valid() const { return submission != kNone; }
  [[nodiscard]] bool same_command(const Touch& o) const { return submission == o.submission && command == o.command; }
  // True if this command comes later in the program.
  [[nodiscard]] bool follows(const Touch& o) const {
    return submission != o.submission ? submission > o.submission : command > o.command;
  }
};

// The accesses of the bytes [key, end) of a memory. A write that was found in order makes earlier reads irrelevant.
struct Cell {
  uint64_t end = 0;
  Touch write;       // the last one
  Touch first_read;  // the first of the latest epoch that reads: all of a command's accesses come together, so if this
                     // is the command itself, no other has read in its epoch yet
  Touch last_read;   // the last one in program order
};
using Cells = std::map<uint64_t, Cell>;

std::string memory_name(const Range& r) {
  if (r.space == Space::arena) return "arena";
  return format("%s %u", r.space == Space::weight ? "weight" : "state", r.id);
}

std::string too_far(const Range& r) {
  return format("a range of %s from byte %u, %u on with each step, passes the end of memory", memory_name(r),
                ull{r.begin}, ull{r.step_stride});
}

class Player {
 public:
  Status play(const Event& event) {
    switch (event.kind) {
      case Event::Kind::submit: return submit(event);
      case Event::Kind::wait: return wait(event.ticket);
      case Event::Kind::host: return host(event);
    }
    return fail(ErrorCode::internal, "an event of unknown kind");
  }

 private:
  struct Submission {
    std::span<const Command> commands;
    uint64_t ticket = 0, step = 0;
  };

  Status submit(const Event& event) {
    if (event.schedule == nullptr) return fail(ErrorCode::internal, "a submission without a schedule");
    if (!submissions_.empty() && event.ticket < submissions_.back().ticket)
      return fail(ErrorCode::internal, "ticket %u is submitted after ticket %u", ull{event.ticket},
                  ull{submissions_.back().ticket});
    const Schedule& s = *event.schedule;
    submissions_.push_back({event.commands, event.ticket, event.step});
    LAPILLI_CHECK(check_shape(event.commands.size(), s));
    const auto removed = [&](uint32_t level) {
      return std::find(event.removed_barriers.begin(), event.removed_barriers.end(), level) !=
             event.removed_barriers.end();
    };
    for (uint32_t l = 0; l < s.levels.size(); ++l) {
      // Either the barrier between two levels or the one that opens a recording.
      if (!removed(l)) ++epoch_;
      for (uint32_t i = s.levels[l].begin; i < s.levels[l].end; ++i) LAPILLI_CHECK(run(s.order[i]));
    }
    return {};
  }

  // Checks that every command occurs once, and that levels cover the commands, and segments the levels, without gaps.
  [[nodiscard]] Status check_shape(size_t commands, const Schedule& s) const {
    const std::string where = "submission " + std::to_string(submissions_.size() - 1);
    std::vector<bool> seen(commands, false);
    for (uint32_t c : s.order) {
      if (c >= commands)
        return fail(ErrorCode::internal, "%s: the schedule names command %u of %u", where, c, commands);
      if (seen[c]) return fail(ErrorCode::internal, "%s: command %u is run twice", where, c);
      seen[c] = true;
    }
    for (size_t c = 0; c < commands; ++c)
      if (!seen[c]) return fail(ErrorCode::internal, "%s: command %u is never run", where, c);
    uint32_t at = 0;
    for (size_t l = 0; l < s.levels.size(); ++l) {
      if (s.levels[l].begin != at || s.levels[l].end < at || s.levels[l].end > s.order.size())
        return fail(ErrorCode::internal, "%s: level %u is [%u, %u), but the one before ends at %u of %u", where, l,
                    s.levels[l].begin, s.levels[l].end, at, s.order.size());
      at = s.levels[l].end;
    }
    if (at != s.order.size())
      return fail(ErrorCode::internal, "%s: the levels end at %u of %u commands", where, at, s.order.size());
    for (size_t i = 0; i < s.segments.size(); ++i)
      if (s.segments[i] >= s.levels.size() || (i == 0 ? s.segments[0] != 0 : s.segments[i] <= s.segments[i - 1]))
        return fail(ErrorCode::internal, "%s: segment %u begins at level %u: segments must start at 0 and rise", where,
                    i, s.segments[i]);
    if (s.segments.empty() && !s.levels.empty())
      return fail(ErrorCode::internal, "%s: the levels are in no segment", where);
    return {};
  }

  Status run(uint32_t command) {
    const uint32_t submission = static_cast<uint32_t>(submissions_.size() - 1);
    const Submission& s = submissions_.back();
    const Touch who{submission, command, epoch_};
    for (const Range& r : s.commands[command].ranges) {
      Range moved = r;
      if (!move(moved, s.step)) return fail(ErrorCode::internal, "%s: %s", say(who), too_far(r));
      if (moved.begin < moved.end) LAPILLI_CHECK(access(who, moved));
    }
    return {};
  }

  // Moves the range to its place at this step; false if that is beyond the end of memory.
  static bool move(Range& r, uint64_t step) {
    uint64_t shift = 0;
    return checked_mul(r.step_stride, step, shift) && checked_add(r.begin, shift, r.begin) &&
           checked_add(r.end, shift, r.end);
  }

  // Splits the cell that `at` lies in, so that one begins there.
  static void cut(Cells& memory, uint64_t at) {
    auto it = memory.upper_bound(at);
    if (it == memory.begin()) return;
    --it;
    if (it->first == at || it->second.end <= at) return;
    Cell upper = it->second;
    it->second.end = at;
    memory.emplace(at, upper);
  }

  Status access(const Touch& who, const Range& r) {
    Cells& memory = memories_[{r.space, r.id}];
    cut(memory, r.begin);
    cut(memory, r.end);
    const auto first = memory.lower_bound(r.begin), last = memory.lower_bound(r.end);
    for (auto it = first; it != last; ++it) {
      const Range part{r.space, r.id, it->first, it->second.end, r.access};
      LAPILLI_CHECK(ordered(who, part, it->second.write, "writes"));
      if (!has(r.access, Access::write)) continue;
      for (const Touch* t : {&it->second.first_read, &it->second.last_read})
        LAPILLI_CHECK(ordered(who, part, *t, "reads"));
    }
    if (has(r.access, Access::write)) {
      memory.erase(first, last);
      memory.emplace(r.begin, Cell{r.end, who, {}, {}});
      return {};
    }
    // A read: fill the gaps, then record it in every cell.
    uint64_t at = r.begin;
    for (auto it = first; at < r.end;) {
      const uint64_t next = it == last ? r.end : it->first;
      if (at < next) {
        note_read(memory.emplace_hint(it, at, Cell{next, {}, {}, {}})->second, who);
        at = next;
        continue;
      }
      note_read(it->second, who);
      at = it->second.end;
      ++it;
    }
    return {};
  }

  static void note_read(Cell& cell, const Touch& who) {
    if (!cell.last_read.valid() || who.follows(cell.last_read)) cell.last_read = who;
    if (!cell.first_read.valid() || cell.first_read.epoch != who.epoch) cell.first_read = who;
  }

  // Checks that an access of `who` is ordered after an earlier one of `other` to the same bytes; one of them writes.
  [[nodiscard]] Status ordered(const Touch& who, const Range& part, const Touch& other, const char* did) const {
    if (!other.valid() || who.same_command(other)) return {};
    if (who.epoch != other.epoch && who.follows(other)) return {};
    const char* does = has(part.access, Access::write) ? "writes" : "reads";
    const char* why =
        who.epoch == other.epoch ? "no barrier stands between them" : "it runs first, but stands later in the program";
    return fail(ErrorCode::internal, "%s %s bytes [%u, %u) of %s, which %s %s: %s", say(who), does, ull{part.begin},
                ull{part.end}, memory_name(part), say(other), did, why);
  }

  Status wait(uint64_t ticket) {
    if (submissions_.empty() || ticket > submissions_.back().ticket)
      return fail(ErrorCode::internal, "the host waits for ticket %u, which was not submitted", ull{ticket});
    while (finished_ < submissions_.size() && submissions_[finished_].ticket <= ticket) ++finished_;
    return {};
  }

  Status host(const Event& event) {
    Range r = event.host;
    if (!move(r, event.step)) return fail(ErrorCode::internal, "the host: %s", too_far(event.host));
    const auto memory = memories_.find({r.space, r.id});
    if (memory == memories_.end() || r.begin >= r.end) return {};
    auto it = memory->second.upper_bound(r.begin);
    if (it != memory->second.begin()) --it;
    for (; it != memory->second.end() && it->first < r.end; ++it) {
      if (it->second.end <= r.begin) continue;
      r.begin = std::max(r.begin, it->first);
      LAPILLI_CHECK(finished(r, std::min(r.end, it->second.end), it->second.write, "writes"));
      if (has(r.access, Access::write))
        LAPILLI_CHECK(finished(r, std::min(r.end, it->second.end), it->second.last_read, "reads"));
    }
    return {};
  }

  // Checks that the device has finished `touch`, an access of the bytes up to `end`, before the host accesses r.
  [[nodiscard]] Status finished(const Range& r, uint64_t end, const Touch& touch, const char* did) const {
    if (!touch.valid() || touch.submission < finished_) return {};
    const char* does = has(r.access, Access::write) ? "writes" : "reads";
    return fail(ErrorCode::internal, "the host %s bytes [%u, %u) of %s, which %s %s: no wait for ticket %u before",
                does, ull{r.begin}, ull{end}, memory_name(r), say(touch), did,
                ull{submissions_[touch.submission].ticket});
  }

  [[nodiscard]] std::string say(const Touch& t) const {
    const Submission& s = submissions_[t.submission];
    const NodeId node = s.commands[t.command].node;
    std::string text = format("command %u", t.command);
    if (node != kNone) text += format(" (node %u)", node);
    return text + format(" of submission %u (step %u)", t.submission, ull{s.step});
  }

  std::vector<Submission> submissions_;
  uint32_t finished_ = 0;  // submissions that a wait has covered
  uint64_t epoch_ = 0;
  std::map<std::pair<Space, uint32_t>, Cells> memories_;
};

// True if two ranges of one memory meet at some step: examines the step at which the distance changes sign.
bool meet(const Range& a, const Range& b) {
  if (a.begin >= a.end || b.begin >= b.end) return false;
  if (a.begin < b.end && b.begin < a.end) return true;
  const Range& low = a.begin < b.begin ? a : b;
  const Range& high = a.begin < b.begin ? b : a;
  if (low.step_stride <= high.step_stride) return false;
  // The gap between them shrinks by `gain` a step; they meet if some step lands before the lower one has jumped across.
  const uint64_t gain = low.step_stride - high.step_stride, gap = high.begin - low.end;
  const uint64_t steps = gap / gain + 1, jump = steps * gain - gap;  // how far the lower end is past then, >= 1
  const uint64_t lengths = (low.end - low.begin) + (high.end - high.begin);
  return jump < lengths;
}

// Ranges of different strides drift across each other: what Player sees at one step tells nothing about the next.
Status check_all_steps(std::span<const Command> commands, const Schedule& schedule) {
  std::vector<uint32_t> level(commands.size(), 0);
  for (uint32_t l = 0; l < schedule.levels.size(); ++l)
    for (uint32_t i = schedule.levels[l].begin; i < schedule.levels[l].end; ++i) level[schedule.order[i]] = l;
  struct Use {
    uint32_t command;
    const Range* range;
  };
  using Uses = std::vector<Use>;
  std::map<std::pair<Space, uint32_t>, std::map<uint64_t, Uses>> memories;  // by stride
  for (uint32_t c = 0; c < commands.size(); ++c)
    for (const Range& r : commands[c].ranges) memories[{r.space, r.id}][r.step_stride].push_back({c, &r});
  const auto apart = [&](const Use& a, const Use& b) {
    if (a.command == b.command || !meet(*a.range, *b.range)) return true;
    if (!has(a.range->access, Access::write) && !has(b.range->access, Access::write)) return true;
    return a.command < b.command ? level[a.command] < level[b.command] : level[b.command] < level[a.command];
  };
  for (const auto& [key, strides] : memories)
    for (auto s = strides.begin(); s != strides.end(); ++s)
      for (auto t = std::next(s); t != strides.end(); ++t)
        for (const Use& a : s->second)
          for (const Use& b : t->second)
            if (!apart(a, b)) {
              const auto [first, second] = std::minmax(a.command, b.command);
              return fail(ErrorCode::internal,
                          "commands %u and %u meet in %s at some step, but stand in levels %u and %u", first, second,
                          memory_name(*a.range), level[first], level[second]);
            }
  return {};
}

}  // namespace

Status check(std::span<const Event> events) {
  Player player;
  for (size_t i = 0; i < events.size(); ++i)
    if (Status s = player.play(events[i]); !s) return std::move(s).error().in("event " + std::to_string(i));
  return {};
}

Status check(std::span<const Command> commands, const Schedule& schedule) {
  Event event;
  event.commands = commands;
  event.schedule = &schedule;
  event.ticket = 1;
  LAPILLI_CHECK(check(std::span<const Event>(&event, 1)));
  return check_all_steps(commands, schedule);
}

}  // namespace lapilli::graph
