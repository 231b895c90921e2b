#include "vulkan/device/handover.hpp"

namespace lapilli::vulkan {

class HostSubmission {
 public:
  HostSubmission(std::shared_ptr<Handover> to_whom, SubmitParts with)
      : handover(std::move(to_whom)), parts(std::move(with)) {
    info.commandBufferCount = static_cast<uint32_t>(parts.buffers.size());
    info.pCommandBuffers = parts.buffers.data();
    if (!parts.timeline) return;
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &parts.ticket;
    info.pNext = &values;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &parts.timeline;
  }
  HostSubmission(const HostSubmission&) = delete;
  HostSubmission& operator=(const HostSubmission&) = delete;
  ~HostSubmission() = default;

  const std::shared_ptr<Handover> handover;
  const SubmitParts parts;
  VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
};

void submission_done(HostSubmission* submission, int32_t result) noexcept {
  const std::unique_ptr<HostSubmission> over(submission);
  if (over) over->handover->tell(over->parts.ticket, static_cast<VkResult>(result));
}

HostSubmission* Handover::prepare(SubmitParts parts) {
  const Ticket ticket = parts.ticket;
  auto submission = std::make_unique<HostSubmission>(shared_from_this(), std::move(parts));
  const std::lock_guard lock(mutex_);
  held_.insert(ticket);
  last_ = ticket;
  return submission.release();
}

Status Handover::hand(HostSubmission* submission) {
  const Ticket ticket = submission->parts.ticket;
  SubmitRequest request;
  request.info = &submission->info;
  request.fence = (uint64_t)submission->parts.fence;  // a pointer on 64-bit systems, a number on 32-bit ones
  request.submission = submission;
  try {
    callback_(request);
    return {};
  } catch (...) {  // from a host in C++; it does not hold a submission that it has not reported
    if (!holds(ticket)) return {};
    submission_done(submission, VK_ERROR_UNKNOWN);
    return fail(ErrorCode::internal, "the host's submit callback failed with an exception");
  }
}

bool Handover::holds(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  return held_.contains(ticket);
}

void Handover::tell(Ticket ticket, VkResult result) {
  const std::lock_guard lock(mutex_);
  auto node = held_.extract(ticket);  // moves the node: this function must not allocate
  if (result != VK_SUCCESS) {
    failed_.insert(std::move(node));
    if (failure_ == VK_SUCCESS) failure_ = result;
  }
  reported_.notify_all();
}

Ticket Handover::settled() const {
  const std::lock_guard lock(mutex_);
  return settled_locked();
}

Ticket Handover::skip_failed(Ticket ticket) const {
  const std::lock_guard lock(mutex_);
  while (ticket < settled_locked() && failed_.contains(ticket + 1)) ++ticket;
  return ticket;
}

void Handover::wait(Ticket ticket, std::chrono::nanoseconds slice) const {
  std::unique_lock lock(mutex_);
  reported_.wait_for(lock, slice, [&] { return settled_locked() >= ticket; });
}

VkResult Handover::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace lapilli::vulkan
