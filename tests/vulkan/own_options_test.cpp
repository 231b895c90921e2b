// Options of a device of our own that the driver is asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "vulkan/driver/instance.hpp"
#include "vulkan/work.hpp"

namespace lapilli::vulkan {
namespace {

class DeviceOwnOptions : public testing::Test {
 protected:
  void SetUp() override {
    counting::reset();
    options_.get_instance_proc_addr = counting::get_instance_proc_addr();
  }
  void TearDown() override {
    EXPECT_TRUE(counting::living().empty());
    counting::reset();
  }
  Status work() {
    LAPILLI_TRY(const auto device, Device::create(options_));
    LAPILLI_TRY(auto work, Work::make(device, 1000));
    return work.run();
  }
  DeviceOptions options_;
};

TEST_F(DeviceOwnOptions, NamesAreGivenIfAsked) {
  LAPILLI_ASSERT_OK(work());
  EXPECT_EQ(counting::calls("vkSetDebugUtilsObjectNameEXT"), 0u);
  EXPECT_EQ(counting::calls("vkCmdInsertDebugUtilsLabelEXT"), 0u);
  options_.debug_names = true;
  LAPILLI_ASSERT_OK(work());
  EXPECT_GT(counting::calls("vkSetDebugUtilsObjectNameEXT"), 0u);
  EXPECT_GT(counting::calls("vkCmdInsertDebugUtilsLabelEXT"), 0u);
}

TEST_F(DeviceOwnOptions, LowPriorityWhereItIsGranted) {
  options_.low_priority = true;
  counting::pretend_priority(counting::Priority::granted);
  LAPILLI_ASSERT_OK(work());
  EXPECT_EQ(counting::low_priorities(), 1u);
  EXPECT_EQ(counting::calls("vkCreateDevice"), 1u);
}

TEST_F(DeviceOwnOptions, AnyPriorityWhereItIsRefused) {
  options_.low_priority = true;
  counting::pretend_priority(counting::Priority::refused);
  LAPILLI_ASSERT_OK(work());
  EXPECT_EQ(counting::low_priorities(), 1u);
  EXPECT_EQ(counting::calls("vkCreateDevice"), 2u);
}

TEST_F(DeviceOwnOptions, NoPriorityUnlessAsked) {
  counting::pretend_priority(counting::Priority::granted);
  LAPILLI_ASSERT_OK(work());
  EXPECT_EQ(counting::low_priorities(), 0u);
}

TEST_F(DeviceOwnOptions, CpuDriversAreRefusedIfAsked) {
  options_.refuse_cpu = true;
  counting::pretend_properties([](VkPhysicalDeviceProperties& p) { p.deviceType = VK_PHYSICAL_DEVICE_TYPE_CPU; });
  const auto device = Device::create(options_);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.error().code, ErrorCode::no_device);
  EXPECT_THAT(device.error().message, testing::HasSubstr("CPU driver"));
}

// The driver stays loaded with the last of them.
TEST(DeviceInstances, OneThatStaysIsDestroyedBehindTheNext) {
  counting::reset();
  const auto make = [](bool stays) {
    InstanceOptions options;
    options.get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(counting::get_instance_proc_addr());
    auto instance = create_instance(options);
    ASSERT_TRUE(instance.ok()) << instance.error().message;
    (*instance)->stays = stays;
  };
  make(false);
  EXPECT_EQ(counting::calls("vkDestroyInstance"), 1u);
  make(true);
  const uint64_t before = counting::calls("vkDestroyInstance");  // 1, or 2 on a driver that stays loaded anyway
  for (int i = 0; i < 3; ++i) make(true);
  EXPECT_EQ(counting::calls("vkDestroyInstance"), before + 3);
  counting::reset();
}

}  // namespace
}  // namespace lapilli::vulkan
