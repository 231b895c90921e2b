#include "vulkan/device/memory_report.hpp"

#include "vulkan/device/device_impl.hpp"

namespace lapilli::vulkan {
namespace {

std::string kind_of(VkMemoryPropertyFlags flags) {
  struct Word {
    VkMemoryPropertyFlags flag;
    const char* name;
  };
  constexpr Word kWords[] = {{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, "device-local"},
                             {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, "host-visible"},
                             {VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, "coherent"},
                             {VK_MEMORY_PROPERTY_HOST_CACHED_BIT, "cached"},
                             {VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT, "lazily allocated"},
                             {VK_MEMORY_PROPERTY_PROTECTED_BIT, "protected"}};
  std::string text;
  for (const Word& word : kWords) {
    if (flags & word.flag) text += (text.empty() ? "" : ", ") + std::string(word.name);
    flags &= ~word.flag;
  }
  if (flags) text += format("%sothers (0x%x)", text.empty() ? "" : ", ", static_cast<unsigned>(flags));
  return text;
}

}  // namespace

MemoryReport memory_report(const Device& device) {
  const Context& c = device.impl()->context;
  MemoryReport report;
  for (uint32_t i = 0; i < c.memory.memoryHeapCount; ++i)
    report.heaps.push_back({c.memory.memoryHeaps[i].size,
                            (c.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0, i == c.main_heap});
  for (uint32_t i = 0; i < c.memory.memoryTypeCount; ++i)
    report.types.push_back({c.memory.memoryTypes[i].heapIndex, kind_of(c.memory.memoryTypes[i].propertyFlags)});
  const MemoryPool& pool = *device.impl()->memory;
  report.uses = {{"weights", pool.types_for(MemoryUse::weights, ~0u)},
                 {"arenas, caches", pool.types_for(MemoryUse::device, ~0u)},
                 {"shared words", pool.types_for(MemoryUse::shared, ~0u)},
                 {"upload", pool.types_for(MemoryUse::upload, ~0u)},
                 {"readback", pool.types_for(MemoryUse::readback, ~0u)}};
  report.left = pool.memory_left();
  report.budget_from_driver = c.caps.memory_budget;
  return report;
}

}  // namespace lapilli::vulkan
