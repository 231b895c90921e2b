#include "vulkan/device/memory_types.hpp"

#include <algorithm>
#include <utility>

namespace lapilli::vulkan {
namespace {

constexpr uint64_t kSmallHeap = uint64_t{1} << 30;
// Lazily allocated, protected and vendor-specific kinds never suit buffers.
constexpr uint32_t kBufferTypes = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                  VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

// Deciding properties, in order of weight.
struct TypeTraits {
  bool local, visible, coherent, cached, main_heap, unified;
};

// For memory that the device works in and the host hardly touches: host caches only cost there (Mali and Adreno keep
// them coherent by snooping), and the driver may compress and place host-invisible memory freely.
int for_device(const TypeTraits& t) {
  // A small mappable window into device memory (its own heap) is needed for everybody's uploads: even host memory, slow
  // but working, is preferred.
  if (!t.unified && !t.main_heap && t.local && t.visible) return 0;
  return 1 + (t.main_heap ? 32 : 0) + (t.local ? 16 : 0) + (t.visible ? 0 : 8) + (t.cached ? 0 : 4) +
         (t.coherent ? 2 : 0);
}

// For words that the host writes in place now and then, and shaders read at every step.
int for_shared(const TypeTraits& t) {
  if (!t.visible) return for_device(t);  // written through staging
  return (t.unified && t.main_heap ? 128 : 0) + for_device(t);
}

int for_upload(const TypeTraits& t) {
  if (!t.visible) return -1;
  return (t.coherent ? 16 : 0) + (t.local == t.unified ? 8 : 0) + (t.cached ? 0 : 1);
}

int for_readback(const TypeTraits& t) {
  if (!t.visible) return -1;
  return (t.cached ? 32 : 0) + (t.coherent ? 16 : 0) + (t.local == t.unified ? 8 : 0);
}

// Score of a type for a use; -1: unsuitable.
int suitability(const TypeTraits& t, MemoryUse use) {
  switch (use) {
    case MemoryUse::weights:
    case MemoryUse::device: return for_device(t);
    case MemoryUse::shared: return for_shared(t);
    case MemoryUse::upload: return for_upload(t);
    case MemoryUse::readback: return for_readback(t);
  }
  return -1;
}

TypeTraits traits_of(const MemoryShape& shape, uint32_t i) {
  const auto& type = shape.memory.memoryTypes[i];
  const auto has = [&](uint32_t bit) { return (type.propertyFlags & bit) != 0; };
  return {has(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT),  has(VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT),
          has(VK_MEMORY_PROPERTY_HOST_COHERENT_BIT), has(VK_MEMORY_PROPERTY_HOST_CACHED_BIT),
          type.heapIndex == shape.main_heap,         shape.unified};
}

}  // namespace

uint32_t main_heap_of(const VkPhysicalDeviceMemoryProperties& memory, DeviceType type) {
  uint32_t chosen = 0;
  std::pair<bool, uint64_t> best{false, 0};
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const auto& heap = memory.memoryHeaps[i];
    const std::pair<bool, uint64_t> quality{(heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0, heap.size};
    if (quality > best) chosen = i, best = quality;
  }
  // An APU may report only 256 MiB as its own and still work in host memory.
  if (type != DeviceType::integrated || !best.first || best.second >= kSmallHeap) return chosen;
  for (uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].size > memory.memoryHeaps[chosen].size) chosen = i;
  return chosen;
}

bool is_unified(const VkPhysicalDeviceMemoryProperties& memory, DeviceType type) {
  if (type == DeviceType::discrete) return false;
  const uint32_t heap = main_heap_of(memory, type);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const auto& t = memory.memoryTypes[i];
    if (t.heapIndex == heap && (t.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT)) return true;
  }
  return false;
}

std::vector<uint32_t> types_for(const MemoryShape& shape, MemoryUse use, uint32_t bits) {
  std::vector<std::pair<int, uint32_t>> order;
  for (uint32_t i = 0; i < shape.memory.memoryTypeCount; ++i) {
    if (!(bits >> i & 1) || (shape.memory.memoryTypes[i].propertyFlags & ~kBufferTypes)) continue;
    const int s = suitability(traits_of(shape, i), use);
    if (s >= 0) order.emplace_back(-s, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<uint32_t> types;
  for (const auto& [s, i] : order) types.push_back(i);
  return types;
}

std::optional<uint64_t> budget_left(uint64_t budget, uint64_t used, uint64_t size) {
  // Slightly more than the heap's size may be in use, as the excess is paged out.
  if (budget == 0 || used / 2 > size) return {};
  return budget > used ? budget - used : 0;
}

}  // namespace lapilli::vulkan
