// The memory types that each use takes on six devices, as their drivers report them: no device is needed.
#include "vulkan/device/memory_types.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lapilli::vulkan {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

constexpr uint64_t kMebi = uint64_t{1} << 20;
constexpr uint64_t kGibi = uint64_t{1} << 30;
constexpr uint32_t L = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr uint32_t V = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
constexpr uint32_t C = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr uint32_t K = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
constexpr uint32_t kLazy = VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT;
constexpr uint32_t kProtected = VK_MEMORY_PROPERTY_PROTECTED_BIT;
constexpr uint32_t kAmdCoherent = VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
constexpr uint32_t kAmdUncached = VK_MEMORY_PROPERTY_DEVICE_UNCACHED_BIT_AMD;

struct Heap {
  uint64_t bytes;
  bool local;
};
struct Type {
  uint32_t flags, heap;
};
using Order = std::vector<uint32_t>;

struct Reported {
  const char* name;
  DeviceType type;
  std::vector<Heap> heaps;
  std::vector<Type> types;
  uint32_t main_heap;
  bool unified;
  Order device, shared, upload, readback;
};

// tests/lab/profiles/memory-*.txt pretend the same.
const Reported kReported[] = {
    {"adreno",
     DeviceType::integrated,
     {{4 * kGibi, true}},
     {{L, 0}, {L | V | C, 0}, {L | V | K, 0}, {L | V | C | K, 0}, {L | kProtected, 0}, {L | kLazy, 0}},
     0,
     true,
     {0, 1, 3, 2},
     {1, 3, 2, 0},
     {1, 3, 2},
     {3, 2, 1}},
    // No memory of the device's own: the write-combined type before the cached one, which wants flushes.
    {"mali",
     DeviceType::integrated,
     {{6 * kGibi, true}},
     {{L | V | C, 0}, {L | V | K, 0}, {L | kLazy, 0}},
     0,
     true,
     {0, 1},
     {0, 1},
     {0, 1},
     {1, 0}},
    {"intel",
     DeviceType::integrated,
     {{12 * kGibi, true}},
     {{L, 0}, {L | V | C, 0}, {L | V | C | K, 0}},
     0,
     true,
     {0, 1, 2},
     {1, 2, 0},
     {1, 2},
     {2, 1}},
    // A carved out heap that is too small for a model: the device works in the host's memory.
    {"amd-apu",
     DeviceType::integrated,
     {{512 * kMebi, true}, {8 * kGibi, false}, {256 * kMebi, true}},
     {{L, 0},
      {V | C, 1},
      {L | V | C, 2},
      {V | C | K, 1},
      {L | kAmdCoherent | kAmdUncached, 0},
      {V | C | kAmdCoherent | kAmdUncached, 1}},
     1,
     true,
     {1, 3, 0, 2},
     {1, 3, 0, 2},
     {2, 1, 3},
     {3, 2, 1}},
    // The window of 256 MiB is everybody's: for uploads after host memory, for weights after everything.
    {"discrete-small-bar",
     DeviceType::discrete,
     {{8 * kGibi, true}, {16 * kGibi, false}, {256 * kMebi, true}},
     {{0, 1}, {L, 0}, {V | C, 1}, {V | C | K, 1}, {L | V | C, 2}},
     0,
     false,
     {1, 0, 2, 3, 4},
     {1, 0, 2, 3, 4},
     {2, 3, 4},
     {3, 2, 4}},
    {"discrete-large-bar",
     DeviceType::discrete,
     {{16 * kGibi, true}, {16 * kGibi, false}},
     {{L, 0}, {V | C, 1}, {L | V | C, 0}, {V | C | K, 1}},
     0,
     false,
     {0, 2, 1, 3},
     {0, 2, 1, 3},
     {1, 3, 2},
     {3, 1, 2}},
};

