// Which kernels of "matmul" a device is offered.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/matmul_cases.hpp"
#include "ops/registry.hpp"

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

// Arm and AMD get what others get in the same order, without the lanes kernels.
TEST(MatmulVariants, NoLanesOnArmAndAmd) {
  for (const auto& c : matmul_cases())
    for (const auto type : {DeviceType::integrated, DeviceType::discrete})
      for (const uint32_t subgroup_size : {16u, 64u}) {
        auto others = names(pretended(0x10de, type, subgroup_size), c);
        EXPECT_NE(std::erase_if(others, is_lanes), 0u) << c.name;
        EXPECT_EQ(names(pretended(0x13b5, type, subgroup_size), c), others) << c.name;
        EXPECT_EQ(names(pretended(0x1002, type, subgroup_size), c), others) << c.name;
      }
}

}  // namespace
}  // namespace lapilli
