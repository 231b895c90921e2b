#include "vulkan/device/submission.hpp"

#include <algorithm>
#include <thread>

#include "vulkan/device/trace.hpp"

namespace lapilli::vulkan {
namespace {

constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(250);

// Locks the queue by the host's callbacks, which may throw anything.
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
  if (options_.append) return append_queue_ = std::make_unique<AppendQueue>(context_), Status{};
  if (options_.gap_us > 0) gap_ = std::make_unique<SubmitGap>(options_.gap_us, options_.time);
  if (options_.submit) handover_ = std::make_shared<Handover>(options_.submit);
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

Result<std::optional<Submitter::Fences::iterator>> Submitter::acquire_fence() {
  if (timeline_) return std::optional<Fences::iterator>();
  const std::lock_guard lock(fence_mutex_);
  for (auto it = idle_.begin(); it != idle_.end(); ++it) {
    if (it->waiters) continue;
    const VkResult r = context_.vk.ResetFences(context_.device, 1, &it->handle);
    if (r != VK_SUCCESS) return context_.error(r, "resetting a fence");
    return std::optional(it);
  }
  const auto fence = idle_.emplace(idle_.end());
  const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  const VkResult r = context_.vk.CreateFence(context_.device, &info, nullptr, &fence->handle);
  if (r != VK_SUCCESS) {
    idle_.erase(fence);
    return context_.error(r, "making a fence");
  }
  return std::optional(fence);
}

// Publishes the ticket: from now on other threads may ask about it.
void Submitter::issue(Ticket ticket, std::optional<Fences::iterator> fence) {
  ++context_.submissions;
  const std::lock_guard lists(fence_mutex_);
  if (fence) {
    (*fence)->ticket = ticket;
    pending_.splice(pending_.end(), idle_, *fence);
  }
  context_.submitted.store(ticket, std::memory_order_release);
}

Result<Ticket> Submitter::submit(std::span<const VkCommandBuffer> buffers, double expected_us) {
  const std::lock_guard lock(submit_mutex_);
  LAPILLI_CHECK(health());
  if (append_queue_) return queue_for_host(buffers, expected_us);
  return handover_ ? submit_through_host(buffers) : submit_to_queue(buffers);
}

Result<Ticket> Submitter::submit_to_queue(std::span<const VkCommandBuffer> buffers) {
  LAPILLI_TRY(const auto fence, acquire_fence());
  const Ticket ticket = last() + 1;
  VkResult r = VK_SUCCESS;
  {
    const QueueLock queue(options_.lock, options_.unlock);
    if (queue.failed()) return fail(ErrorCode::internal, "the host's queue lock failed with an exception");
    r = submit_now(buffers, ticket, fence ? (*fence)->handle : VK_NULL_HANDLE);
  }
  if (r != VK_SUCCESS) return context_.error(r, "submitting work");
  issue(ticket, fence);
  return ticket;
}

VkResult Submitter::submit_now(std::span<const VkCommandBuffer> buffers, Ticket ticket, VkFence fence) {
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
  return context_.vk.QueueSubmit(context_.queue, 1, &info, fence);
}

// The ticket counts as submitted before the host is called: from then on only the host knows.
Result<Ticket> Submitter::submit_through_host(std::span<const VkCommandBuffer> buffers) {
  LAPILLI_TRY(const auto fence, acquire_fence());
  const Ticket ticket = last() + 1;
  HostSubmission* const submission = handover_->prepare({.ticket = ticket,
                                                         .buffers = {buffers.begin(), buffers.end()},
                                                         .timeline = timeline_,
                                                         .fence = fence ? (*fence)->handle : VK_NULL_HANDLE});
  issue(ticket, fence);
  LAPILLI_CHECK(handover_->hand(submission));
  LAPILLI_CHECK(health());
  return ticket;
}

Result<Ticket> Submitter::queue_for_host(std::span<const VkCommandBuffer> buffers, double expected_us) {
  const Ticket ticket = last() + 1;
  append_queue_->add(ticket, buffers, expected_us);
  issue(ticket, std::nullopt);
  return ticket;
}

namespace {

Failure not_appended(const std::string& name) {
  return fail(ErrorCode::invalid_argument, "%s was not adopted for appending (lapilli_host_device.append)", name);
}

}  // namespace

Result<Appended> Submitter::append(VkCommandBuffer into, uint64_t budget_us) {
  if (!append_queue_) return not_appended(context_.name);
  if (!into) return fail(ErrorCode::invalid_argument, "appending needs a command buffer");
  LAPILLI_CHECK(context_.health());
  return append_queue_->append(into, budget_us);
}

Status Submitter::completed(uint64_t serial) {
  if (!append_queue_) return not_appended(context_.name);
  return append_queue_->completed(serial);
}

Status Submitter::dropped(uint64_t serial) {
  if (!append_queue_) return not_appended(context_.name);
  return append_queue_->dropped(serial);
}

Status Submitter::health() {
  LAPILLI_CHECK(context_.health());
  const VkResult r = handover_ ? handover_->failure() : VK_SUCCESS;
  if (r == VK_SUCCESS) return {};
  if (r == VK_ERROR_DEVICE_LOST) return context_.error(r, "submitting work by the host");
  return fail(ErrorCode::device_lost,
              "the host could not submit work for %s (%s, told to lapilli_submission_done): nothing more runs on this "
              "device; close it and adopt it again",
              context_.name, result_name(r));
}

void Submitter::complete(Ticket ticket) {
  Ticket known = context_.completed.load(std::memory_order_relaxed);
  while (known < ticket && !context_.completed.compare_exchange_weak(known, ticket, std::memory_order_acq_rel)) {
  }
}

// Skips submissions that the host has not made yet; failed ones count as done.
VkResult Submitter::poll_fences() {
  const Ticket settled = handover_ ? handover_->settled() : last();
  const std::lock_guard lock(fence_mutex_);
  while (!pending_.empty() && pending_.front().ticket <= settled) {
    const Ticket before = pending_.front().ticket - 1;
    const bool failed = handover_ && handover_->skip_failed(before) != before;
    const VkResult r = failed ? VK_SUCCESS : context_.vk.GetFenceStatus(context_.device, pending_.front().handle);
    if (r != VK_SUCCESS) return r == VK_NOT_READY ? VK_SUCCESS : r;
    complete(pending_.front().ticket);
    idle_.splice(idle_.end(), pending_, pending_.begin());
  }
  return VK_SUCCESS;
}

VkResult Submitter::poll_once() {
  if (append_queue_) return complete(append_queue_->over()), VK_SUCCESS;
  if (!timeline_) return poll_fences();
  uint64_t value = 0;
  const VkResult r = context_.vk.GetSemaphoreCounterValue(context_.device, timeline_, &value);
  if (r != VK_SUCCESS) return r;
  // Some drivers return all ones when the device is gone.
  if (value > context_.submitted.load(std::memory_order_acquire) + 1) return VK_ERROR_DEVICE_LOST;
  // Submissions that the host is still making are in use, however far the device is.
  complete(handover_ ? std::min(handover_->skip_failed(value), handover_->settled()) : value);
  return VK_SUCCESS;
}

Status Submitter::poll() {
  const VkResult r = poll_once();
  if (r != VK_SUCCESS) return context_.error(r, "asking for the progress");
  if (context_.trace) context_.trace->finished(context_.completed.load(std::memory_order_acquire));
  context_.collect();
  return {};
}

// Also reports to the trace, as the thread that saw the completion may not have done so yet.
bool Submitter::is_over(Ticket ticket) const {
  const Ticket known = context_.completed.load(std::memory_order_acquire);
  if (ticket > known) return false;
  if (context_.trace) context_.trace->finished(known);
  return true;
}

Result<bool> Submitter::done(Ticket ticket) {
  if (ticket > last()) return fail(ErrorCode::invalid_argument, "no submission has this ticket yet");
  if (handover_) LAPILLI_CHECK(health());  // even if the ticket is done already
  if (is_over(ticket)) return true;
  LAPILLI_CHECK(context_.health());
  LAPILLI_CHECK(poll());
  return is_over(ticket);
}

VkResult Submitter::wait_fence(Ticket ticket, uint64_t nanoseconds) {
  Fence* fence = nullptr;
  {
    const std::lock_guard lock(fence_mutex_);
    for (Fence& f : pending_) {
      if (f.ticket == ticket) fence = &f;
    }
    if (!fence) return VK_SUCCESS;  // another thread saw and published its completion
    ++fence->waiters;
  }
  const VkResult r = context_.vk.WaitForFences(context_.device, 1, &fence->handle, VK_TRUE, nanoseconds);
  const std::lock_guard lock(fence_mutex_);
  --fence->waiters;
  return r;
}

VkResult Submitter::wait_slice(Ticket ticket, std::chrono::nanoseconds slice) {
  ++context_.waits;
  if (append_queue_) return append_queue_->wait(ticket, slice), VK_TIMEOUT;
  if (handover_ && handover_->settled() < ticket) return handover_->wait(ticket, slice), VK_TIMEOUT;
  const auto nanoseconds = static_cast<uint64_t>(slice.count());
  if (!timeline_) return wait_fence(ticket, nanoseconds);
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &ticket;
  return context_.vk.WaitSemaphores(context_.device, &info, nanoseconds);
}

Failure Submitter::gave_up(double seconds) const {
  if (append_queue_) return append_queue_->stuck(seconds);
  const bool held = handover_ && handover_->settled() < last();
  return fail(ErrorCode::timeout, "%s made no progress for %.3g s; %s (the time-out can be set)", context_.name,
              seconds,
              held ? "the host has not said of all that it was handed that it is submitted (lapilli_submission_done)"
                   : "it may be hung, or too slow for this work");
}

Status Submitter::wait_bounded(Ticket ticket, double seconds) {
  // Over thirty years, effectively forever, but nanoseconds do not overflow.
  const auto limit = std::chrono::duration<double>(std::min(seconds, 1e9));
  auto since = Clock::now();
  Ticket before = context_.completed.load(std::memory_order_acquire);
  while (true) {
    if (is_over(ticket)) return {};
    LAPILLI_CHECK(health());
    const auto now = Clock::now();
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(limit - (now - since));
    if (left.count() <= 0) {
      context_.stalled.store(true, std::memory_order_relaxed);
      return gave_up(seconds);
    }
    const auto slice = std::min(left, kSlice);
    const VkResult r = wait_slice(ticket, slice);
    if (r != VK_SUCCESS && r != VK_TIMEOUT) return context_.error(r, "waiting for work");
    // A successful wait proves nothing, as some drivers end waits when the device is lost: only progress counts.
    LAPILLI_CHECK(poll());
    const Ticket after = context_.completed.load(std::memory_order_acquire);
    if (after >= ticket) {
      context_.stalled.store(false, std::memory_order_relaxed);
      return {};
    }
    if (after != before) since = Clock::now();
    before = after;
    // Prevents spinning if a driver returns early.
    if (Clock::now() - now < slice / 2) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

Status Submitter::wait(Ticket ticket) {
  if (ticket > last()) return fail(ErrorCode::invalid_argument, "no submission has this ticket yet");
  if (handover_) LAPILLI_CHECK(health());
  if (is_over(ticket)) return {};
  return wait_bounded(ticket, options_.timeout_s);
}

// Covers all submitters: work queued by others must leave a gap, too.
Result<bool> Submitter::may_submit() {
  if (!gap_) return true;
  const Ticket ticket = last();
  LAPILLI_TRY(const bool idle, done(ticket));
  return idle && gap_->left(ticket) <= Clock::duration::zero();
}

Status Submitter::wait_for_gap() {
  while (gap_) {
    const Ticket ticket = last();
    LAPILLI_CHECK(wait(ticket));
    const auto left = gap_->left(ticket);
    if (left <= Clock::duration::zero()) return {};
    gap_->sleep(left);
  }
  return {};
}

bool Submitter::settle() {
  const Ticket ticket = last();
  const bool done = wait(ticket).ok();
  context_.collect();  // even if nothing had to be waited for
  return done;
}

bool Submitter::drain(double seconds) noexcept {
  const auto idle = [&] { return context_.completed.load() >= context_.submitted.load(); };
  // Nobody can append or report any more.
  if (append_queue_) return append_queue_->give_up();
  try {
    if (!context_.lost && !context_.stalled && wait_bounded(last(), seconds)) return true;
  } catch (...) {  // no memory for the error's message
  }
  // A lost device reports that or becomes idle soon; a hung one gets a last chance.
  const auto start = Clock::now();
  while (!idle()) {
    if (poll_once() == VK_ERROR_DEVICE_LOST) return true;
    if (Clock::now() - start > std::chrono::seconds(1)) break;
    if (!idle()) std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return idle();
}

}  // namespace lapilli::vulkan
