#include "vulkan/device/suballocator.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lapilli::vulkan {
namespace {

struct Block {
  uint64_t offset, bytes;
};

TEST(Suballocator, RandomUseNeverOverlapsAndLosesNothing) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const uint64_t size = 1 + random() % 100000;
    Suballocator a(size);
    std::vector<Block> blocks;
    uint64_t held = 0;
    for (int step = 0; step < 400; ++step) {
      if (!blocks.empty() && random() % 3 == 0) {
        const size_t i = random() % blocks.size();
        ASSERT_TRUE(a.release(blocks[i].offset));
        ASSERT_FALSE(a.release(blocks[i].offset));
        held -= blocks[i].bytes;
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        const uint64_t alignment = uint64_t{1} << random() % 9;
        const uint64_t bytes = 1 + random() % (random() % 4 ? 300 : size);
        const auto offset = a.allocate(bytes, alignment);
        if (!offset) continue;
        ASSERT_EQ(*offset % alignment, 0u);
        ASSERT_LE(*offset + bytes, size);
        for (const Block& p : blocks) ASSERT_TRUE(*offset + bytes <= p.offset || p.offset + p.bytes <= *offset);
        blocks.push_back({*offset, bytes});
        held += bytes;
      }
      ASSERT_EQ(a.free_bytes() + held, size);
      ASSERT_EQ(a.empty(), blocks.empty());
    }
    for (const Block& p : blocks) ASSERT_TRUE(a.release(p.offset));
    // Everything merged back into one hole.
    ASSERT_EQ(a.allocate(size, 1), 0u);
  }
}

TEST(Suballocator, TakesTheSmallestHoleThatFits) {
  Suballocator a(1000);
  const auto x = a.allocate(300, 1), y = a.allocate(10, 1), z = a.allocate(100, 1), w = a.allocate(10, 1);
  ASSERT_TRUE(x && y && z && w);
  a.release(*x);
  a.release(*z);
  EXPECT_EQ(a.allocate(90, 1), *z);
  EXPECT_EQ(a.allocate(200, 1), *x);
}

TEST(Suballocator, RefusesNonsense) {
  Suballocator a(100);
  EXPECT_FALSE(a.allocate(0, 1));
  EXPECT_FALSE(a.allocate(1, 3));
  EXPECT_FALSE(a.allocate(101, 1));
  EXPECT_FALSE(a.allocate(~uint64_t{0}, 1));
  EXPECT_FALSE(a.release(5));
  EXPECT_FALSE(Suballocator(0).allocate(1, 1));
}

}  // namespace
}  // namespace lapilli::vulkan
