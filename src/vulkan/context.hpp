// What every part of a device needs: handles, tables, capabilities, and whether it is lost.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "vulkan/loader.hpp"
#include "vulkan/snapshot.hpp"

namespace lapilli::vulkan {

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
  bool owned = false;  // the VkDevice is ours
  Capabilities caps;   // masked
  std::string name;    // for messages
  std::atomic<bool> lost{false};
  std::atomic<bool> stalled{false};                  // the last wait gave up
  std::atomic<uint64_t> submitted{0}, completed{0};  // tickets

  // Counters of DeviceCounters
  std::atomic<uint64_t> pipelines_created{0}, submissions{0}, waits{0}, buffers{0}, allocations{0}, staged_bytes{0};

  // An error for a failed call; remembers a lost device.
  Error error(VkResult result, const std::string& what);
  // device_lost once the device is lost.
  [[nodiscard]] Status health() const;

  // Destroys at once if the GPU is idle, else when everything submitted so far is done: so an error may unwind at any
  // point, whatever is in flight.
  void retire(std::function<void()> destroy);
  // Runs what waited for the completed tickets.
  void collect();

 private:
  struct Retired {
    uint64_t ticket;
    std::function<void()> destroy;
  };
  std::mutex retired_mutex_;
  std::deque<Retired> retired_;  // tickets ascend
};

}  // namespace lapilli::vulkan
