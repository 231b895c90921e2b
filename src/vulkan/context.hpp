// What every part of a device needs: handles, tables, capabilities, and whether it is lost.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "vulkan/instance.hpp"
#include "vulkan/loader.hpp"
#include "vulkan/snapshot.hpp"

namespace lapilli::vulkan {

class MemoryPool;
class Trace;
struct MemoryBlock;  // of the pool
enum class MemoryUse : uint8_t;
struct MemoryRange {
  MemoryBlock* block = nullptr;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  MemoryUse use{};
};

// What is to be destroyed once the GPU has done with it. Made together with the object that will need it, so that a
// destructor allocates nothing.
struct Retired {
  uint64_t ticket = 0;
  VkBuffer buffer = VK_NULL_HANDLE;
  MemoryPool* pool = nullptr;  // that the range goes back to
  MemoryRange range;
  VkDescriptorPool descriptors = VK_NULL_HANDLE;
  std::map<std::tuple<VkBuffer, uint64_t, uint64_t>, VkBufferView> views;
  VkQueryPool queries = VK_NULL_HANDLE;
  VkCommandPool commands = VK_NULL_HANDLE;
  std::shared_ptr<void> with;  // goes when all of this is freed
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
  bool secondary = false;        // recordings are secondary command buffers, for those of the host
  Capabilities caps;             // masked
  std::string name;              // for messages
  std::shared_ptr<Trace> trace;  // null: nobody wants to know
  std::atomic<bool> lost{false};
  std::atomic<bool> stalled{false};                  // the last wait gave up
  std::atomic<uint64_t> submitted{0}, completed{0};  // tickets

  // Counters of DeviceCounters
  std::atomic<uint64_t> pipelines_created{0}, submissions{0}, waits{0}, buffers{0}, allocations{0}, staged_bytes{0},
      filled_bytes{0}, cache_bytes{0};

  // An error for a failed call; remembers a lost device.
  Failure error(VkResult result, const std::string& what);
  // device_lost once the device is lost.
  [[nodiscard]] Status health() const;

  // Destroys at once if the GPU is idle, else when everything submitted so far is done: so an error may unwind at any
  // point, whatever is in flight.
  void retire(std::unique_ptr<Retired> retired) noexcept;
  // Destroys what waited for the completed tickets.
  void collect() noexcept;

 private:
  void destroy(const Retired& retired) noexcept;
  std::mutex retired_mutex_;
  std::unique_ptr<Retired> first_retired_;  // tickets ascend
  Retired* last_retired_ = nullptr;
};

}  // namespace lapilli::vulkan
