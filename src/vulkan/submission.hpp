// The queue: submissions in order, each with a ticket that a timeline semaphore (or a fence) tells to be done.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>

#include "vulkan/context.hpp"
#include "vulkan/device.hpp"

namespace lapilli::vulkan {

class Submitter {
 public:
  struct Options {
    std::function<void()> lock, unlock;  // around every use of the queue; both or none
    double timeout_s = 30;
  };
  explicit Submitter(Context& context) : context_(context) {}
  ~Submitter();
  Status init(Options options);

  // One vkQueueSubmit. On an error nothing was submitted.
  Result<Ticket> submit(std::span<const VkCommandBuffer> buffers);
  Result<bool> done(Ticket ticket);
  Status wait(Ticket ticket);
  [[nodiscard]] Ticket last() const { return context_.submitted.load(std::memory_order_acquire); }
  // Learns without blocking what is done, and frees what waited for it.
  Status poll();
  // Waits for everything submitted so far, and frees what waited for it. False if the wait failed.
  bool settle();
  // Waits for everything, at most `seconds` without progress; one second if the device is lost or a wait gave up
  // before. False: the GPU may still be at work.
  bool drain(double seconds) noexcept;
  [[nodiscard]] double timeout_s() const { return options_.timeout_s; }

 private:
  struct Fence {
    VkFence handle = VK_NULL_HANDLE;
    Ticket ticket = 0;
    int waiters = 0;  // threads inside vkWaitForFences
  };
  using Fences = std::list<Fence>;  // nodes move between the lists, so that nothing is allocated once work is submitted
  Result<Ticket> submit_locked(std::span<const VkCommandBuffer> buffers, VkFence fence);
  Result<Fences::iterator> acquire_fence();
  VkResult wait_slice(Ticket ticket, std::chrono::nanoseconds slice);
  VkResult wait_fence(Ticket ticket, uint64_t nanoseconds);
  void complete(Ticket ticket);
  VkResult poll_once();
  VkResult poll_fences();
  Status wait_bounded(Ticket ticket, double seconds);

  Context& context_;
  Options options_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  std::mutex submit_mutex_;  // order of submissions
  std::mutex fence_mutex_;   // the two lists; never held while the driver blocks
  Fences pending_, idle_;
};

}  // namespace lapilli::vulkan
