#include "memory_types.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "config.hpp"

namespace lapilli::lab {
namespace {

[[noreturn]] void refuse(const char* what, const char* text) {
  std::fprintf(stderr, "lab: %s, not '%s'\n", what, text);
  std::exit(2);
}

struct Letter {
  char letter;
  VkMemoryPropertyFlags flag;
};
constexpr Letter kLetters[] = {
    {'L', VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT},     {'V', VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT},
    {'C', VK_MEMORY_PROPERTY_HOST_COHERENT_BIT},    {'K', VK_MEMORY_PROPERTY_HOST_CACHED_BIT},
    {'Z', VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT}, {'P', VK_MEMORY_PROPERTY_PROTECTED_BIT}};

template <class Add>
void each(const std::string& list, Add add) {
  std::stringstream stream(list);
  for (std::string item; std::getline(stream, item, ':');) add(item.c_str());
}

}  // namespace

const MemoryTypes* MemoryTypes::get() {
  static const bool wanted = Config::get().has("types");
  if (!wanted) return nullptr;
  static const MemoryTypes types;
  return &types;
}

MemoryTypes::MemoryTypes() {
  each(Config::get().text("heaps"), [&](const char* text) { add_heap(text); });
  each(Config::get().text("types"), [&](const char* text) { add_type(text); });
  if (types_.empty()) refuse("types= needs types and heaps", "");
}

// MIB, with an L behind it if it is the device's own.
void MemoryTypes::add_heap(const char* text) {
  char* rest = nullptr;
  const uint64_t mib = std::strtoull(text, &rest, 10);
  const bool local = *rest == 'L';
  if (mib == 0 || rest[local ? 1 : 0] != 0 || heaps_.size() == VK_MAX_MEMORY_HEAPS)
    refuse("a heap is MIB or MIBL", text);
  heaps_.push_back({mib << 20, local ? VkMemoryHeapFlags{VK_MEMORY_HEAP_DEVICE_LOCAL_BIT} : VkMemoryHeapFlags{0}});
}

// The number of its heap, then letters.
void MemoryTypes::add_type(const char* text) {
  char* letters = nullptr;
  VkMemoryType type{};
  type.heapIndex = static_cast<uint32_t>(std::strtoul(text, &letters, 10));
  if (letters == text || type.heapIndex >= heaps_.size() || types_.size() == VK_MAX_MEMORY_TYPES)
    refuse("a memory type is the number of a heap and letters of LVCKZP", text);
  for (; *letters; ++letters) {
    const auto* found =
        std::find_if(std::begin(kLetters), std::end(kLetters), [&](const Letter& l) { return l.letter == *letters; });
    if (found == std::end(kLetters)) refuse("a memory type is the number of a heap and letters of LVCKZP", text);
    type.propertyFlags |= found->flag;
  }
  types_.push_back(type);
}

void MemoryTypes::show(VkPhysicalDeviceMemoryProperties& memory) const {
  memory = {};
  memory.memoryHeapCount = static_cast<uint32_t>(heaps_.size());
  std::copy(heaps_.begin(), heaps_.end(), memory.memoryHeaps);
  memory.memoryTypeCount = static_cast<uint32_t>(types_.size());
  std::copy(types_.begin(), types_.end(), memory.memoryTypes);
}

void MemoryTypes::show(VkPhysicalDeviceMemoryBudgetPropertiesEXT& budget) const {
  for (size_t i = 0; i < VK_MAX_MEMORY_HEAPS; ++i) {
    budget.heapBudget[i] = i < heaps_.size() ? heaps_[i].size : 0;
    budget.heapUsage[i] = 0;
  }
}

uint32_t MemoryTypes::buffer_bits() const {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < types_.size(); ++i) {
    const VkMemoryPropertyFlags never = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT | VK_MEMORY_PROPERTY_PROTECTED_BIT;
    if ((types_[i].propertyFlags & never) == 0) bits |= 1u << i;
  }
  return bits;
}

bool MemoryTypes::mappable(uint32_t type) const {
  return (types_[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
}

bool MemoryTypes::shadowed(uint32_t type) const {
  return mappable(type) && (types_[type].propertyFlags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) == 0;
}

Shadow::Shadow(void* real, uint64_t bytes, uint64_t offset)
    : real_(static_cast<char*>(real)), offset_(offset), copy_(bytes, static_cast<char>(0xDB)) {}

bool Shadow::clip(uint64_t& offset, uint64_t& bytes) const {
  const uint64_t end = offset_ + copy_.size();
  const uint64_t to = bytes == VK_WHOLE_SIZE ? end : std::min(end, offset + bytes);
  const uint64_t from = std::max(offset, offset_);
  if (from >= to) return false;
  offset = from - offset_;
  bytes = to - from;
  return true;
}

void Shadow::flush(uint64_t offset, uint64_t bytes) const {
  if (clip(offset, bytes)) std::memcpy(real_ + offset, copy_.data() + offset, bytes);
}

void Shadow::invalidate(uint64_t offset, uint64_t bytes) {
  if (clip(offset, bytes)) std::memcpy(copy_.data() + offset, real_ + offset, bytes);
}

}  // namespace lapilli::lab
