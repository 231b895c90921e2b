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
  if (!stalled.load(std::memory_order_relaxed) || lost.load(std::memory_order_relaxed)) return destroy();
  try {
    const std::lock_guard lock(retired_mutex);
    retired.push_back(std::move(destroy));
  } catch (...) {  // out of host memory: better leaked than freed under the GPU
  }
}

}  // namespace lapilli::vulkan
