// The queue: submissions in order, each with a ticket whose completion a timeline semaphore (or a fence) tells. The
// host may submit instead of us (Handover), or take waiting work into its own command buffers (AppendQueue).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "vulkan/device/append_queue.hpp"
#include "vulkan/device/context.hpp"
#include "vulkan/device/device.hpp"
#include "vulkan/device/handover.hpp"
#include "vulkan/device/submit_gap.hpp"

namespace lapilli::vulkan {

class Submitter {
 public:
  struct Options {
    std::function<void()> lock, unlock;  // around every use of the queue; both or none
    double timeout_s = 30;
    Handover::Callback submit;  // instead of vkQueueSubmit
    bool append = false;        // instead of submitting at all
    uint32_t gap_us = 0;        // see Device::may_submit()
    TimeSource time;            // clock for gaps
  };
  explicit Submitter(Context& context) : context_(context) {}
  ~Submitter();
  Status init(Options options);

  // One vkQueueSubmit, ours or the host's. On an error nothing was submitted. `expected_us`: 0 if unknown.
  Result<Ticket> submit(std::span<const VkCommandBuffer> buffers, double expected_us = 0);
  // See Device.
  Result<Appended> append(VkCommandBuffer into, uint64_t budget_us);
  Status completed(uint64_t serial);
  Status dropped(uint64_t serial);
  Result<bool> done(Ticket ticket);
  Status wait(Ticket ticket);
  Result<bool> may_submit();
  Status wait_for_gap();
  [[nodiscard]] Ticket last() const { return context_.submitted.load(std::memory_order_acquire); }
  // Updates the completed tickets without blocking, and frees what waited for them.
  Status poll();
  // Waits for everything submitted so far, and frees what waited for it. False if the wait failed.
  bool settle();
  // Waits for everything, at most `seconds` without progress; one second if the device is lost or a wait timed out
  // before. False: the GPU may still be running.
  bool drain(double seconds) noexcept;
  [[nodiscard]] double timeout_s() const { return options_.timeout_s; }

 private:
  struct Fence {
    VkFence handle = VK_NULL_HANDLE;
    Ticket ticket = 0;
    int waiters = 0;  // threads inside vkWaitForFences
  };
  using Fences = std::list<Fence>;  // nodes move between the lists, so that nothing is allocated after submitting
  Result<Ticket> submit_to_queue(std::span<const VkCommandBuffer> buffers);
  Result<Ticket> submit_through_host(std::span<const VkCommandBuffer> buffers);
  Result<Ticket> queue_for_host(std::span<const VkCommandBuffer> buffers, double expected_us);
  VkResult submit_now(std::span<const VkCommandBuffer> buffers, Ticket ticket, VkFence fence);
  // Used without a timeline semaphore.
  Result<std::optional<Fences::iterator>> acquire_fence();
  void issue(Ticket ticket, std::optional<Fences::iterator> fence);
  // Covers more than the device: work that the host failed to submit is lost for good.
  Status health();
  [[nodiscard]] Failure gave_up(double seconds) const;
  VkResult wait_slice(Ticket ticket, std::chrono::nanoseconds slice);
  VkResult wait_fence(Ticket ticket, uint64_t nanoseconds);
  void complete(Ticket ticket);
  [[nodiscard]] bool is_over(Ticket ticket) const;
  VkResult poll_once();
  VkResult poll_fences();
  Status wait_bounded(Ticket ticket, double seconds);

  Context& context_;
  Options options_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  std::mutex submit_mutex_;  // order of submissions
  std::mutex fence_mutex_;   // guards both lists; never held while the driver blocks
  Fences pending_, idle_;
  std::shared_ptr<Handover> handover_;         // set if the host submits
  std::unique_ptr<AppendQueue> append_queue_;  // set if the host appends
  std::unique_ptr<SubmitGap> gap_;             // null: none
};

}  // namespace lapilli::vulkan
