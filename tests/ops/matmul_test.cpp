// The kernels of "matmul" that a device is offered.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ops/core/registry.hpp"
#include "ops/core/weight_layout.hpp"
#include "ops/products/matmul_cases.hpp"

namespace lapilli {
namespace {

Capabilities pretended(uint32_t vendor, DeviceType type, uint32_t subgroup_size) {
  Capabilities caps;
  caps.vendor_id = vendor;
  caps.type = type;
  caps.subgroup_size = caps.min_subgroup_size = caps.max_subgroup_size = subgroup_size;
  caps.subgroup_arithmetic = caps.subgroup_shuffle = true;
  caps.texels = type == DeviceType::cpu;
  return caps;
}

std::vector<std::string> names(const Capabilities& caps, const OpCase& c) {
  std::vector<std::string> list;
  for (const auto& v : matmul_op.variants(caps, c.graph, c.graph.node(0))) list.emplace_back(v.name);
  return list;
}

bool is_lanes(const std::string& name) { return name.starts_with("lanes"); }
bool is_panels(const std::string& name) { return name.starts_with("texels") || name.starts_with("panels"); }

bool is_shared(const std::string& name) { return name.find("split") != name.npos || name.starts_with("tiled"); }

// AMD gets what others get in the same order, without the lanes kernels; so does Arm, with registers first.
TEST(MatmulVariants, NoLanesOnArmAndAmd) {
  for (const auto& c : matmul_cases())
    for (const auto type : {DeviceType::integrated, DeviceType::discrete})
      for (const uint32_t subgroup_size : {16u, 64u}) {
        auto others = names(pretended(0x10de, type, subgroup_size), c);
        EXPECT_NE(std::erase_if(others, is_lanes), 0u) << c.name;
        EXPECT_EQ(names(pretended(0x1002, type, subgroup_size), c), others) << c.name;
        auto arm = names(pretended(0x13b5, type, subgroup_size), c);
        std::sort(arm.begin(), arm.end());
        std::sort(others.begin(), others.end());
        EXPECT_EQ(arm, others) << c.name;
      }
}

std::string first_of_llvmpipe(uint32_t version, const OpCase& c) {
  auto caps = pretended(0x10005, DeviceType::cpu, 8);
  caps.driver_name = "llvmpipe";
  caps.driver_version = version;
  return names(caps, c).front();
}

// On llvmpipe kernels that read texels come first, in every version, and panels of words follow. Other CPU drivers have
// both at the end.
TEST(MatmulVariants, PanelsOfTexelsComeFirstOnLlvmpipe) {
  size_t one = 0, more = 0;
  for (const auto& c : matmul_cases()) {
    const uint64_t rows = c.graph.tensor(c.graph.node(0).inputs[0]).rows;
    const auto others = names(pretended(0x10005, DeviceType::cpu, 8), c);
    if (std::find(others.begin(), others.end(), rows > 1 ? "texels 4" : "texels 1") == others.end()) {
      EXPECT_EQ(rows, 1u) << c.name;  // there is no form of one row for a batch
      continue;
    }
    const bool sixteens = rows > 64 || (rows + 7) / 8 % 2 == 0;  // of whose last workgroup no half is empty
    const char* const expected = rows == 1 ? "texels 1" : rows <= 4 ? "texels 4" : sixteens ? "texels 16" : "texels 8";
    for (const uint32_t version : {1u, 26u << 22 | 2u << 12 | 6u})
      EXPECT_EQ(first_of_llvmpipe(version, c), expected) << c.name;
    EXPECT_FALSE(is_panels(others.front())) << c.name;
    ++(rows > 1 ? more : one);
  }
  EXPECT_GT(one, 0u);
  EXPECT_GT(more, 0u);
}

// Elsewhere the layout has no binding of texels.
TEST(MatmulVariants, PanelsNeedABindingOfTexels) {
  auto without = pretended(0x10005, DeviceType::cpu, 8);
  without.texels = false;
  size_t with = 0;
  for (const auto& c : matmul_cases()) {
    const auto has_panels = [&](const Capabilities& caps) {
      const auto list = names(caps, c);
      return std::any_of(list.begin(), list.end(), is_panels);
    };
    EXPECT_FALSE(has_panels(pretended(0x10de, DeviceType::discrete, 8))) << c.name;
    EXPECT_FALSE(has_panels(without)) << c.name;
    with += has_panels(pretended(0x10005, DeviceType::cpu, 8)) ? 1 : 0;
  }
  EXPECT_GT(with, 0u);
}

// The more work there is, the more panels an invocation takes: what is compiled once must gain that.
TEST(MatmulVariants, PanelsGrowWithTheWork) {
  auto caps = pretended(0x10005, DeviceType::cpu, 8);
  caps.driver_name = "llvmpipe";
  std::map<uint32_t, size_t> seen;
  for (const auto& c : matmul_cases()) {
    const auto& node = c.graph.node(0);
    const uint64_t rows = c.graph.tensor(node.inputs[0]).rows;
    const auto a = node.attributes.as<MatmulAttributes>();
    const uint64_t work = rows * a.n * a.k;
    if (rows == 1) continue;
    const auto first = node.op->variants(caps, c.graph, node).front();
    EXPECT_TRUE(is_panels(first.name)) << c.name;
    const uint32_t each = first.numbers.each;
    EXPECT_GE(each, 1u) << c.name;
    EXPECT_LE(each, work < uint64_t{1} << 20 ? 1u : work < uint64_t{1} << 22 ? 2u : 4u) << c.name;
    ++seen[each];
  }
  EXPECT_GT(seen[1], 0u);
  EXPECT_GT(seen.size(), 1u);
}

// Where shared memory is no faster than other memory, what needs none comes first; elsewhere on GPUs it comes first. Of
// one row registers have only the floor, which is the last resort everywhere.
TEST(MatmulVariants, RegistersComeFirstOnArmAndImagination) {
  size_t shared = 0;
  for (const auto& c : matmul_cases()) {
    if (c.graph.tensor(c.graph.node(0).inputs[0]).rows == 1) continue;
    const auto order = [&](uint32_t vendor, DeviceType type) { return names(pretended(vendor, type, 16), c); };
    const auto first_of = [](const std::vector<std::string>& list, bool wanted) {
      return std::find_if(list.begin(), list.end(), [&](const auto& name) { return is_shared(name) == wanted; });
    };
    for (const uint32_t vendor : {0x13b5u, 0x1010u}) {
      const auto list = order(vendor, DeviceType::integrated);
      EXPECT_EQ(first_of(list, false), list.begin()) << c.name;
    }
    for (const uint32_t vendor : {0x10deu, 0x8086u, 0x5143u, 0x1002u}) {
      const auto list = order(vendor, DeviceType::integrated);
      if (first_of(list, true) == list.end()) continue;
      EXPECT_EQ(first_of(list, true), list.begin()) << c.name;
      ++shared;
    }
    const auto cpu = order(0x10de, DeviceType::cpu);
    EXPECT_EQ(first_of(cpu, false), cpu.begin()) << c.name;
  }
  EXPECT_GT(shared, 0u);
}

// Tiles that a product of so many rows and columns is offered, in their order.
std::vector<std::string> tiles(DeviceType type, uint64_t rows, uint32_t columns) {
  OpCase c;
  const auto x = c.graph.activation("x", rows, 512);
  const auto w = add_packed(c.graph, "weight", {columns, 512});
  ops::linear(c.graph, "y", x, w, columns);
  auto list = names(pretended(0x10de, type, 32), c);
  std::erase_if(list, [](const std::string& name) { return !name.starts_with("tiled"); });
  return list;
}
using Tiles = std::vector<std::string>;

// 256 workgroups on a large device, 32 on a small one; otherwise the smallest.
TEST(MatmulVariants, TheLargestTileThatFillsTheDeviceComesFirst) {
  constexpr auto large = DeviceType::discrete, small = DeviceType::integrated;
  EXPECT_EQ(tiles(large, 15, 512), Tiles());
  EXPECT_EQ(tiles(large, 16, 512), Tiles({"tiled 16"}));
  EXPECT_EQ(tiles(large, 32, 512), Tiles({"tiled 16", "tiled 32"}));
  EXPECT_EQ(tiles(large, 32, 58101), Tiles({"tiled 32", "tiled 16"}));
  EXPECT_EQ(tiles(large, 512, 512), Tiles({"tiled 16", "tiled 64", "tiled 32"}));
  EXPECT_EQ(tiles(large, 512, 1024), Tiles({"tiled 32", "tiled 64", "tiled 16"}));
  EXPECT_EQ(tiles(large, 512, 2048), Tiles({"tiled 64", "tiled 32", "tiled 16"}));
  EXPECT_EQ(tiles(large, 449, 1985), Tiles({"tiled 64", "tiled 32", "tiled 16"}));
  EXPECT_EQ(tiles(large, 448, 1985), Tiles({"tiled 32", "tiled 64", "tiled 16"}));
  EXPECT_EQ(tiles(large, 449, 1984), Tiles({"tiled 32", "tiled 64", "tiled 16"}));
  EXPECT_EQ(tiles(small, 32, 512), Tiles({"tiled 16", "tiled 32"}));
  EXPECT_EQ(tiles(small, 64, 1024), Tiles({"tiled 32", "tiled 16"}));
  EXPECT_EQ(tiles(small, 512, 4096), Tiles({"tiled 32", "tiled 16"}));  // never 64
  EXPECT_EQ(tiles(DeviceType::cpu, 64, 1024), Tiles({"tiled 64", "tiled 32", "tiled 16"}));
}

// Also where keys and values of a step are written, and none is left out.
TEST(MatmulVariants, StepsOfManyRowsHaveTiles) {
  size_t steps = 0;
  for (const auto& c : matmul_cases()) {
    const auto a = c.graph.node(0).attributes.as<MatmulAttributes>();
    const uint64_t rows = c.graph.tensor(c.graph.node(0).inputs[0]).rows;
    if (!a.split || a.kv.layout != RowLayout::step || rows < 32) continue;
    const auto list = names(pretended(0x10de, DeviceType::discrete, 32), c);
    EXPECT_TRUE(list.front().starts_with("tiled") || list.front().ends_with("split 4")) << c.name;
    EXPECT_EQ(std::count_if(list.begin(), list.end(), [](const auto& n) { return n.starts_with("tiled"); }), 3)
        << c.name;
    ++steps;
  }
  EXPECT_GT(steps, 0u);
}

Capabilities with_matrices(DeviceType type) {
  Capabilities caps = pretended(0x10de, type, 32);
  caps.cooperative_matrix = {16, 16, 16};
  caps.arithmetic_fp16 = true;
  caps.shared_memory = 32768;
  return caps;
}
// 1: first, 0: behind others, -1: not at all.
int place_of(const char* name, const Capabilities& caps, uint64_t rows, uint32_t columns,
             WeightFormat format = WeightFormat::fp16) {
  OpCase c;
  const auto x = c.graph.activation("x", rows, 512);
  const auto w = add_packed(c.graph, "weight", {columns, 512, format});
  ops::linear(c.graph, "y", x, w, columns);
  const auto list = names(caps, c);
  const auto found = std::find(list.begin(), list.end(), name);
  return found == list.end() ? -1 : found == list.begin() ? 1 : 0;
}

// Half of the workgroups that tiles need, of which each is 64 x 64; else 32 x 32, on large devices.
TEST(MatmulVariants, CooperativeMatricesAreForManyRowsOfFp16) {
  const Capabilities large = with_matrices(DeviceType::discrete), small = with_matrices(DeviceType::integrated);
  EXPECT_EQ(place_of("coop 64", large, 512, 1024), 1);
  EXPECT_EQ(place_of("coop 64", large, 448, 1024), 0);
  EXPECT_EQ(place_of("coop 64", large, 33, 8192), 1);
  EXPECT_EQ(place_of("coop 64", large, 32, 8192), -1);
  EXPECT_EQ(place_of("coop 64", small, 64, 1024), 1);
  EXPECT_EQ(place_of("coop 64", small, 64, 960), 0);
  EXPECT_EQ(place_of("coop 32", large, 448, 1024), 1);
  EXPECT_EQ(place_of("coop 32", large, 512, 1024), 0);
  EXPECT_EQ(place_of("coop 32", large, 32, 8192), 1);
  EXPECT_EQ(place_of("coop 32", large, 32, 4096), 0);
  EXPECT_EQ(place_of("coop 32", large, 16, 8192), -1);
  EXPECT_EQ(place_of("coop 32", small, 64, 960), 0);
  EXPECT_EQ(place_of("coop 64", with_matrices(DeviceType::cpu), 512, 1024), -1);
  for (const auto f : {WeightFormat::fp32, WeightFormat::bf16, WeightFormat::int8, WeightFormat::int4})
    EXPECT_EQ(place_of("coop 64", large, 512, 1024, f), -1) << name(f);
}

// More rows than sixteen: while four times as many workgroups as tiles have are no more than a large device holds.
TEST(MatmulVariants, RowsAreSplitUntilALargeDeviceIsFull) {
  const Capabilities large = with_matrices(DeviceType::discrete), small = with_matrices(DeviceType::integrated);
  EXPECT_EQ(place_of("deep split 4", large, 64, 1024), 1);
  EXPECT_EQ(place_of("deep split 4", large, 64, 1056), -1);
  EXPECT_EQ(place_of("deep split 4", large, 65, 512), -1);
  EXPECT_EQ(place_of("deep split 4", large, 32, 2048), 1);
  EXPECT_EQ(place_of("deep split 4", large, 32, 4096), 0);
  EXPECT_EQ(place_of("split 4", small, 32, 512), 0);
}

// As many invocations as a large device holds, and two turns of the depth for each if there are so many; with limits
// that are no power of two, too.
TEST(MatmulVariants, DeepProductsOfFewRowsAreSharedByMoreInvocations) {
  const auto first = [](DeviceType type, uint64_t rows, uint32_t columns, uint32_t depth, uint32_t limit = 256) {
    OpCase c;
    const auto x = c.graph.activation("x", rows, depth);
    const auto w = add_packed(c.graph, "weight", {columns, depth});
    ops::linear(c.graph, "y", x, w, columns);
    Capabilities caps = pretended(0x10de, type, 32);
    caps.max_invocations = caps.max_group_size[0] = limit;
    const auto list = matmul_op.variants(caps, c.graph, c.graph.node(0));
    return format("%s, %u, %u", list.front().name, list.front().numbers.local, list.front().numbers.each);
  };
  constexpr auto large = DeviceType::discrete, small = DeviceType::integrated;
  EXPECT_EQ(first(large, 2, 1024, 1024), "deep split 4, 256, 2");
  EXPECT_EQ(first(large, 4, 1024, 8192), "deep split 4, 256, 1");
  EXPECT_EQ(first(large, 8, 512, 64), "deep split 4, 128, 8");   // one turn of the depth at least
  EXPECT_EQ(first(large, 8, 512, 512), "deep split 4, 256, 4");  // two where there are depths enough
  EXPECT_EQ(first(large, 8, 1024, 1024), "deep split 4, 256, 2");
  EXPECT_EQ(first(large, 8, 3072, 1024), "deep split 4, 256, 4");
  EXPECT_EQ(first(large, 8, 1024, 8192), "deep split 4, 256, 2");
  EXPECT_EQ(first(large, 8, 8192, 1024), "deep split 4, 128, 8");
  EXPECT_EQ(first(large, 8, 32000, 1024), "split 4, 64, 4");  // no number of them is held
  EXPECT_EQ(first(large, 32, 2048, 512), "deep split 4, 128, 8");
  EXPECT_EQ(first(large, 8, 1024, 1024, 200), "deep split 4, 128, 1");
  EXPECT_EQ(first(large, 8, 1024, 1024, 100), "split 4, 64, 1");
  EXPECT_EQ(first(small, 8, 1024, 8192), "split 4, 64, 8");
  EXPECT_EQ(first(large, 1, 1024, 1024), "split 1, 256, 2");
}

// Compilers of GPUs fuse a multiplication and an addition as they like: of two kernels one may and the other not.
TEST(MatmulVariants, OneKernelOfAGpuSumsInOrder) {
  for (const uint32_t vendor : {0x10deu, 0x1002u, 0x13b5u}) {
    const Capabilities caps = pretended(vendor, DeviceType::discrete, 32);
    std::set<std::string> seen;
    for (const auto& c : matmul_cases()) {
      const auto& node = c.graph.node(0);
      const auto list = node.op->variants(caps, c.graph, node);
      const auto first = std::find_if(list.begin(), list.end(), [](const Variant& v) { return v.sums_in_order; });
      ASSERT_NE(first, list.end()) << c.name;
      seen.insert(first->name);
    }
    EXPECT_EQ(seen.size(), 1u) << vendor;
  }
}

TEST(MatmulVariants, CooperativeMatricesNeedACertainSubgroup) {
  const auto place = [](void (*change)(Capabilities&)) {
    Capabilities caps = with_matrices(DeviceType::discrete);
    change(caps);
    return place_of("coop 64", caps, 512, 1024);
  };
  EXPECT_EQ(place([](auto&) {}), 1);
  EXPECT_EQ(place([](auto& c) { c.cooperative_matrix = {}; }), -1);
  EXPECT_EQ(place([](auto& c) { c.arithmetic_fp16 = false; }), -1);
  EXPECT_EQ(place([](auto& c) { c.shared_memory = 16384; }), -1);
  EXPECT_EQ(place([](auto& c) { c.min_subgroup_size = 16; }), -1);
  EXPECT_EQ(place([](auto& c) { c.min_subgroup_size = 16, c.subgroup_size_control = true; }), 1);
  EXPECT_EQ(place([](auto& c) { c.min_subgroup_size = 4, c.subgroup_size_control = true; }), -1);
  EXPECT_EQ(place([](auto& c) { c.subgroup_size = c.min_subgroup_size = c.max_subgroup_size = 64; }), -1);  // 256
  EXPECT_EQ(place([](auto& c) {
              c.subgroup_size = c.min_subgroup_size = c.max_subgroup_size = 64;
              c.max_invocations = c.max_group_size[0] = 256;
            }),
            1);
}

}  // namespace
}  // namespace lapilli
