#include "vulkan/device/choose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lapilli::vulkan {
namespace {

using testing::HasSubstr;

DeviceInfo device(uint32_t index, const char* name, DeviceType type, const char* driver = "driver") {
  DeviceInfo d;
  d.index = index;
  d.caps.device_name = name;
  d.caps.driver_name = driver;
  d.caps.type = type;
  d.caps.vendor_id = 1;
  d.caps.uuid[0] = static_cast<uint8_t>(index + 1);
  return d;
}

std::vector<DeviceInfo> machine() {
  return {device(0, "llvmpipe (LLVM 15)", DeviceType::cpu), device(1, "Intel UHD 620", DeviceType::integrated),
          device(2, "NVIDIA GeForce RTX 3080", DeviceType::discrete), device(3, "AMD Radeon", DeviceType::discrete)};
}

TEST(Choose, TheBestByScore) {
  auto list = machine();
  list[3].caps.heap_bytes = uint64_t{16} << 30;
  auto i = choose_device(list, "");
  ASSERT_TRUE(i.ok());
  EXPECT_EQ(*i, 3u);
  EXPECT_TRUE(list[3].chosen);
  EXPECT_EQ(list[3].refusal, "");
  EXPECT_THAT(list[3].score_reason, HasSubstr("discrete GPU 4000 + GiB of memory 16"));
  EXPECT_THAT(list[2].refusal, HasSubstr("device 3 has a higher score"));
  EXPECT_THAT(list[1].refusal, HasSubstr("device 3 has a higher score"));
  EXPECT_THAT(list[0].refusal, HasSubstr("a CPU driver"));
}

TEST(Choose, TheScoreIsTheSumOfItsReasons) {
  DeviceInfo d = device(0, "x", DeviceType::integrated, "Dozen");
  d.caps.heap_bytes = uint64_t{8} << 30;
  d.caps.arithmetic_fp16 = d.caps.storage_16bit = d.caps.timeline_semaphore = true;
  d.caps.subgroup_size = 32;
  std::string reason;
  EXPECT_EQ(score_device(d.caps, &reason), 3000 + 8 + 50 + 20 + 20 + 10 - 500);
  EXPECT_EQ(reason,
            "integrated GPU 3000 + GiB of memory 8 + fp16 50 + 16-bit storage 20 + subgroups 20 + timeline 10 - "
            "translating driver 500");
}

TEST(Choose, CpuOnlyAloneOrAskedFor) {
  std::vector<DeviceInfo> alone = {machine()[0]};
  EXPECT_EQ(*choose_device(alone, ""), 0u);
  auto list = machine();
  EXPECT_EQ(*choose_device(list, "llvmpipe"), 0u);
  EXPECT_EQ(list[0].refusal, "");
  EXPECT_THAT(list[2].refusal, HasSubstr("'llvmpipe' was asked for"));
  // A GPU that cannot be used leaves the CPU alone.
  std::vector<DeviceInfo> broken = {machine()[0], machine()[1]};
  broken[1].refusal = "it has Vulkan 1.0; 1.1 is needed";
  EXPECT_EQ(*choose_device(broken, ""), 0u);
  EXPECT_EQ(broken[1].refusal, "it has Vulkan 1.0; 1.1 is needed");
}

TEST(Choose, ByIndexNameAndUuid) {
  const auto pick = [](const char* select) {
    auto list = machine();
    auto i = choose_device(list, select);
    EXPECT_TRUE(i.ok()) << select << ": " << i.error().message;
    return i ? *i : 99;
  };
  EXPECT_EQ(pick("1"), 1u);
  EXPECT_EQ(pick("RTX 3080"), 2u);
  EXPECT_EQ(pick("geforce"), 2u);
  EXPECT_EQ(pick("UHD"), 1u);
  EXPECT_EQ(pick("04000000-0000-0000-0000-000000000000"), 3u);
  EXPECT_EQ(pick("04000000000000000000000000000000"), 3u);
}

TEST(Choose, AWholeNumberIsAnIndexAndNothingElse) {
  auto list = machine();
  for (const char* number : {"3080", "7", "30800000"}) {
    auto i = choose_device(list, number);
    ASSERT_FALSE(i.ok()) << number;
    EXPECT_EQ(i.error().code, ErrorCode::no_device);
    EXPECT_THAT(i.error().message, HasSubstr(std::string("the index '") + number + "'"));
  }
}

TEST(Choose, OfSeveralOfANameTheBest) {
  std::vector<DeviceInfo> list = {device(0, "GPU A", DeviceType::integrated), device(1, "GPU B", DeviceType::discrete),
                                  device(2, "Other", DeviceType::discrete)};
  EXPECT_EQ(*choose_device(list, "gpu"), 1u);
  EXPECT_THAT(list[0].refusal, HasSubstr("higher score"));
}

TEST(Choose, SaysWhatThereIsWhenNothingMatches) {
  auto list = machine();
  auto i = choose_device(list, "Voodoo");
  ASSERT_FALSE(i.ok());
  EXPECT_EQ(i.error().code, ErrorCode::no_device);
  EXPECT_THAT(i.error().message, HasSubstr("'Voodoo'"));
  EXPECT_THAT(i.error().message, HasSubstr("2: NVIDIA GeForce RTX 3080"));
}

TEST(Choose, SaysWhyTheNamedDeviceCannotBeUsed) {
  auto list = machine();
  list[2].refusal = "it has 3 storage buffers a stage; Vulkan 1.1 guarantees 4";
  auto i = choose_device(list, "2");
  ASSERT_FALSE(i.ok());
  EXPECT_THAT(i.error().message, HasSubstr("RTX 3080"));
  EXPECT_THAT(i.error().message, HasSubstr("3 storage buffers"));
}

TEST(Choose, SaysWhyNoneCanBeUsed) {
  std::vector<DeviceInfo> list = {device(0, "Old", DeviceType::discrete)};
  list[0].refusal = "it has Vulkan 1.0; 1.1 is needed";
  auto i = choose_device(list, "");
  ASSERT_FALSE(i.ok());
  EXPECT_THAT(i.error().message, HasSubstr("0: Old"));
  EXPECT_THAT(i.error().message, HasSubstr("1.1 is needed"));
  std::vector<DeviceInfo> none;
  EXPECT_FALSE(choose_device(none, "").ok());
}

TEST(Choose, OneGpuUnderTwoDriversCountsOnce) {
  std::vector<DeviceInfo> list = {device(0, "AMD Radeon", DeviceType::discrete, "Dozen"),
                                  device(1, "AMD Radeon", DeviceType::discrete, "radv"),
                                  device(2, "AMD Radeon", DeviceType::discrete, "amdvlk")};
  for (DeviceInfo& d : list) d.caps.uuid = {9};
  EXPECT_EQ(*choose_device(list, ""), 1u);
  EXPECT_THAT(list[0].refusal, HasSubstr("the same GPU as device 1"));
  EXPECT_THAT(list[2].refusal, HasSubstr("the same GPU as device 1"));
  // Asked for by index, each can be had.
  list[0].refusal.clear();
  list[1].refusal.clear();
  list[2].refusal.clear();
  EXPECT_EQ(*choose_device(list, "0"), 0u);
}

TEST(Choose, DevicesWithoutUuidAreNotTakenForOne) {
  std::vector<DeviceInfo> list = {device(0, "A", DeviceType::discrete), device(1, "B", DeviceType::discrete)};
  list[0].caps.uuid = list[1].caps.uuid = {};
  list[1].caps.heap_bytes = uint64_t{4} << 30;
  EXPECT_EQ(*choose_device(list, ""), 1u);
  EXPECT_THAT(list[0].refusal, HasSubstr("higher score"));
}

}  // namespace
}  // namespace lapilli::vulkan
