// Submissions that the host makes for us: each is handed to its callback, and the host says later, from any thread,
// that it was submitted. Until then neither its fence nor its value of the timeline is asked for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "vulkan/context.hpp"
#include "vulkan/device.hpp"

namespace lapilli::vulkan {

// What of a submission the callback is given: it lives on its own until the host has spoken.
struct SubmitParts {
  Ticket ticket = 0;
  std::vector<VkCommandBuffer> buffers;
  VkSemaphore timeline = VK_NULL_HANDLE;  // gets the ticket as its value; or
  VkFence fence = VK_NULL_HANDLE;
};

// Shared with what the host holds, so that it may speak after the device has gone.
class Handover : public std::enable_shared_from_this<Handover> {
 public:
  using Callback = std::function<void(const SubmitRequest&)>;
  explicit Handover(Callback callback) : callback_(std::move(callback)) {}

  // The next ticket, which is the host's from now on; hand() must follow.
  HostSubmission* prepare(SubmitParts parts);
  // Calls the callback, one call at a time and in the order of the tickets: by who holds the lock on submissions.
  Status hand(HostSubmission* submission);
  // All tickets up to this one were submitted, or will never be.
  [[nodiscard]] Ticket settled() const;
  // The last one, from `ticket` on, behind which no ticket failed.
  [[nodiscard]] Ticket skip_failed(Ticket ticket) const;
  // Until this ticket is settled, at most so long.
  void wait(Ticket ticket, std::chrono::nanoseconds slice) const;
  // What the host said of the first one that failed.
  [[nodiscard]] VkResult failure() const;

 private:
  friend void submission_done(HostSubmission*, int32_t) noexcept;
  void tell(Ticket ticket, VkResult result);
  [[nodiscard]] bool holds(Ticket ticket) const;
  [[nodiscard]] Ticket settled_locked() const { return held_.empty() ? last_ : *held_.begin() - 1; }

  Callback callback_;
  mutable std::mutex mutex_;  // nothing is called under it
  mutable std::condition_variable told_;
  Ticket last_ = 0;
  std::set<Ticket> held_, failed_;
  VkResult failure_ = VK_SUCCESS;
};

}  // namespace lapilli::vulkan
