#include "vulkan/device/memory.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/math.hpp"

namespace lapilli::vulkan {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kFirstBlock = 16 * kMiB;
constexpr uint64_t kLargestBlock = 256 * kMiB;
constexpr uint64_t kSmallestBlock = kMiB;
constexpr uint64_t kGreatestAlignment = uint64_t{1} << 30;

constexpr uint32_t kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr uint32_t kCoherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr uint32_t kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

std::string amount(uint64_t bytes) {
  if (bytes < kMiB) return format("%u bytes", bytes);
  return format("%.1f MiB", static_cast<double>(bytes) / static_cast<double>(kMiB));
}

}  // namespace

MemoryPool::~MemoryPool() {
  for (auto& block : blocks_) free_block(*block);
}

std::vector<uint32_t> MemoryPool::types_for(MemoryUse use, uint32_t type_bits) const {
  return vulkan::types_for({context_.memory, context_.main_heap, context_.caps.unified_memory}, use, type_bits);
}

Result<MemoryPool::Range> MemoryPool::allocate(const VkMemoryRequirements& needs, MemoryUse use, const char* label) {
  if (needs.size > context_.caps.max_allocation) {
    return fail(ErrorCode::out_of_memory, "buffer '%s' needs %s; %s allows %s in one piece", label, amount(needs.size),
                context_.name, amount(context_.caps.max_allocation));
  }
  const std::lock_guard lock(mutex_);
  LAPILLI_TRY(Range range, find(needs, use, label));
  range.bytes = needs.size;
  range.use = use;
  used_[static_cast<size_t>(use)] += needs.size;
  return range;
}

Result<MemoryPool::Range> MemoryPool::find(const VkMemoryRequirements& needs, MemoryUse use, const char* label) {
  const std::vector<uint32_t> types = types_for(use, needs.memoryTypeBits);
  VkResult last = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  Range range;
  for (const uint32_t type : types) {
    const uint32_t flags = context_.memory.memoryTypes[type].propertyFlags;
    // The specification requires powers of two; a driver that gives another must not make every attempt fail.
    const uint64_t alignment = std::bit_ceil(std::clamp<uint64_t>(needs.alignment, 1, kGreatestAlignment));
    Want want{needs.size, alignment, type, (flags & kVisible) != 0};
    // On discrete GPUs, and under the mask `staging`, memory is treated as not host-visible.
    const bool hosts = use == MemoryUse::upload || use == MemoryUse::readback;
    if (!hosts && !context_.caps.unified_memory) want.map = false;
    // Ranges flushed separately must not share an atom with a neighbour.
    if (want.map && !(flags & kCoherent)) {
      want.alignment = std::max(want.alignment, context_.caps.non_coherent_atom);
      want.bytes = round_up(want.bytes, context_.caps.non_coherent_atom);
    }
    if (suballocate(want, range)) return range;
    last = grow(want, range);
    if (last == VK_SUCCESS) return range;
    if (error_code(last) != ErrorCode::out_of_memory) break;
  }
  if (error_code(last) != ErrorCode::out_of_memory) {
    return context_.error(last, std::string("allocating memory for buffer '") + label + "'");
  }
  return fail(ErrorCode::out_of_memory,
              "buffer '%s' needs %s, but %s has no memory for it (%s; %s are ours, %s are left): free memory, or use a "
              "smaller batch, beam or model",
              label, amount(needs.size), context_.name, result_name(last), amount(total_),
              amount(heap_left(context_.main_heap)));
}

bool MemoryPool::suballocate(const Want& want, Range& out) {
  for (const auto& block : blocks_) {
    if (block->type != want.type || block->wants_map != want.map || block->dedicated) continue;
    if (const auto offset = block->ranges.allocate(want.bytes, want.alignment)) {
      out.block = block.get();
      out.offset = *offset;
      return true;
    }
  }
  return false;
}

// Size of the next shared block: an eighth of what is held of its kind, which bounds unused memory.
uint64_t MemoryPool::next_block(const Want& want) const {
  uint64_t held = 0;
  for (const auto& block : blocks_)
    if (block->type == want.type && block->wants_map == want.map) held += block->bytes;
  return std::min(std::max(kFirstBlock, round_up(held / 8, kMiB)),
                  max_block(context_.memory.memoryTypes[want.type].heapIndex));
}

// Allocates a block for the request: of the pool's next size, then smaller ones, then exactly as large as needed.
VkResult MemoryPool::grow(const Want& want, Range& out) {
  const uint64_t next = next_block(want);
  VkResult r = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  if (want.bytes <= next / 2) {
    for (uint64_t bytes = next; bytes >= std::max(want.bytes, kSmallestBlock); bytes /= 2) {
      r = add_block(want, bytes, false);
      if (r == VK_SUCCESS) return suballocate(want, out) ? VK_SUCCESS : VK_ERROR_UNKNOWN;
      if (error_code(r) != ErrorCode::out_of_memory) return r;
    }
  }
  r = add_block(want, want.bytes, true);
  if (error_code(r) == ErrorCode::out_of_memory) {
    free_empty_blocks();
    r = add_block(want, want.bytes, true);
  }
  if (r != VK_SUCCESS) return r;
  Block& block = *blocks_.back();
  const auto offset = block.ranges.allocate(want.bytes, 1);
  if (!offset) return VK_ERROR_UNKNOWN;
  out.block = &block;
  out.offset = *offset;
  return VK_SUCCESS;
}

