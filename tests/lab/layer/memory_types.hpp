// types= and heaps=: memory types and heaps of another device, all of them made of one type of the driver that the host
// can map. What is not coherent there is shadowed: the host sees a copy, and only flushes and invalidations move bytes.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <map>
#include <vector>

namespace lapilli::lab {

// The pretended memory, or null: the driver's own is shown.
class MemoryTypes {
 public:
  static const MemoryTypes* get();

  void show(VkPhysicalDeviceMemoryProperties& memory) const;
  void show(VkPhysicalDeviceMemoryBudgetPropertiesEXT& budget) const;
  // Those that a buffer may lie in: not what is protected or lazily allocated.
  [[nodiscard]] uint32_t buffer_bits() const;
  [[nodiscard]] bool known(uint32_t type) const { return type < types_.size(); }
  [[nodiscard]] bool mappable(uint32_t type) const;
  [[nodiscard]] bool shadowed(uint32_t type) const;  // mappable, not coherent
  [[nodiscard]] uint32_t heap_of(uint32_t type) const { return types_[type].heapIndex; }
  [[nodiscard]] uint64_t heap_bytes(uint32_t heap) const { return heaps_[heap].size; }

 private:
  MemoryTypes();
  void add_heap(const char* text);
  void add_type(const char* text);
  std::vector<VkMemoryHeap> heaps_;
  std::vector<VkMemoryType> types_;
};

// The host's view of an allocation that is not coherent. Memory that was never flushed or invalidated holds neither
// side's bytes: it begins as 0xDB.
class Shadow {
 public:
  Shadow(void* real, uint64_t bytes, uint64_t offset);
  [[nodiscard]] void* bytes() { return copy_.data(); }
  // Flushes a VkMappedMemoryRange.
  void flush(uint64_t offset, uint64_t bytes) const;
  void invalidate(uint64_t offset, uint64_t bytes);

 private:
  // The part of the range that is mapped; false: none of it.
  bool clip(uint64_t& offset, uint64_t& bytes) const;
  char* real_;
  uint64_t offset_;
  std::vector<char> copy_;
};

}  // namespace lapilli::lab
