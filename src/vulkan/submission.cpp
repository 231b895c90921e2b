#include "vulkan/submission.hpp"

#include <algorithm>
#include <thread>

#include "vulkan/trace.hpp"

namespace lapilli::vulkan {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(250);

// Holds the queue by the host's callbacks, which may throw anything.
class QueueLock {
 public:
  QueueLock(const std::function<void()>& lock, const std::function<void()>& unlock) : unlock_(unlock) {
    if (!lock) return;
    try {
      lock();
      held_ = true;
    } catch (...) {
      failed_ = true;
    }
  }
  ~QueueLock() {
    if (!held_ || !unlock_) return;
    try {
      unlock_();
    } catch (...) {
    }
  }
  QueueLock(const QueueLock&) = delete;
  QueueLock& operator=(const QueueLock&) = delete;
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  const std::function<void()>& unlock_;
  bool held_ = false, failed_ = false;
};

}  // namespace

Status Submitter::init(Options options) {
  options_ = std::move(options);
  if (!context_.caps.timeline_semaphore) return {};
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  info.pNext = &type;
  const VkResult r = context_.vk.CreateSemaphore(context_.device, &info, nullptr, &timeline_);
  if (r != VK_SUCCESS) {
    timeline_ = VK_NULL_HANDLE;
    return context_.error(r, "making a timeline semaphore");
  }
  return {};
}

Submitter::~Submitter() {
  if (timeline_) context_.vk.DestroySemaphore(context_.device, timeline_, nullptr);
  for (const Fences* fences : {&pending_, &idle_})
    for (const Fence& f : *fences) context_.vk.DestroyFence(context_.device, f.handle, nullptr);
}

Result<Submitter::Fences::iterator> Submitter::acquire_fence() {
  const std::lock_guard lock(fence_mutex_);
  for (auto it = idle_.begin(); it != idle_.end(); ++it) {
    if (it->waiters) continue;
    const VkResult r = context_.vk.ResetFences(context_.device, 1, &it->handle);
    if (r != VK_SUCCESS) return context_.error(r, "resetting a fence");
    return it;
  }
  const auto fence = idle_.emplace(idle_.end());
  const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  const VkResult r = context_.vk.CreateFence(context_.device, &info, nullptr, &fence->handle);
  if (r != VK_SUCCESS) {
    idle_.erase(fence);
    return context_.error(r, "making a fence");
  }
  return fence;
}

Result<Ticket> Submitter::submit(std::span<const VkCommandBuffer> buffers) {
  const std::lock_guard lock(submit_mutex_);
  LAPILLI_CHECK(context_.health());
  if (timeline_) return submit_locked(buffers, VK_NULL_HANDLE);
  LAPILLI_TRY(const auto fence, acquire_fence());
  LAPILLI_TRY(const Ticket ticket, submit_locked(buffers, fence->handle));
  const std::lock_guard lists(fence_mutex_);
  fence->ticket = ticket;
  pending_.splice(pending_.end(), idle_, fence);
  context_.submitted.store(ticket, std::memory_order_release);
  return ticket;
}

Result<Ticket> Submitter::submit_locked(std::span<const VkCommandBuffer> buffers, VkFence fence) {
  const Ticket ticket = context_.submitted.load(std::memory_order_relaxed) + 1;
  VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  values.signalSemaphoreValueCount = 1;
  values.pSignalSemaphoreValues = &ticket;
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = static_cast<uint32_t>(buffers.size());
  info.pCommandBuffers = buffers.data();
  if (timeline_) {
    info.pNext = &values;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &timeline_;
  }
  VkResult r = VK_SUCCESS;
  {
    const QueueLock queue(options_.lock, options_.unlock);
    if (queue.failed()) return fail(ErrorCode::internal, "the host's queue lock failed with an exception");
    r = context_.vk.QueueSubmit(context_.queue, 1, &info, fence);
  }
  if (r != VK_SUCCESS) return context_.error(r, "submitting work");
  ++context_.submissions;
  if (timeline_) context_.submitted.store(ticket, std::memory_order_release);
  return ticket;
}

void Submitter::complete(Ticket ticket) {
  Ticket known = context_.completed.load(std::memory_order_relaxed);
  while (known < ticket && !context_.completed.compare_exchange_weak(known, ticket, std::memory_order_acq_rel)) {
  }
}

VkResult Submitter::poll_fences() {
  const std::lock_guard lock(fence_mutex_);
  while (!pending_.empty()) {
    const VkResult r = context_.vk.GetFenceStatus(context_.device, pending_.front().handle);
    if (r != VK_SUCCESS) return r == VK_NOT_READY ? VK_SUCCESS : r;
    complete(pending_.front().ticket);
    idle_.splice(idle_.end(), pending_, pending_.begin());
  }
  return VK_SUCCESS;
}

