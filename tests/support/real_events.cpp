#include "support/real_events.hpp"

#include <algorithm>

#include "base/math.hpp"

namespace lapilli::testing_support {

using graph::Access;
using graph::Event;
using vulkan::Touch;
using vulkan::TracedCommand;

namespace {

Access access_of(const Touch& t) { return t.reads ? t.writes ? Access::read_write : Access::read : Access::write; }

bool overlap(const Touch& a, const Touch& b) { return a.buffer == b.buffer && a.begin < b.end && b.begin < a.end; }

bool holds(const Touch& bound, const Touch& touch) {
  return bound.buffer == touch.buffer && bound.begin <= touch.begin && touch.end <= bound.end;
}

std::string name(const Touch& t) {
  const char* const label = t.buffer ? t.buffer->label.c_str() : "a buffer before the trace";
  return format("bytes [%llu, %llu) of '%s'", static_cast<unsigned long long>(t.begin),
                static_cast<unsigned long long>(t.end), label);
}

// A dispatch touches what it says, and can touch nothing but what its descriptor set holds.
Status check_bound(const TracedCommand& c) {
  if (c.touches.empty()) return fail(ErrorCode::internal, "a dispatch does not say what it touches");
  for (const Touch& t : c.touches)
    if (std::none_of(c.bound.begin(), c.bound.end(), [&](const Touch& b) { return holds(b, t); }))
      return fail(ErrorCode::internal, "a dispatch touches %s, which is not bound", name(t).c_str());
  return {};
}

// Barriers are barriers to graph::check, which knows no stages.
class Stages {
 public:
  Status barrier(const vulkan::BarrierScope& scope) {
    if (scope.indirect) arguments_.clear();
    if (scope.transfer) transfers_ = dispatches_ = false;
    return {};
  }
  Status command(const TracedCommand& c) {
    (c.kind == TracedCommand::Kind::transfer ? transfers_ : dispatches_) = true;
    if (transfers_ && dispatches_)
      return fail(ErrorCode::internal, "no barrier between a transfer and a dispatch names both");
    for (const Touch& a : c.arguments)
      for (const Touch& written : arguments_)
        if (overlap(a, written))
          return fail(ErrorCode::internal,
                      "no barrier that names indirect reads stands between the write and the read of %s",
                      name(a).c_str());
    for (const Touch& t : c.touches)
      if (t.writes) arguments_.push_back(t);
    return {};
  }

 private:
  std::vector<Touch> arguments_;  // what may be arguments, written since a barrier that names them
  bool transfers_ = false, dispatches_ = false;
};

}  // namespace

// One recording.
class RealEvents::Reader {
 public:
  explicit Reader(RealEvents& to) : to_(to) { open(); }

  Result<Parts> read(const vulkan::TracedRecording& recording) {
    for (const TracedCommand& c : recording) LAPILLI_CHECK(add(c));
    if (recording.empty() || recording.back().kind != TracedCommand::Kind::barrier)
      return fail(ErrorCode::internal, "a recording is not closed by a barrier");
    close();
    return std::move(parts_);
  }

 private:
  void open() { part_ = std::make_shared<Part>(); }

  Status add(const TracedCommand& c) {
    switch (c.kind) {
      case TracedCommand::Kind::barrier: barrier_ = true; return stages_.barrier(c.scope);
      case TracedCommand::Kind::step_end:
        for (const Touch& t : c.touches) part_->step_ends.push_back(t.buffer.get());
        close();
        return {};
      case TracedCommand::Kind::dispatch: LAPILLI_CHECK(check_bound(c)); break;
      case TracedCommand::Kind::transfer: break;
    }
    LAPILLI_CHECK(stages_.command(c));
    append(c);
    return {};
  }

  void append(const TracedCommand& c) {
    graph::Schedule& s = part_->schedule;
    const auto at = static_cast<uint32_t>(part_->commands.size());
    if (part_->commands.empty()) {
      part_->opened = barrier_;
      s.segments = {0};
    }
    if (part_->commands.empty() || barrier_) s.levels.push_back({at, at});
    barrier_ = false;
    s.order.push_back(at);
    s.levels.back().end = at + 1;
    graph::Command& command = part_->commands.emplace_back();
    for (const auto* touches : {&c.touches, &c.arguments})
      for (const Touch& t : *touches) append(command, t);
  }

