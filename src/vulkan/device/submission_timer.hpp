// Times of submissions by the device's own clock: a timestamp before, between and after their recordings. The marks are
// recorded once, when the device is made, and read when the submission is known to be done, so that nothing waits for a
// time.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "vulkan/device/context.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

// Microseconds between two timestamps with so many valid bits, which wrap around.
double microseconds_between(uint64_t begin, uint64_t end, uint32_t valid_bits, double ns_per_tick);

class SubmissionTimer {
 public:
  explicit SubmissionTimer(Context& context) : context_(context) {}
  ~SubmissionTimer();
  // Records the marks; does nothing without timestamps.
  Status init();

  // The buffers, with marks around and between them if they are `timed` and marks are free.
  class Marked;
  Marked mark(std::span<const VkCommandBuffer> buffers, bool timed);
  // The duration of each recording of a completed submission; empty if it was not timed.
  std::vector<double> times_us(Ticket ticket);

 private:
  static constexpr size_t kSlots = 4;  // submissions timed at once
  static constexpr uint32_t kMarks = kMostTimedRecordings + 1;
  struct Slot {
    bool reserved = false;
    Ticket ticket = 0;
    uint32_t recordings = 0;
  };
  Status record_mark(uint32_t index);
  std::optional<size_t> reserve(size_t recordings);
  void settle(size_t slot, Ticket ticket, size_t recordings);

  Context& context_;
  std::mutex mutex_;
  std::array<Slot, kSlots> slots_;
  VkQueryPool queries_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<VkCommandBuffer> marks_;
};

// The command buffers of one submission. Gives its marks back unless submitted() is called.
class SubmissionTimer::Marked {
 public:
  Marked(SubmissionTimer& timer, std::optional<size_t> slot, std::span<const VkCommandBuffer> buffers);
  ~Marked() { submitted(0); }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;
  [[nodiscard]] std::span<const VkCommandBuffer> buffers() const { return buffers_; }
  void submitted(Ticket ticket);

 private:
  SubmissionTimer& timer_;
  std::optional<size_t> slot_;
  size_t recordings_;
  std::vector<VkCommandBuffer> buffers_;
};

}  // namespace lapilli::vulkan
