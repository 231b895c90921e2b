// State shared by all parts of a device: handles, tables, capabilities, and whether it is lost.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "vulkan/device/snapshot.hpp"
#include "vulkan/driver/instance.hpp"
#include "vulkan/driver/loader.hpp"

namespace lapilli::vulkan {

class MemoryPool;
class Trace;
struct MemoryBlock;  // belongs to the pool
enum class MemoryUse : uint8_t;
struct MemoryRange {
  MemoryBlock* block = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  MemoryUse use{};
};

// Objects to destroy once the GPU is done with them. Allocated together with the object that will need it, so that
// destructors allocate nothing.
struct Retired {
  uint64_t ticket = 0;
  VkBuffer buffer = VK_NULL_HANDLE;
  MemoryPool* pool = nullptr;  // pool that the range returns to
  MemoryRange range;
  VkDescriptorPool descriptors = VK_NULL_HANDLE;
  std::map<std::tuple<VkBuffer, uint64_t, uint64_t>, VkBufferView> views;
  VkQueryPool queries = VK_NULL_HANDLE;
  VkCommandPool commands = VK_NULL_HANDLE;
  std::shared_ptr<void> with;  // released when all of this is freed
  std::unique_ptr<Retired> next;
};

struct Context {
  std::shared_ptr<Instance> instance;
  DeviceTable vk;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t queue_family = 0;
  uint32_t timestamp_bits = 0;
  uint32_t main_heap = 0;
  VkPhysicalDeviceMemoryProperties memory{};
  bool owned = false;            // the VkDevice is ours
  bool secondary = false;        // recordings are secondary command buffers, for the host's own
  Capabilities caps;             // masked
  std::string name;              // for messages
  std::shared_ptr<Trace> trace;  // null: no tracing
  std::atomic<bool> lost{false};
  std::atomic<bool> stalled{false};                  // the last wait timed out
  std::atomic<uint64_t> submitted{0}, completed{0};  // tickets

  // Counters of DeviceCounters
  std::atomic<uint64_t> pipelines_created{0}, submissions{0}, waits{0}, buffers{0}, allocations{0}, staged_bytes{0},
      filled_bytes{0}, cache_bytes{0};

  // The error for a failed call; records a lost device.
  Failure error(VkResult result, const std::string& what);
  // device_lost once the device is lost.
  [[nodiscard]] Status health() const;

  // Destroys at once if the GPU is idle, otherwise when everything submitted so far is done: errors may unwind at any
  // point, whatever is in flight.
  void retire(std::unique_ptr<Retired> retired) noexcept;
  // Destroys the objects retired before the completed tickets.
  void collect() noexcept;

 private:
  void destroy(const Retired& retired) noexcept;
  std::mutex retired_mutex_;
  std::unique_ptr<Retired> first_retired_;  // tickets ascend
  Retired* last_retired_ = nullptr;
};

}  // namespace lapilli::vulkan