  void append(graph::Command& command, const Touch& t) {
    const uint64_t base = t.buffer->offset;
    command.ranges.push_back(
        {graph::Space::weight, to_.block(*t.buffer), base + t.begin, base + t.end, access_of(t), t.step_stride});
    part_->buffers.insert(t.buffer->label);
    if (t.step_stride == 0) return;
    part_->log = t.buffer.get();
    part_->stride = t.step_stride;
  }

  void close() {
    if (!part_->commands.empty() || !part_->step_ends.empty()) parts_.push_back(std::move(part_));
    open();
  }

  RealEvents& to_;
  Stages stages_;
  Parts parts_;
  std::shared_ptr<Part> part_;
  bool barrier_ = false;
};

Result<RealEvents> RealEvents::of(const std::vector<vulkan::Trace::Event>& trace, uint32_t log_divisor) {
  RealEvents real;
  real.log_divisor_ = log_divisor;
  real.trace_ = trace;
  for (size_t i = 0; i < trace.size(); ++i)
    if (Status s = real.add(trace[i]); !s) return std::move(s).error().in("event " + std::to_string(i) + " of a trace");
  return real;
}

Status RealEvents::add(const vulkan::Trace::Event& event) {
  using Kind = vulkan::Trace::Event::Kind;
  if (event.kind == Kind::submit) return submit(event);
  if (event.kind == Kind::host) return host(event.touch);
  if (event.kind == Kind::at_step) {
    steps_[event.touch.buffer.get()] = event.step;
    return {};
  }
  Event& e = events.emplace_back();
  e.kind = Event::Kind::wait;
  e.ticket = event.ticket;
  return {};
}

uint32_t RealEvents::block(const vulkan::TracedBuffer& buffer) {
  return blocks_.emplace(buffer.block, static_cast<uint32_t>(blocks_.size())).first->second;
}

uint64_t RealEvents::row(const Part& part) const {
  const auto step = steps_.find(part.log);
  return step == steps_.end() ? 0 : step->second % (part.log->size / part.stride / log_divisor_);
}

Status RealEvents::submit(const vulkan::Trace::Event& event) {
  for (const auto& recording : event.recordings) {
    Parts& parts = recordings_[recording.get()];
    if (parts.empty()) {
      LAPILLI_TRY(parts, Reader(*this).read(*recording));
    }
    for (const auto& part : parts) {
      Event& e = events.emplace_back();
      e.commands = part->commands;
      e.schedule = &part->schedule;
      e.ticket = event.ticket;
      if (part->log) {
        e.step = row(*part);
        strides_[part->log] = part->stride;
      }
      if (!part->opened) e.removed_barriers = {0};
      parts_[e.schedule] = part.get();
      for (const auto* log : part->step_ends) ++steps_[log];
    }
  }
  return {};
}

Status RealEvents::host(const Touch& touch) {
  if (!touch.buffer) return fail(ErrorCode::internal, "the host touches %s", name(touch).c_str());
  Event& e = events.emplace_back();
  e.kind = Event::Kind::host;
  uint64_t begin = touch.begin;
  if (const auto stride = strides_.find(touch.buffer.get()); stride != strides_.end())
    begin %= touch.buffer->size / stride->second / log_divisor_ * stride->second;
  const uint64_t base = touch.buffer->offset;
  e.host = {graph::Space::weight, block(*touch.buffer),
            base + begin,         base + begin + (touch.end - touch.begin),
            access_of(touch),     0};
  hosts_[{e.host.id, e.host.begin}].insert(touch.buffer->label);
  return {};
}

const std::set<std::string>& RealEvents::buffers(const Event& event) const {
  static const std::set<std::string> none;
  if (event.kind == Event::Kind::submit) return parts_.at(event.schedule)->buffers;
  if (event.kind == Event::Kind::wait) return none;
  return hosts_.at({event.host.id, event.host.begin});
}

Status RealEvents::check(const std::vector<Event>& edited) const {
  Status s = graph::check(edited);
  if (s) return s;
  size_t at = 0;
  if (std::sscanf(s.error().message.c_str(), "event %zu", &at) != 1 || at >= edited.size()) return s;
  std::string names;
  for (const std::string& n : buffers(edited[at])) names += (names.empty() ? "" : ", ") + n;
  Error e = std::move(s).error();
  e.message += " (weights are blocks of memory; this event touches " + names + ")";
  return e;
}

Status check_events(const vulkan::Trace& trace) {
  LAPILLI_TRY(const auto real, RealEvents::of(trace.events()));
  return real.check();
}

}  // namespace lapilli::testing_support
