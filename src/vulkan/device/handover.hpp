// Submissions that the host makes for us: each is passed to its callback, and the host reports later, from any thread,
// that it was submitted. Until then neither its fence nor its timeline value is queried.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "vulkan/device/context.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

// The parts of a submission that its callback gets; independent of the device until the host has reported.
struct SubmitParts {
  Ticket ticket = 0;
  std::vector<VkCommandBuffer> buffers;
  VkSemaphore timeline = VK_NULL_HANDLE;  // signalled with the ticket as its value; or
  VkFence fence = VK_NULL_HANDLE;
};

// Shared with submissions that the host holds, so that it may report them after the device is gone.
class Handover : public std::enable_shared_from_this<Handover> {
 public:
  using Callback = std::function<void(const SubmitRequest&)>;
  explicit Handover(Callback callback) : callback_(std::move(callback)) {}

  // Hands out the next ticket, which the host holds from now on; hand() must follow.
  HostSubmission* prepare(SubmitParts parts);
  // Calls the callback, one call at a time and in ticket order: the caller holds the submission lock.
  Status hand(HostSubmission* submission);
  // All tickets up to this one were submitted, or never will be.
  [[nodiscard]] Ticket settled() const;
  // The last ticket, from `ticket` on, that is followed by no failed one.
  [[nodiscard]] Ticket skip_failed(Ticket ticket) const;
  // Waits until this ticket is settled, at most for `slice`.
  void wait(Ticket ticket, std::chrono::nanoseconds slice) const;
  // The host's result for the first failed submission.
  [[nodiscard]] VkResult failure() const;

 private:
  friend void submission_done(HostSubmission*, int32_t) noexcept;
  void tell(Ticket ticket, VkResult result);
  [[nodiscard]] bool holds(Ticket ticket) const;
  [[nodiscard]] Ticket settled_locked() const { return held_.empty() ? last_ : *held_.begin() - 1; }

  Callback callback_;
  mutable std::mutex mutex_;  // never held while calling out
  mutable std::condition_variable reported_;
  Ticket last_ = 0;
  std::set<Ticket> held_, failed_;
  VkResult failure_ = VK_SUCCESS;
};

}  // namespace lapilli::vulkan