VkPhysicalDeviceMemoryProperties properties_of(const Reported& reported) {
  VkPhysicalDeviceMemoryProperties m{};
  for (const Heap& heap : reported.heaps)
    m.memoryHeaps[m.memoryHeapCount++] = {heap.bytes, heap.local ? VkMemoryHeapFlags{1} : VkMemoryHeapFlags{0}};
  for (const Type& type : reported.types) m.memoryTypes[m.memoryTypeCount++] = {type.flags, type.heap};
  return m;
}

// In the names of tests, instead of the bytes.
void PrintTo(const Reported& reported, std::ostream* out) { *out << reported.name; }

class MemoryTypes : public testing::TestWithParam<Reported> {};

TEST_P(MemoryTypes, EachUseHasItsTypesInOrder) {
  const Reported& r = GetParam();
  const auto memory = properties_of(r);
  ASSERT_EQ(main_heap_of(memory, r.type), r.main_heap);
  ASSERT_EQ(is_unified(memory, r.type), r.unified);
  const MemoryShape shape{memory, r.main_heap, r.unified};
  EXPECT_THAT(types_for(shape, MemoryUse::device, ~0u), ElementsAreArray(r.device));
  EXPECT_THAT(types_for(shape, MemoryUse::shared, ~0u), ElementsAreArray(r.shared));
  EXPECT_THAT(types_for(shape, MemoryUse::upload, ~0u), ElementsAreArray(r.upload));
  EXPECT_THAT(types_for(shape, MemoryUse::readback, ~0u), ElementsAreArray(r.readback));
}

// Only what the buffer allows is taken, in the same order.
TEST_P(MemoryTypes, ABufferMayLeaveOutAnyType) {
  const Reported& r = GetParam();
  const auto memory = properties_of(r);
  const MemoryShape shape{memory, r.main_heap, r.unified};
  for (uint32_t bits = 0; bits < (1u << memory.memoryTypeCount); ++bits) {
    Order wanted;
    for (const uint32_t type : r.device)
      if (bits >> type & 1) wanted.push_back(type);
    ASSERT_THAT(types_for(shape, MemoryUse::device, bits), ElementsAreArray(wanted)) << bits;
  }
}

std::string reported_name(const testing::TestParamInfo<Reported>& reported) {
  std::string name = reported.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}
TEST(MemoryBudget, IsTheDriversGuessAndNonsenseIsNone) {
  EXPECT_EQ(budget_left(1000, 300, 1200), 700);
  EXPECT_EQ(budget_left(1000, 1300, 1200), 0) << "more than there is may be in use";
  EXPECT_EQ(budget_left(0, 0, 1200), std::nullopt) << "not filled in";
  // Mesa 26.2's lavapipe for 32-bit ARM on a machine of 23 GiB.
  EXPECT_EQ(budget_left(0xc0000000, 0xfffffffb632f9000, 0xc0000000), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Reported, MemoryTypes, testing::ValuesIn(kReported), reported_name);

TEST(MemoryTypesOf, OneTypeServesEveryUse) {
  VkPhysicalDeviceMemoryProperties m{};
  m.memoryHeaps[m.memoryHeapCount++] = {kGibi, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
  m.memoryTypes[m.memoryTypeCount++] = {L | V | C | K, 0};
  for (const auto use : {MemoryUse::device, MemoryUse::shared, MemoryUse::upload, MemoryUse::readback})
    EXPECT_THAT(types_for({m, 0, true}, use, ~0u), ElementsAre(0));
}

TEST(MemoryTypesOf, NothingIsSaidOfNoMemory) {
  const VkPhysicalDeviceMemoryProperties m{};
  EXPECT_EQ(main_heap_of(m, DeviceType::integrated), 0u);
  EXPECT_FALSE(is_unified(m, DeviceType::integrated));
  EXPECT_TRUE(types_for({m, 0, false}, MemoryUse::device, ~0u).empty());
}

}  // namespace
}  // namespace lapilli::vulkan
