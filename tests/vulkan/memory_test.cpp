// The memory pool over a fake driver that only counts bytes: no device is needed.
#include "vulkan/device/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <map>

#include "base/math.hpp"

namespace lapilli::vulkan {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint32_t kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr uint32_t kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr uint32_t kCoherent = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr uint32_t kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

// One fake at a time.
struct Fake {
  std::map<uint64_t, std::pair<uint32_t, uint64_t>> living;  // handle -> type, bytes
  std::map<uint32_t, uint64_t> limit;                        // bytes that a type gives in all
  std::vector<std::pair<uint32_t, uint64_t>> asked;          // every request
  uint64_t next = 1;
  VkResult map_result = VK_SUCCESS;
  std::vector<std::byte> window{kMiB};
};
Fake* fake = nullptr;

VkResult VKAPI_CALL allocate_memory(VkDevice, const VkMemoryAllocateInfo* info, const VkAllocationCallbacks*,
                                    VkDeviceMemory* out) {
  fake->asked.emplace_back(info->memoryTypeIndex, info->allocationSize);
  uint64_t held = 0;
  for (const auto& [handle, a] : fake->living) held += a.first == info->memoryTypeIndex ? a.second : 0;
  const auto limit = fake->limit.find(info->memoryTypeIndex);
  if (limit != fake->limit.end() && held + info->allocationSize > limit->second) {
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  fake->living[fake->next] = {info->memoryTypeIndex, info->allocationSize};
  *out = (VkDeviceMemory)(fake->next++);  // a pointer or a number
  return VK_SUCCESS;
}
void VKAPI_CALL free_memory(VkDevice, VkDeviceMemory m, const VkAllocationCallbacks*) {
  EXPECT_EQ(fake->living.erase((uint64_t)m), 1u);
}
VkResult VKAPI_CALL map_memory(VkDevice, VkDeviceMemory, VkDeviceSize, VkDeviceSize, VkMemoryMapFlags, void** out) {
  *out = fake->window.data();  // an address to count from, never touched
  return fake->map_result;
}

class Memory : public testing::Test {
 protected:
  Memory() {
    fake = &fake_;
    context_.vk.AllocateMemory = allocate_memory;
    context_.vk.FreeMemory = free_memory;
    context_.vk.MapMemory = map_memory;
    context_.name = "fake";
    context_.caps.max_allocation = 4 * kGiB;
    pool_ = std::make_unique<MemoryPool>(context_);
  }
  ~Memory() override {
    pool_.reset();
    EXPECT_TRUE(fake_.living.empty());
    fake = nullptr;
  }
  void heaps(std::initializer_list<uint64_t> sizes) {
    for (const uint64_t bytes : sizes) context_.memory.memoryHeaps[context_.memory.memoryHeapCount++] = {bytes, 0};
    context_.caps.heap_bytes = context_.memory.memoryHeaps[0].size;
  }
  void types(std::initializer_list<std::pair<uint32_t, uint32_t>> list) {
    for (const auto& [flags, heap] : list)
      context_.memory.memoryTypes[context_.memory.memoryTypeCount++] = {flags, heap};
  }
  // A discrete GPU with a small window, a phone, and a CPU driver.
  void discrete() {
    heaps({8 * kGiB, 16 * kGiB, 256 * kMiB});
    types({{0, 1},
           {kLocal, 0},
           {kVisible | kCoherent, 1},
           {kVisible | kCoherent | kCached, 1},
           {kLocal | kVisible | kCoherent, 2},
           {kLocal | VK_MEMORY_PROPERTY_PROTECTED_BIT, 0}});
  }
  void phone() {
    heaps({4 * kGiB});
    types({{kLocal, 0},
           {kLocal | kVisible | kCoherent, 0},
           {kLocal | kVisible | kCached, 0},
           {kLocal | kVisible | kCoherent | kCached, 0}});
    context_.caps.unified_memory = true;
  }
  void one_type(uint64_t heap) {
    heaps({heap});
    types({{kLocal | kVisible | kCoherent | kCached, 0}});
    context_.caps.unified_memory = true;
  }
  Result<MemoryPool::Range> allocate(uint64_t bytes, MemoryUse use = MemoryUse::device, uint64_t alignment = 64) {
    return pool_->allocate({bytes, alignment, ~0u}, use, "thing");
  }

  Fake fake_;
  Context context_;
  std::unique_ptr<MemoryPool> pool_;
};

TEST_F(Memory, EachUseHasItsTypesInOrder) {
  discrete();
  using testing::ElementsAre;
  EXPECT_THAT(pool_->types_for(MemoryUse::device, ~0u), ElementsAre(1, 0, 2, 3, 4));  // the window after all
  EXPECT_THAT(pool_->types_for(MemoryUse::upload, ~0u), ElementsAre(2, 3, 4));
  EXPECT_THAT(pool_->types_for(MemoryUse::readback, ~0u), ElementsAre(3, 2, 4));
  EXPECT_THAT(pool_->types_for(MemoryUse::readback, 1u << 4), ElementsAre(4));
}

TEST_F(Memory, UnifiedMemoryIsMappedWhereTheHostNeedsIt) {
  phone();
  using testing::ElementsAre;
  EXPECT_THAT(pool_->types_for(MemoryUse::device, ~0u), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(pool_->types_for(MemoryUse::upload, ~0u), ElementsAre(1, 3, 2));
  EXPECT_THAT(pool_->types_for(MemoryUse::readback, ~0u), ElementsAre(3, 2, 1));
  auto device = allocate(100), shared = allocate(100, MemoryUse::shared);
  ASSERT_TRUE(device.ok() && shared.ok());
  EXPECT_EQ(device->block->mapped, nullptr);
  EXPECT_NE(shared->block->mapped, nullptr);
  fake_.limit = {{0, 16 * kMiB}};  // what lies in a type that can be mapped is
  device = allocate(16 * kMiB);
  ASSERT_TRUE(device.ok());
  EXPECT_NE(device->block->mapped, nullptr);
}

TEST_F(Memory, StagingMaskLeavesDeviceMemoryUnmapped) {
  phone();
  context_.caps.unified_memory = false;
  auto device = allocate(100), shared = allocate(100, MemoryUse::shared), upload = allocate(100, MemoryUse::upload);
  ASSERT_TRUE(device.ok() && shared.ok() && upload.ok());
  EXPECT_EQ(device->block->mapped, nullptr);
  EXPECT_EQ(shared->block->mapped, nullptr);
  EXPECT_NE(upload->block->mapped, nullptr);
}

// Little stands empty, and a large model has few blocks all the same.
TEST_F(Memory, BlocksGrowWithUse) {
  one_type(64 * kGiB);
  uint64_t used = 0;
  for (int i = 0; i < 4000; ++i) {
    ASSERT_TRUE(allocate(kMiB).ok());
    used += kMiB;
    EXPECT_LE(pool_->bytes(), used + std::max(16 * kMiB, used / 8));
  }
  std::vector<uint64_t> sizes;
  for (const auto& [type, bytes] : fake_.asked) sizes.push_back(bytes / kMiB);
  EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
  EXPECT_EQ(sizes.front(), 16u);
  EXPECT_EQ(sizes.back(), 256u);
  EXPECT_LT(sizes.size(), 45u);
}

TEST_F(Memory, ATinyModelTakesATinyBlock) {
  one_type(64 * kGiB);
  ASSERT_TRUE(allocate(1000).ok());
  EXPECT_EQ(pool_->bytes(), 16 * kMiB);
}

TEST_F(Memory, SmallHeapsGetSmallBlocks) {
  one_type(64 * kMiB);
  ASSERT_TRUE(allocate(1000).ok());
  EXPECT_EQ(pool_->bytes(), 8 * kMiB);
}

TEST_F(Memory, LargeRequestsGetABlockOfTheirOwn) {
  one_type(64 * kGiB);
  auto small = allocate(1000), large = allocate(300 * kMiB);
  ASSERT_TRUE(small.ok() && large.ok());
  EXPECT_TRUE(large->block->dedicated);
  EXPECT_EQ(large->block->bytes, 300 * kMiB);
  EXPECT_EQ(large->offset, 0u);
  pool_->release(*large);
  EXPECT_EQ(pool_->bytes(), 16 * kMiB);  // given back at once
  EXPECT_EQ(pool_->peak(), 316 * kMiB);
}

TEST_F(Memory, AboveTheLargestAllocationIsAnError) {
  one_type(64 * kGiB);
  auto r = allocate(4 * kGiB + 1);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(r.error().message, testing::HasSubstr("in one piece"));
}

TEST_F(Memory, FallsBackToHostMemory) {
  discrete();
  fake_.limit = {{1, 0}, {4, 0}, {0, 0}};
  auto r = allocate(20 * kMiB);
  ASSERT_TRUE(r.ok()) << r.error().message;
  EXPECT_EQ(r->block->type, 2u);
  EXPECT_EQ(r->block->mapped, nullptr);  // used as device memory is
}

// The window into device memory that the host can map (256 MiB without a resizable BAR) is left to uploads.
TEST_F(Memory, TheWindowIsTheLastResort) {
  discrete();
  fake_.limit = {{1, 32 * kMiB}};
  for (int i = 0; i < 30; ++i) {
    auto r = allocate(10 * kMiB);
    ASSERT_TRUE(r.ok());
    EXPECT_NE(r->block->type, 4u);
  }
  fake_.limit = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
  auto r = allocate(10 * kMiB);
  while (r.ok() && r->block->type != 4u) r = allocate(10 * kMiB);
  EXPECT_TRUE(r.ok()) << r.error().message;
}

// With a resizable BAR the window is the main heap itself.
TEST_F(Memory, AWindowOntoEverythingIsAsGood) {
  heaps({8 * kGiB, 16 * kGiB});
  types({{kVisible | kCoherent, 1}, {kLocal | kVisible | kCoherent, 0}});
  EXPECT_THAT(pool_->types_for(MemoryUse::device, ~0u), testing::ElementsAre(1, 0));
}

TEST_F(Memory, OddRequirementsAreServedOrRefused) {
  one_type(64 * kGiB);
  for (const uint64_t alignment : {0u, 3u, 48u, 96u, 1000u}) {
    auto r = allocate(100, MemoryUse::device, alignment);
    ASSERT_TRUE(r.ok()) << alignment;
    ASSERT_NE(r->block, nullptr);
    EXPECT_EQ(r->offset % std::bit_ceil(std::max<uint64_t>(1, alignment)), 0u) << alignment;
  }
  auto none = allocate(0);
  EXPECT_FALSE(none.ok());
}

TEST_F(Memory, WhereABlockDoesNotFitASmallerOneDoes) {
  one_type(64 * kGiB);
  fake_.limit = {{0, 9 * kMiB}};
  ASSERT_TRUE(allocate(kMiB).ok());
  EXPECT_EQ(pool_->bytes(), 8 * kMiB);
  ASSERT_TRUE(allocate(7 * kMiB).ok());
  ASSERT_TRUE(allocate(kMiB).ok());  // exactly the rest
  auto r = allocate(kMiB);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(r.error().message, testing::AllOf(testing::HasSubstr("'thing'"), testing::HasSubstr("1.0 MiB")));
}

TEST_F(Memory, EmptyBlocksAreGivenBackBeforeGivingUp) {
  one_type(64 * kGiB);
  fake_.limit = {{0, 200 * kMiB}};
  auto small = allocate(kMiB);
  ASSERT_TRUE(small.ok());
  pool_->release(*small);
  EXPECT_EQ(pool_->bytes(), 16 * kMiB);  // kept
  EXPECT_TRUE(allocate(190 * kMiB).ok());
  EXPECT_EQ(pool_->bytes(), 190 * kMiB);
}

TEST_F(Memory, TheHeapIsNotOverdrawn) {
  one_type(100 * kMiB);
  ASSERT_TRUE(allocate(90 * kMiB).ok());
  const size_t asked = fake_.asked.size();
  EXPECT_FALSE(allocate(20 * kMiB).ok());
  EXPECT_EQ(fake_.asked.size(), asked);  // the driver is not even asked
  EXPECT_EQ(pool_->memory_left(), 10 * kMiB);
}

TEST_F(Memory, AFailedMapLeaksNothing) {
  one_type(64 * kGiB);
  fake_.map_result = VK_ERROR_MEMORY_MAP_FAILED;
  auto r = allocate(kMiB);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, ErrorCode::out_of_memory);
  EXPECT_TRUE(fake_.living.empty());
}

TEST_F(Memory, NonCoherentRangesShareNoAtom) {
  heaps({64 * kGiB});
  types({{kLocal | kVisible, 0}});
  context_.caps.unified_memory = true;
  context_.caps.non_coherent_atom = 128;
  std::vector<std::pair<uint64_t, uint64_t>> held;
  for (uint64_t bytes = 1; bytes < 300; bytes += 7) {
    auto r = allocate(bytes, MemoryUse::device, 4);
    ASSERT_TRUE(r.ok());
    EXPECT_EQ(r->offset % 128, 0u);
    for (const auto& [offset, size] : held) {
      EXPECT_TRUE(round_down<uint64_t>(r->offset, 128) >= round_up<uint64_t>(offset + size, 128) ||
                  round_up<uint64_t>(r->offset + bytes, 128) <= offset);
    }
    held.emplace_back(r->offset, bytes);
  }
}

}  // namespace
}  // namespace lapilli::vulkan