VkResult MemoryPool::add_block(const Want& want, uint64_t bytes, bool dedicated) {
  const uint32_t heap = context_.memory.memoryTypes[want.type].heapIndex;
  if (bytes > heap_left(heap)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  // Host allocations come first: if they fail, no device memory leaks.
  auto block = std::make_unique<Block>();
  block->ranges = Suballocator(bytes);
  if (blocks_.size() == blocks_.capacity()) blocks_.reserve(2 * blocks_.size() + 8);
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = bytes;
  info.memoryTypeIndex = want.type;
  VkResult r = context_.vk.AllocateMemory(context_.device, &info, nullptr, &block->memory);
  if (r != VK_SUCCESS) return r;
  block->bytes = bytes;
  block->type = want.type;
  block->wants_map = want.map;
  block->dedicated = dedicated;
  block->coherent = (context_.memory.memoryTypes[want.type].propertyFlags & kCoherent) != 0;
  block->cached = (context_.memory.memoryTypes[want.type].propertyFlags & kCached) != 0;
  if (want.map) {
    void* mapped = nullptr;
    r = context_.vk.MapMemory(context_.device, block->memory, 0, VK_WHOLE_SIZE, 0, &mapped);
    if (r != VK_SUCCESS || !mapped) {
      context_.vk.FreeMemory(context_.device, block->memory, nullptr);
      return r == VK_SUCCESS ? VK_ERROR_MEMORY_MAP_FAILED : r;
    }
    block->mapped = static_cast<std::byte*>(mapped);
  }
  ++context_.allocations;
  held_[heap] += bytes;
  total_ += bytes;
  peak_ = std::max(peak_, total_);
  blocks_.push_back(std::move(block));
  return VK_SUCCESS;
}

void MemoryPool::release(const Range& range) noexcept {
  const std::lock_guard lock(mutex_);
  if (!range.block || !range.block->ranges.release(range.offset)) return;
  used_[static_cast<size_t>(range.use)] -= range.bytes;
  if (!range.block->ranges.empty()) return;
  // Keeps one empty block per kind, so that freeing and allocating again does not reach the driver.
  Block* const block = range.block;
  const bool other = std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& b) {
    return b.get() != block && b->type == block->type && b->wants_map == block->wants_map && b->ranges.empty();
  });
  if (!block->dedicated && !other) return;
  free_block(*block);
  std::erase_if(blocks_, [&](const auto& b) { return b.get() == block; });
}

void MemoryPool::free_empty_blocks() {
  for (auto& block : blocks_) {
    if (block->ranges.empty()) free_block(*block);
  }
  std::erase_if(blocks_, [](const auto& b) { return b->memory == VK_NULL_HANDLE; });
}

void MemoryPool::free_block(Block& block) {
  context_.vk.FreeMemory(context_.device, block.memory, nullptr);  // also unmaps
  block.memory = VK_NULL_HANDLE;
  held_[context_.memory.memoryTypes[block.type].heapIndex] -= block.bytes;
  total_ -= block.bytes;
}

// Bytes the driver would give without paging others out, or the rest of the heap.
uint64_t MemoryPool::heap_left(uint32_t heap) const {
  uint64_t size = context_.memory.memoryHeaps[heap].size;
  if (heap == context_.main_heap && context_.caps.heap_bytes) size = std::min(size, context_.caps.heap_bytes);
  const uint64_t rest = size > held_[heap] ? size - held_[heap] : 0;
  if (!context_.caps.memory_budget) return rest;
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 p{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  p.pNext = &budget;
  context_.instance->vk.GetPhysicalDeviceMemoryProperties2(context_.physical, &p);
  return std::min(rest,
                  budget_left(budget.heapBudget[heap], budget.heapUsage[heap], context_.memory.memoryHeaps[heap].size)
                      .value_or(rest));
}

// Limits blocks to an eighth of the heap, as heaps may be small (phones, pretended devices).
uint64_t MemoryPool::max_block(uint32_t heap) const {
  const uint64_t share = round_down(context_.memory.memoryHeaps[heap].size / 8, kMiB);
  return std::max(kSmallestBlock, std::min({kLargestBlock, share, round_down(context_.caps.max_allocation, kMiB)}));
}

uint64_t MemoryPool::memory_left() const {
  const std::lock_guard lock(mutex_);
  return heap_left(context_.main_heap);
}

MemoryUsage MemoryPool::usage() const {
  const std::lock_guard lock(mutex_);
  const auto used = [&](MemoryUse use) { return used_[static_cast<size_t>(use)]; };
  MemoryUsage n;
  n.held = total_;
  n.peak = peak_;
  n.weights = used(MemoryUse::weights);
  n.sessions = used(MemoryUse::device) + used(MemoryUse::shared);
  n.transfers = used(MemoryUse::upload) + used(MemoryUse::readback);
  n.left = heap_left(context_.main_heap);
  return n;
}

void MemoryPool::trim() {
  const std::lock_guard lock(mutex_);
  free_empty_blocks();
}

uint64_t MemoryPool::bytes() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

uint64_t MemoryPool::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace lapilli::vulkan