VkResult Submitter::poll_once() {
  if (!timeline_) return poll_fences();
  uint64_t value = 0;
  const VkResult r = context_.vk.GetSemaphoreCounterValue(context_.device, timeline_, &value);
  if (r != VK_SUCCESS) return r;
  // Some drivers answer with all ones when the device is gone.
  if (value > context_.submitted.load(std::memory_order_acquire) + 1) return VK_ERROR_DEVICE_LOST;
  complete(value);
  return VK_SUCCESS;
}

Status Submitter::poll() {
  const VkResult r = poll_once();
  if (r != VK_SUCCESS) return context_.error(r, "asking for the progress");
  if (context_.trace) context_.trace->finished(context_.completed.load(std::memory_order_acquire));
  context_.collect();
  return {};
}

Result<bool> Submitter::done(Ticket ticket) {
  if (ticket > last()) return fail(ErrorCode::invalid_argument, "no submission has this ticket yet");
  if (ticket <= context_.completed.load(std::memory_order_acquire)) return true;
  LAPILLI_CHECK(context_.health());
  LAPILLI_CHECK(poll());
  return ticket <= context_.completed.load(std::memory_order_acquire);
}

VkResult Submitter::wait_fence(Ticket ticket, uint64_t nanoseconds) {
  Fence* fence = nullptr;
  {
    const std::lock_guard lock(fence_mutex_);
    for (Fence& f : pending_) {
      if (f.ticket == ticket) fence = &f;
    }
    if (!fence) return VK_SUCCESS;  // another thread saw it complete, and said so
    ++fence->waiters;
  }
  const VkResult r = context_.vk.WaitForFences(context_.device, 1, &fence->handle, VK_TRUE, nanoseconds);
  const std::lock_guard lock(fence_mutex_);
  --fence->waiters;
  return r;
}

VkResult Submitter::wait_slice(Ticket ticket, std::chrono::nanoseconds slice) {
  ++context_.waits;
  const auto nanoseconds = static_cast<uint64_t>(slice.count());
  if (!timeline_) return wait_fence(ticket, nanoseconds);
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &ticket;
  return context_.vk.WaitSemaphores(context_.device, &info, nanoseconds);
}

Status Submitter::wait_bounded(Ticket ticket, double seconds) {
  // More than thirty years are for ever, and do not overflow in nanoseconds.
  const auto limit = std::chrono::duration<double>(std::min(seconds, 1e9));
  auto since = Clock::now();
  Ticket before = context_.completed.load(std::memory_order_acquire);
  while (true) {
    if (ticket <= context_.completed.load(std::memory_order_acquire)) return {};
    LAPILLI_CHECK(context_.health());
    const auto now = Clock::now();
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(limit - (now - since));
    if (left.count() <= 0) {
      context_.stalled.store(true, std::memory_order_relaxed);
      return fail(ErrorCode::timeout,
                  "%s made no progress for %.3g s; it may be hung, or too slow for this work (the "
                  "time-out can be set)",
                  context_.name.c_str(), seconds);
    }
    const auto slice = std::min(left, kSlice);
    const VkResult r = wait_slice(ticket, slice);
    if (r != VK_SUCCESS && r != VK_TIMEOUT) return context_.error(r, "waiting for work");
    // A wait that succeeds proves nothing, as some drivers let waits end when the device is lost: the progress tells.
    LAPILLI_CHECK(poll());
    const Ticket after = context_.completed.load(std::memory_order_acquire);
    if (after >= ticket) {
      context_.stalled.store(false, std::memory_order_relaxed);
      return {};
    }
    if (after != before) since = Clock::now();
    before = after;
    // A driver that comes back early must not make this loop spin.
    if (Clock::now() - now < slice / 2) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

Status Submitter::wait(Ticket ticket) {
  if (ticket > last()) return fail(ErrorCode::invalid_argument, "no submission has this ticket yet");
  if (ticket <= context_.completed.load(std::memory_order_acquire)) return {};
  return wait_bounded(ticket, options_.timeout_s);
}

bool Submitter::settle() {
  const Ticket ticket = last();
  const bool done = wait(ticket).ok();
  context_.collect();  // also where nothing had to be waited for
  return done;
}

bool Submitter::drain(double seconds) noexcept {
  const auto idle = [&] { return context_.completed.load() >= context_.submitted.load(); };
  try {
    if (!context_.lost && !context_.stalled && wait_bounded(last(), seconds)) return true;
  } catch (...) {  // no memory for an error's message
  }
  // A lost device says so or becomes idle soon; a hung one gets a last chance.
  const auto start = Clock::now();
  while (!idle()) {
    if (poll_once() == VK_ERROR_DEVICE_LOST) return true;
    if (Clock::now() - start > std::chrono::seconds(1)) break;
    if (!idle()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return idle();
}

}  // namespace lapilli::vulkan
