// Device memory in blocks. Blocks grow from 16 to 256 MiB, an eighth of what is held, so that neither a tiny nor a
// large model takes much more than it uses; requests larger than half a block get one of their own.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "vulkan/device/context.hpp"
#include "vulkan/device/device.hpp"
#include "vulkan/device/memory_types.hpp"
#include "vulkan/device/suballocator.hpp"

namespace lapilli::vulkan {

struct MemoryBlock {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t bytes = 0;
  uint32_t type = 0;
  bool wants_map = false, coherent = false, cached = false, dedicated = false;
  std::byte* mapped = nullptr;
  Suballocator ranges{0};
};

class MemoryPool {
 public:
  using Block = MemoryBlock;
  using Range = MemoryRange;

  explicit MemoryPool(Context& context) : context_(context) {}
  ~MemoryPool();  // frees every block, even if in use

  // Tries memory types in order of suitability for `use`, with smaller blocks before the next type. out_of_memory tells
  // what was requested and what is left.
  Result<Range> allocate(const VkMemoryRequirements& needs, MemoryUse use, const char* label);
  void release(const Range& range) noexcept;

  [[nodiscard]] uint64_t memory_left() const;  // of the main heap
  [[nodiscard]] uint64_t bytes() const;
  [[nodiscard]] uint64_t peak() const;
  [[nodiscard]] MemoryUsage usage() const;
  // Frees unused blocks.
  void trim();
  // Types that can serve `use`, best first.
  [[nodiscard]] std::vector<uint32_t> types_for(MemoryUse use, uint32_t type_bits) const;

 private:
  struct Want {
    uint64_t bytes, alignment;
    uint32_t type;
    bool map;
  };
  Result<Range> find(const VkMemoryRequirements& needs, MemoryUse use, const char* label);
  bool suballocate(const Want& want, Range& out);
  VkResult add_block(const Want& want, uint64_t bytes, bool dedicated);
  [[nodiscard]] uint64_t next_block(const Want& want) const;
  VkResult grow(const Want& want, Range& out);
  void free_empty_blocks();
  void free_block(Block& block);
  [[nodiscard]] uint64_t heap_left(uint32_t heap) const;
  [[nodiscard]] uint64_t max_block(uint32_t heap) const;

  Context& context_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::array<uint64_t, VK_MAX_MEMORY_HEAPS> held_{};  // bytes per heap
  uint64_t total_ = 0, peak_ = 0;
  std::array<uint64_t, kMemoryUses> used_{};  // bytes per MemoryUse
};

}  // namespace lapilli::vulkan
