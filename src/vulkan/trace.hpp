// What a device is really given, told as it happens: recorded commands with the memory that they touch, submissions,
// what the host writes and reads of mapped memory, and what it learns to be done. Tests hand it to graph::check
// (tests/support/real_events.hpp). Without a trace nothing is kept: a null pointer is looked at, and that is all.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vulkan/device.hpp"

namespace lapilli::vulkan {

// A buffer, as a range of a block of memory: buffers that get the same memory one after the other are the same bytes.
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
    step_end,  // what follows belongs to the next step of the buffers that it touches
  };
  Kind kind = Kind::dispatch;
  std::vector<Touch> touches;    // of a dispatch: what who recorded it says
  std::vector<Touch> bound;      // a dispatch: what its descriptor set holds
  std::vector<Touch> arguments;  // a dispatch: the one that its grid is read from, if any
  BarrierScope scope;
};
using TracedRecording = std::vector<TracedCommand>;

// Safe to use from several threads; events stand in the order in which the device and the host's knowledge have them.
class Trace {
 public:
  struct Event {
    enum class Kind : uint8_t {
      submit,   // `recordings`, which get `ticket`
      finish,   // `ticket` and all before it are known to be done
      host,     // the host wrote or read what `touch` says
      at_step,  // step_stride of the touched buffer counts from `step`
    };
    Kind kind = Kind::submit;
    Ticket ticket = 0;
    uint64_t step = 0;
    std::vector<std::shared_ptr<const TracedRecording>> recordings;
    Touch touch;
  };

  // Traces everything that is made of the device from now on: before its first buffer.
  static std::shared_ptr<Trace> begin(Device& device);
  [[nodiscard]] std::vector<Event> events() const;

  // For the device.
  [[nodiscard]] static std::unique_lock<std::mutex> hold(Trace* trace);  // no event comes between; nothing if null
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

// For who records and submits; nothing happens where there is no trace.
[[nodiscard]] bool is_traced(const CommandRecording& recording);
// The next dispatch touches this.
void tell_touch(CommandRecording& recording, const Buffer& buffer, Touch touch);
void tell_step_end(CommandRecording& recording, const Buffer& buffer);
void tell_step(const Buffer& buffer, uint64_t step);

}  // namespace lapilli::vulkan
