// A device's actual work as it happens: recorded commands with the memory they touch, submissions, the host's accesses
// to mapped memory, and completions it has seen. Tests pass it to graph::check (tests/support/real_events.hpp). Without
// a trace the only cost is testing a null pointer.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

// A buffer as a range of a memory block: buffers that get the same memory one after the other are the same bytes.
struct TracedBuffer {
  const void* block = nullptr;
  uint64_t offset = 0, size = 0;
  std::string label;
};

struct Touch {
  std::shared_ptr<const TracedBuffer> buffer;  // null: made before the trace
  uint64_t begin = 0, end = 0;                 // bytes of the buffer
  bool reads = false, writes = false;
  uint64_t step_stride = 0;  // step t touches bytes t strides further, in a ring as long as the buffer; 0: fixed
};

struct TracedCommand {
  enum class Kind : uint8_t {
    dispatch,
    transfer,
    barrier,
    step_end,  // later commands belong to the next step of the buffers touched
  };
  Kind kind = Kind::dispatch;
  std::vector<Touch> touches;    // of a dispatch: as declared by its recorder
  std::vector<Touch> bound;      // of a dispatch: its descriptor set's contents
  std::vector<Touch> arguments;  // of a dispatch: the buffer with its grid, if any
  BarrierScope scope;
};
using TracedRecording = std::vector<TracedCommand>;

// Safe to use from several threads; events are ordered as the device and the host's knowledge order them.
class Trace {
 public:
  struct Event {
    enum class Kind : uint8_t {
      submit,   // `recordings`, submitted as `ticket`
      finish,   // `ticket` and all before it are known to be done
      host,     // the host wrote or read the range in `touch`
      at_step,  // step_stride of the touched buffer counts from `step`
    };
    Kind kind = Kind::submit;
    Ticket ticket = 0;
    uint64_t step = 0;
    std::vector<std::shared_ptr<const TracedRecording>> recordings;
    Touch touch;
  };

  // Traces everything made of the device from now on; call before its first buffer.
  static std::shared_ptr<Trace> begin(Device& device);
  [[nodiscard]] std::vector<Event> events() const;

  // Called by the device.
  [[nodiscard]] static std::unique_lock<std::mutex> hold(Trace* trace);  // excludes other events; nothing if null
  void submitted_held(Ticket ticket, std::vector<std::shared_ptr<const TracedRecording>> recordings);
  void finished(Ticket ticket);
  void touched(Touch touch);
  void at_step(Touch touch, uint64_t step);

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  void tell_finished();
  Ticket submitted_ = 0, finished_ = 0, known_ = 0;
};

// For code that records and submits; does nothing without a trace.
[[nodiscard]] bool is_traced(const CommandRecording& recording);
// Declares an access of the next dispatch.
void tell_touch(CommandRecording& recording, const Buffer& buffer, Touch touch);
void tell_step_end(CommandRecording& recording, const Buffer& buffer);
void tell_step(const Buffer& buffer, uint64_t step);

}  // namespace lapilli::vulkan
