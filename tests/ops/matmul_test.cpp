// Which kernels of "matmul" a device is offered.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ops/matmul_cases.hpp"
#include "ops/registry.hpp"
#include "ops/weight_layout.hpp"

namespace lapilli {
namespace {

Capabilities pretended(uint32_t vendor, DeviceType type, uint32_t subgroup_size) {
  Capabilities caps;
  caps.vendor_id = vendor;
  caps.type = type;
  caps.subgroup_size = caps.min_subgroup_size = caps.max_subgroup_size = subgroup_size;
  caps.subgroup_arithmetic = caps.subgroup_shuffle = true;
  return caps;
}

std::vector<std::string> names(const Capabilities& caps, const OpCase& c) {
  std::vector<std::string> list;
  for (const auto& v : matmul_op.variants(caps, c.graph, c.graph.node(0))) list.emplace_back(v.name);
  return list;
}

bool is_lanes(const std::string& name) { return name.starts_with("lanes"); }

bool is_shared(const std::string& name) { return name.starts_with("split") || name.starts_with("tiled"); }

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

// llvmpipe of Mesa 26.2 reads once what all lanes read: registers come before lanes there, and panels before both for
// one row and for products that are worth compiling them. The same kernels as elsewhere.
TEST(MatmulVariants, PanelsComeBeforeLanesWhereReadsAreUniform) {
  auto older = pretended(0x10005, DeviceType::cpu, 8);
  older.driver_name = "llvmpipe";
  older.driver_version = 1;
  auto newer = older;
  newer.driver_version = 26u << 22 | 2u << 12 | 6u;
  size_t one = 0, more = 0, paying = 0;
  for (const auto& c : matmul_cases()) {
    auto before = names(older, c), now = names(newer, c);
    ASSERT_FALSE(now.empty());
    const uint64_t rows = c.graph.tensor(c.graph.node(0).inputs[0]).rows;
    const auto product = c.graph.node(0).attributes.as<MatmulAttributes>();
    const bool pays = rows * product.n * product.k >= uint64_t{1} << 22;
    const bool panels = std::find(now.begin(), now.end(), "panels 1") != now.end();
    const char* in_registers = rows > 8 ? "rows 16" : rows > 4 ? "rows 8" : rows > 1 ? "rows 4" : "panels 1";
    const char* by_panels = rows > 4 ? "panels 8" : "panels 4";
    if (rows > 1 || panels) {
      EXPECT_EQ(now.front(), pays && rows > 1 ? by_panels : in_registers) << c.name;
    }
    paying += pays && rows > 1 ? 1 : 0;
    EXPECT_TRUE(is_lanes(before.front()) || before.front() == "panels 1") << c.name;
    ++(rows > 1 ? more : one);
    std::sort(before.begin(), before.end());
    std::sort(now.begin(), now.end());
    EXPECT_EQ(before, now) << c.name;
  }
  EXPECT_GT(one, 0u);
  EXPECT_GT(more, paying);
  EXPECT_GT(paying, 0u);
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
  ops::linear(c.graph, "y", x, w, columns, Activation::none);
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
    if (!a.split || a.kv.place != Place::step || rows < 32) continue;
    const auto list = names(pretended(0x10de, DeviceType::discrete, 32), c);
    EXPECT_TRUE(list.front().starts_with("tiled")) << c.name;
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
int coop_place(const Capabilities& caps, uint64_t rows, uint32_t columns, WeightFormat format = WeightFormat::fp16) {
  OpCase c;
  const auto x = c.graph.activation("x", rows, 512);
  const auto w = add_packed(c.graph, "weight", {columns, 512, format});
  ops::linear(c.graph, "y", x, w, columns, Activation::none);
  const auto list = names(caps, c);
  const auto found = std::find(list.begin(), list.end(), "coop 64");
  return found == list.end() ? -1 : found == list.begin() ? 1 : 0;
}

// A quarter of the workgroups that tiles need, of which each is 64 x 64.
TEST(MatmulVariants, CooperativeMatricesAreForManyRowsOfFp16) {
  const Capabilities large = with_matrices(DeviceType::discrete), small = with_matrices(DeviceType::integrated);
  EXPECT_EQ(coop_place(large, 512, 512), 1);
  EXPECT_EQ(coop_place(large, 448, 512), 0);
  EXPECT_EQ(coop_place(large, 33, 4096), 1);
  EXPECT_EQ(coop_place(large, 32, 4096), -1);
  EXPECT_EQ(coop_place(small, 64, 512), 1);
  EXPECT_EQ(coop_place(small, 64, 448), 0);
  EXPECT_EQ(coop_place(with_matrices(DeviceType::cpu), 512, 512), -1);
  for (const auto f : {WeightFormat::fp32, WeightFormat::bf16, WeightFormat::int8, WeightFormat::int4})
    EXPECT_EQ(coop_place(large, 512, 512, f), -1) << name(f);
}

TEST(MatmulVariants, CooperativeMatricesNeedACertainSubgroup) {
  const auto place = [](void (*change)(Capabilities&)) {
    Capabilities caps = with_matrices(DeviceType::discrete);
    change(caps);
    return coop_place(caps, 512, 512);
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
