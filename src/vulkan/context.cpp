#include "vulkan/context.hpp"

namespace lapilli::vulkan {

Error Context::error(VkResult result, const std::string& what) {
  if (result == VK_ERROR_DEVICE_LOST) lost.store(true, std::memory_order_relaxed);
  return vk_error(result, what + " on " + name);
}

Status Context::health() const {
  if (!lost.load(std::memory_order_relaxed)) return {};
  return fail(ErrorCode::device_lost,
              "%s is lost (driver reset, update, sleep or time-out); the device must be made again", name.c_str());
}

void Context::retire(std::function<void()> destroy) {
  const uint64_t ticket = submitted.load(std::memory_order_acquire);
  if (completed.load(std::memory_order_acquire) >= ticket) return destroy();
  try {
    const std::lock_guard lock(retired_mutex_);
    retired_.push_back({ticket, std::move(destroy)});
  } catch (...) {  // out of host memory: better leaked than freed under the GPU
  }
}

void Context::collect() {
  const uint64_t done = completed.load(std::memory_order_acquire);
  while (true) {
    std::function<void()> destroy;
    {
      const std::lock_guard lock(retired_mutex_);
      if (retired_.empty() || retired_.front().ticket > done) return;
      destroy = std::move(retired_.front().destroy);
      retired_.pop_front();
    }
    destroy();
  }
}

}  // namespace lapilli::vulkan
