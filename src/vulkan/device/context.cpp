#include "vulkan/device/context.hpp"

#include "vulkan/device/memory.hpp"

namespace lapilli::vulkan {

Failure Context::error(VkResult result, const std::string& what) {
  if (result == VK_ERROR_DEVICE_LOST) lost.store(true, std::memory_order_relaxed);
  return vk_error(result, what + " on " + name);
}

Status Context::health() const {
  if (!lost.load(std::memory_order_relaxed)) return {};
  return fail(ErrorCode::device_lost,
              "%s is lost (driver reset, update, sleep or time-out); the device must be made again", name);
}

void Context::destroy(const Retired& r) noexcept {
  if (r.buffer) vk.DestroyBuffer(device, r.buffer, nullptr);
  if (r.range.block) r.pool->release(r.range);
  if (r.descriptors) vk.DestroyDescriptorPool(device, r.descriptors, nullptr);
  for (const auto& [place, view] : r.views)
    if (view) vk.DestroyBufferView(device, view, nullptr);
  if (r.queries) vk.DestroyQueryPool(device, r.queries, nullptr);
  if (r.commands) vk.DestroyCommandPool(device, r.commands, nullptr);
}

void Context::retire(std::unique_ptr<Retired> retired) noexcept {
  retired->ticket = submitted.load(std::memory_order_acquire);
  if (completed.load(std::memory_order_acquire) >= retired->ticket) return destroy(*retired);
  const std::lock_guard lock(retired_mutex_);
  Retired* const last = retired.get();
  (last_retired_ ? last_retired_->next : first_retired_) = std::move(retired);
  last_retired_ = last;
}

void Context::collect() noexcept {
  const uint64_t done = completed.load(std::memory_order_acquire);
  while (true) {
    std::unique_ptr<Retired> first;
    {
      const std::lock_guard lock(retired_mutex_);
      if (!first_retired_ || first_retired_->ticket > done) return;
      first = std::move(first_retired_);
      first_retired_ = std::move(first->next);
      if (!first_retired_) last_retired_ = nullptr;
    }
    destroy(*first);
  }
}

}  // namespace lapilli::vulkan
