#include "vulkan/device/append_queue.hpp"

#include <iterator>

namespace lapilli::vulkan {

void AppendQueue::add(Ticket ticket, std::span<const VkCommandBuffer> buffers, double expected_us) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({ticket, {buffers.begin(), buffers.end()}, expected_us});
}

// Work of unknown duration is appended alone, unless there is no limit.
bool AppendQueue::fits(const Entry& entry, const Appended& so_far, uint64_t budget_us) {
  if (budget_us == UINT64_MAX) return true;
  if (so_far.submissions == 0) return budget_us > 0;
  if (entry.expected_us <= 0 || so_far.expected_us <= 0) return false;
  return so_far.expected_us + entry.expected_us <= static_cast<double>(budget_us);
}

Appended AppendQueue::append(VkCommandBuffer into, uint64_t budget_us) {
  const std::lock_guard lock(mutex_);
  Appended out;
  // Allocates before recording the first command, so that no work is appended without being tracked.
  std::vector<Entry> entries;
  entries.reserve(waiting_.size());
  taken_.push_back({serial_ + 1, {}});
  for (; !waiting_.empty() && fits(waiting_.front(), out, budget_us); waiting_.pop_front()) {
    const Entry& entry = entries.emplace_back(std::move(waiting_.front()));
    if (!entry.buffers.empty())
      context_.vk.CmdExecuteCommands(into, static_cast<uint32_t>(entry.buffers.size()), entry.buffers.data());
    out.expected_us += entry.expected_us;
    ++out.submissions;
  }
  out.waiting = static_cast<uint32_t>(waiting_.size());
  if (entries.empty()) return taken_.pop_back(), out;
  taken_.back().entries = std::move(entries);
  out.serial = ++serial_;
  return out;
}

Status AppendQueue::check_prompt(uint64_t serial) const {
  if (serial <= serial_) return {};
  return fail(ErrorCode::invalid_argument, "serial %u was not given out yet; the last one was %u", serial, serial_);
}

Status AppendQueue::completed(uint64_t serial) {
  const std::lock_guard lock(mutex_);
  LAPILLI_CHECK(check_prompt(serial));
  for (; !taken_.empty() && taken_.front().serial <= serial; taken_.pop_front())
    over_ = taken_.front().entries.back().ticket;
  changed_.notify_all();
  return {};
}

Status AppendQueue::dropped(uint64_t serial) {
  const std::lock_guard lock(mutex_);
  LAPILLI_CHECK(check_prompt(serial));
  for (; !taken_.empty() && taken_.back().serial >= serial; taken_.pop_back()) {
    std::vector<Entry>& entries = taken_.back().entries;
    waiting_.insert(waiting_.begin(), std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end()));
  }
  return {};
}

Ticket AppendQueue::over() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

void AppendQueue::wait(Ticket ticket, std::chrono::nanoseconds slice) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, slice, [&] { return over_ >= ticket; });
}

bool AppendQueue::give_up() noexcept {
  const std::lock_guard lock(mutex_);
  if (!taken_.empty()) return false;
  if (!waiting_.empty()) over_ = waiting_.back().ticket;
  waiting_.clear();
  return true;
}

Failure AppendQueue::stuck(double seconds) const {
  const std::lock_guard lock(mutex_);
  const char* const what =
      waiting_.empty() ? "finish and be told by lapilli_device_completed" : "be taken by lapilli_device_append";
  return fail(ErrorCode::timeout,
              "%s: for %.3g s work has waited to %s (%u pieces wait, %u command buffers have not been completed); the "
              "host's frames must call both, on another thread than the one that waits",
              context_.name, seconds, what, waiting_.size(), taken_.size());
}

}  // namespace lapilli::vulkan
