// How much work goes to a device at once: by its type and by masks.
#include "ops/core/work_limit.hpp"

#include <gtest/gtest.h>

#include "vulkan/caps/mask.hpp"

namespace lapilli {
namespace {

double limit(DeviceType type, const char* mask = "") {
  Capabilities caps;
  caps.type = type;
  auto masked = apply_mask(caps, mask);
  EXPECT_TRUE(masked.ok()) << mask;
  return WorkLimit::of(*masked).operations();
}

TEST(WorkLimit, GoesByTheTypeOfTheDevice) {
  EXPECT_EQ(limit(DeviceType::other), 1e10);
  EXPECT_EQ(limit(DeviceType::integrated), 1e10);
  EXPECT_EQ(limit(DeviceType::virtual_gpu), 1e10);
  EXPECT_EQ(limit(DeviceType::discrete), 5e10);
  EXPECT_EQ(limit(DeviceType::cpu), 2e11);
}

TEST(WorkLimit, MasksOnlyLowerIt) {
  EXPECT_EQ(limit(DeviceType::cpu, "small-work"), 1e6);
  EXPECT_EQ(limit(DeviceType::discrete, "no-subgroup,small-work"), 1e6);
  EXPECT_EQ(limit(DeviceType::cpu, "small-work,floor"), 1e6);
  EXPECT_EQ(limit(DeviceType::cpu, "floor"), 1e10);
  EXPECT_EQ(limit(DeviceType::discrete, "small-bindings"), 5e10);
  // A CPU driver that stands in for a GPU gets submissions of that size.
  EXPECT_EQ(limit(DeviceType::cpu, "gpu"), 1e10);
  EXPECT_EQ(limit(DeviceType::discrete, "gpu"), 5e10);
}

TEST(WorkLimit, SharesOutEqualParts) {
  const WorkLimit work(1000);
  EXPECT_TRUE(work.allows(1000));
  EXPECT_FALSE(work.allows(1001));
  EXPECT_EQ(work.parts(7, 100), 7u);
  EXPECT_EQ(work.parts(70, 100), 10u);
  EXPECT_EQ(work.parts(70, 300), 3u);
  EXPECT_EQ(work.parts(70, 5000), 1u);  // one part in any case
  EXPECT_EQ(work.parts(70, 0), 70u);
}

}  // namespace
}  // namespace lapilli
