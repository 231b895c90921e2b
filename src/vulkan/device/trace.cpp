#include "vulkan/device/trace.hpp"

#include <algorithm>
#include <utility>

#include "vulkan/device/device_impl.hpp"

namespace lapilli::vulkan {

std::shared_ptr<Trace> Trace::begin(Device& device) {
  auto trace = std::make_shared<Trace>();
  device.impl()->context.trace = trace;
  return trace;
}

std::vector<Trace::Event> Trace::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

std::unique_lock<std::mutex> Trace::hold(Trace* trace) {
  return trace ? std::unique_lock(trace->mutex_) : std::unique_lock<std::mutex>();
}

void Trace::submitted_held(Ticket ticket, std::vector<std::shared_ptr<const TracedRecording>> recordings) {
  submitted_ = ticket;
  Event& e = events_.emplace_back();
  e.ticket = ticket;
  e.recordings = std::move(recordings);
}

void Trace::finished(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  known_ = std::max(known_, ticket);
  tell_finished();
}

// Records only progress. A thread may see a submission complete before its submitter has reported it.
void Trace::tell_finished() {
  const Ticket ticket = std::min(known_, submitted_);
  if (ticket <= finished_) return;
  finished_ = ticket;
  Event& e = events_.emplace_back();
  e.kind = Event::Kind::finish;
  e.ticket = ticket;
}

void Trace::touched(Touch touch) {
  const std::lock_guard lock(mutex_);
  tell_finished();
  Event& e = events_.emplace_back();
  e.kind = Event::Kind::host;
  e.touch = std::move(touch);
}

void Trace::at_step(Touch touch, uint64_t step) {
  const std::lock_guard lock(mutex_);
  Event& e = events_.emplace_back();
  e.kind = Event::Kind::at_step;
  e.touch = std::move(touch);
  e.step = step;
}

bool is_traced(const CommandRecording& recording) { return recording.impl()->trace != nullptr; }

void tell_touch(CommandRecording& recording, const Buffer& buffer, Touch touch) {
  if (!is_traced(recording)) return;
  touch.buffer = buffer.impl()->traced;
  recording.impl()->trace->touches.push_back(std::move(touch));
}

void tell_step_end(CommandRecording& recording, const Buffer& buffer) {
  if (!is_traced(recording)) return;
  TracedCommand& c = recording.impl()->trace->add(TracedCommand::Kind::step_end);
  c.touches.push_back(buffer.impl()->touch(0, buffer.size(), false));
}

void tell_step(const Buffer& buffer, uint64_t step) {
  Trace* const trace = buffer.impl()->context->trace.get();
  if (trace) trace->at_step(buffer.impl()->touch(0, buffer.size(), false), step);
}

TracedCommand& RecordingTrace::add(TracedCommand::Kind kind) {
  TracedCommand& c = commands->emplace_back();
  c.kind = kind;
  return c;
}

TracedCommand& RecordingTrace::dispatch() {
  TracedCommand& c = add(TracedCommand::Kind::dispatch);
  c.touches = std::exchange(touches, {});
  c.bound = bound;
  return c;
}

}  // namespace lapilli::vulkan
