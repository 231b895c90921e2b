// Work that waits until the host takes it into its own command buffers; the host reports its completion.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "vulkan/device/context.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

class AppendQueue {
 public:
  explicit AppendQueue(Context& context) : context_(context) {}

  void add(Ticket ticket, std::span<const VkCommandBuffer> buffers, double expected_us);
  Appended append(VkCommandBuffer into, uint64_t budget_us);
  Status completed(uint64_t serial);
  Status dropped(uint64_t serial);
  // The last ticket that is completed.
  [[nodiscard]] Ticket over() const;
  void wait(Ticket ticket, std::chrono::nanoseconds slice) const;
  // Drops waiting work. False if the host has taken work that it has not reported completed.
  bool give_up() noexcept;
  // The error for the host when a wait timed out.
  [[nodiscard]] Failure stuck(double seconds) const;

 private:
  struct Entry {
    Ticket ticket = 0;
    std::vector<VkCommandBuffer> buffers;
    double expected_us = 0;
  };
  struct Taken {
    uint64_t serial = 0;
    std::vector<Entry> entries;
  };
  Status check_prompt(uint64_t serial) const;
  static bool fits(const Entry& entry, const Appended& so_far, uint64_t budget_us);

  Context& context_;
  mutable std::mutex mutex_;  // never held while calling the host
  mutable std::condition_variable changed_;
  std::deque<Entry> waiting_;
  std::deque<Taken> taken_;
  uint64_t serial_ = 0;
  Ticket over_ = 0;
};

}  // namespace lapilli::vulkan
