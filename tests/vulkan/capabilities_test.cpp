#include "vulkan/caps/capabilities.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "support/temp_directory.hpp"
#include "vulkan/caps/capabilities_json.hpp"
#include "vulkan/caps/mask.hpp"
#include "vulkan/caps/quirks.hpp"
#include "vulkan/device/snapshot.hpp"

namespace lapilli {
namespace {

Capabilities desktop() {
  Capabilities c;
  c.device_name = "A \"GPU\" with \\ and \xc3\xa9";
  c.driver_name = "driver";
  c.driver_info = "1.2.3";
  c.vendor_id = 0x10de;
  c.device_id = 7;
  c.driver_version = 4000000000u;
  c.api_version = (1u << 22) | (3u << 12) | 250;
  for (size_t i = 0; i < 16; ++i) c.uuid[i] = static_cast<uint8_t>(i * 17);
  c.type = DeviceType::discrete;
  c.max_storage_range = 0xffffffffu;
  c.max_uniform_range = 65536;
  c.max_push_bytes = 256;
  c.max_storage_buffers = c.max_uniform_buffers = 1000000;
  c.max_invocations = 1024;
  c.max_group_size = {1024, 1024, 64};
  c.max_group_count = {2147483647u, 65535, 65535};
  c.shared_memory = 49152;
  c.storage_alignment = 16;
  c.uniform_alignment = 64;
  c.non_coherent_atom = 64;
  c.max_allocation = uint64_t{1} << 40;
  c.heap_bytes = uint64_t{139} << 30;
  c.subgroup_size = c.min_subgroup_size = c.max_subgroup_size = 32;
  c.subgroup_arithmetic = c.subgroup_shuffle = c.subgroup_size_control = true;
  c.timeline_semaphore = c.storage_16bit = c.arithmetic_fp16 = c.storage_8bit = true;
  c.arithmetic_int8 = c.integer_dot = c.memory_budget = c.unified_memory = c.timestamps = c.texels = true;
  c.timestamp_period = 1.25f;
  c.cooperative_matrix = {16, 8, 16};
  c.quirks = {"one", "two"};
  c.masks = {"full"};
  return c;
}

// Everything that a variant may rely on is at most what `wide` has.
void expect_within(const Capabilities& narrow, const Capabilities& wide) {
  EXPECT_LE(narrow.max_storage_range, wide.max_storage_range);
  EXPECT_LE(narrow.max_invocations, wide.max_invocations);
  EXPECT_LE(narrow.shared_memory, wide.shared_memory);
  EXPECT_LE(narrow.max_group_count[0], wide.max_group_count[0]);
  EXPECT_GE(narrow.storage_alignment, wide.storage_alignment);
  EXPECT_GE(narrow.non_coherent_atom, wide.non_coherent_atom);
  EXPECT_LE(narrow.subgroup_arithmetic, wide.subgroup_arithmetic);
  EXPECT_LE(narrow.arithmetic_fp16, wide.arithmetic_fp16);
  EXPECT_LE(narrow.timeline_semaphore, wide.timeline_semaphore);
  EXPECT_LE(narrow.unified_memory, wide.unified_memory);
}

TEST(CapabilitiesJson, RoundTrip) {
  for (const Capabilities& c : {Capabilities{}, desktop()}) {
    auto back = capabilities_from_json(to_json(c));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(*back, c);
  }
}

TEST(CapabilitiesJson, MissingMembersAreTheFloor) {
  auto c = capabilities_from_json("{\"max_invocations\": 256}");
  ASSERT_TRUE(c.ok());
  Capabilities floor;
  floor.max_invocations = 256;
  EXPECT_EQ(*c, floor);
}

TEST(CapabilitiesJson, RefusesWhatIsWrong) {
  const std::string deep(100000, '[');
  const std::pair<std::string, const char*> cases[] = {
      {"", "not valid JSON"},
      {deep, "not valid JSON"},
      {"[]", "not a JSON object"},
      {"3", "not a JSON object"},
      {R"({"max_invocations": "256"})", "'max_invocations' has a wrong type"},
      {R"({"max_invocations": -1})", "'max_invocations' has a wrong type"},
      {R"({"max_invocations": 1e3})", "'max_invocations' has a wrong type"},
      {R"({"max_invocations": 4294967424})", "'max_invocations' has a wrong type"},
      {R"({"max_invocations": 127})", "'max_invocations' is below the floor"},
      {R"({"max_storage_range": 134217727})", "'max_storage_range' is below the floor"},
      {R"({"max_storage_range": 99999999999999999999})", "'max_storage_range' has a wrong type"},
      {R"({"storage_alignment": 512})", "'storage_alignment' is above the floor's"},
      {R"({"storage_alignment": 0})", "'storage_alignment' is not a power of two"},
      {R"({"non_coherent_atom": 48})", "'non_coherent_atom' is not a power of two"},
      {R"({"api_version": 4194304})", "'api_version' is below the floor"},
      {R"({"max_group_size": [128, 128]})", "'max_group_size' has a wrong type"},
      {R"({"max_group_size": [128, 128, 63]})", "'max_group_size' is below the floor"},
      {R"({"max_group_size": [128, "128", 64]})", "'max_group_size' has a wrong type"},
      {R"({"subgroup_size": 0})", "'subgroup_size' is below the floor"},
      {R"({"arithmetic_fp16": 1})", "'arithmetic_fp16' has a wrong type"},
      {R"({"timestamp_period": -2})", "'timestamp_period' has a wrong type"},
      {R"({"uuid": "00112233"})", "'uuid' has a wrong type"},
      {R"({"uuid": "zz112233445566778899aabbccddeeff"})", "'uuid' has a wrong type"},
      {R"({"type": "toaster"})", "'type' has a wrong type"},
      {R"({"quirks": [1]})", "'quirks' has a wrong type"},
      {R"({"device_name": null})", "'device_name' has a wrong type"},
      {R"({"arithmetic_fp61": true})", "unknown member 'arithmetic_fp61'"},
  };
  for (const auto& [json, why] : cases) {
    auto c = capabilities_from_json(json);
    ASSERT_FALSE(c.ok()) << json.substr(0, 80);
    EXPECT_EQ(c.error().code, ErrorCode::invalid_data);
    EXPECT_NE(c.error().message.find(why), std::string::npos) << c.error().message;
  }
}

// It was a member once. How much is submitted at once is not said by the device, nor by such a file.
TEST(CapabilitiesJson, AWorkLimitIsPassedOver) {
  auto c = capabilities_from_json(R"({"work_limit": 1000, "max_push_bytes": 256})");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->max_push_bytes, 256u);
}

TEST(CapabilitiesJson, NamesThatAreNotUtf8DoNotBreakTheWriter) {
  Capabilities c;
  c.device_name = "\xff\xfe";
  EXPECT_TRUE(capabilities_from_json(to_json(c)).ok());
}

TEST(CapabilitiesMask, FullChangesNothingButItsName) {
  auto c = apply_mask(desktop(), "full");
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(*c, desktop());
  EXPECT_EQ(*apply_mask(desktop(), ""), desktop());
}

TEST(CapabilitiesMask, FloorIsTheFloor) {
  auto c = apply_mask(desktop(), "floor");
  ASSERT_TRUE(c.ok());
  // All but who the device is, and how much memory it has.
  Capabilities want;
  const Capabilities d = desktop();
  want.device_name = d.device_name;
  want.driver_name = d.driver_name;
  want.driver_info = d.driver_info;
  want.vendor_id = d.vendor_id;
  want.device_id = d.device_id;
  want.driver_version = d.driver_version;
  want.uuid = d.uuid;
  want.type = d.type;
  want.heap_bytes = d.heap_bytes;
  want.quirks = d.quirks;
  want.masks = {"full", "floor"};
  EXPECT_EQ(*c, want);
}

TEST(CapabilitiesMask, EachTakesAwayWhatItSays) {
  const auto masked = [](const char* mask) {
    auto c = apply_mask(desktop(), mask);
    EXPECT_TRUE(c.ok()) << mask;
    expect_within(*c, desktop());
    return *c;
  };
  EXPECT_EQ(masked("small-bindings").max_storage_range, 65536u);
  EXPECT_EQ(masked("small-bindings").max_group_count, (std::array<uint32_t, 3>{64, 64, 64}));
  EXPECT_EQ(masked("no-subgroup").subgroup_size, 1u);
  EXPECT_FALSE(masked("no-subgroup").subgroup_arithmetic);
  EXPECT_FALSE(masked("no-timeline").timeline_semaphore);
  EXPECT_FALSE(masked("no-indirect").indirect_dispatch);
  EXPECT_FALSE(masked("no-fp16").arithmetic_fp16);
  EXPECT_FALSE(masked("no-halves").packed_halves);
  EXPECT_FALSE(masked("no-int8").integer_dot);
  for (const char* mask : {"floor", "no-subgroup", "no-fp16", "no-coop"})
    EXPECT_FALSE(has_cooperative_matrix(masked(mask))) << mask;
  EXPECT_TRUE(has_cooperative_matrix(masked("no-int8")));
  EXPECT_FALSE(masked("staging").unified_memory);
  const Capabilities both = masked(" no-fp16 ,no-timeline,, staging");
  EXPECT_FALSE(both.arithmetic_fp16 || both.timeline_semaphore || both.unified_memory);
  EXPECT_EQ(both.masks, (std::vector<std::string>{"full", "no-fp16", "no-timeline", "staging"}));
}

TEST(CapabilitiesMask, GpuChangesTheTypeOfACpuDriverAlone) {
  EXPECT_EQ(*apply_mask(desktop(), "gpu"), [] {
    Capabilities c = desktop();
    c.masks.push_back("gpu");
    return c;
  }());
  Capabilities cpu = desktop();
  cpu.type = DeviceType::cpu;
  auto c = apply_mask(cpu, "gpu");
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->type, DeviceType::other);
  EXPECT_FALSE(c->texels);
  c->type = DeviceType::cpu;
  c->texels = true;
  c->masks = cpu.masks;
  EXPECT_EQ(*c, cpu);
}

TEST(CapabilitiesMask, UnknownNamesAreErrors) {
  for (const char* mask : {"flor", "full,nothing", "missing.json", "some/where.json"}) {
    auto c = apply_mask(desktop(), mask);
    ASSERT_FALSE(c.ok()) << mask;
  }
  EXPECT_NE(apply_mask(desktop(), "flor").error().message.find("small-bindings"), std::string::npos);
}

TEST(CapabilitiesMask, FileIsIntersected) {
  const TempDirectory directory;
  const std::string path =
      directory.write("mask.json", R"({"max_invocations": 2048, "max_storage_range": 268435456, "storage_alignment": 4,
                            "subgroup_size": 8, "subgroup_arithmetic": true, "arithmetic_fp16": true})");
  auto c = apply_mask(desktop(), path);
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->max_invocations, 1024u);
  EXPECT_EQ(c->max_storage_range, 268435456u);
  EXPECT_EQ(c->storage_alignment, 16u);
  EXPECT_EQ(c->subgroup_size, 1u);  // 32 cannot be made 8
  EXPECT_TRUE(c->arithmetic_fp16);
  EXPECT_FALSE(c->timeline_semaphore);
  directory.write("mask.json", "{");
  c = apply_mask(desktop(), path);
  ASSERT_FALSE(c.ok());
  EXPECT_NE(c.error().message.find(path), std::string::npos);
}

// The devices of the lab's masks: whole, so that a mask clears nothing that the device has, and above the floor.
TEST(CapabilitiesMask, TheLabsDevicesAreWhole) {
  size_t devices = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LAPILLI_SOURCE_DIR "/tests/lab/masks")) {
    const std::string path = entry.path().string();
    SCOPED_TRACE(path);
    auto text = read_text_file(path, 1 << 20);
    ASSERT_TRUE(text.ok()) << text.error().message;
    auto device = capabilities_from_json(*text);
    ASSERT_TRUE(device.ok()) << device.error().message;
    EXPECT_EQ(vulkan::missing_floor(*device), "");
    auto masked = apply_mask(*device, path);
    ASSERT_TRUE(masked.ok()) << masked.error().message;
    masked->masks.clear();
    EXPECT_EQ(*masked, *device);
    ++devices;
  }
  EXPECT_GE(devices, 4u);
}

// Apple's subgroups have 32 lanes, but MoltenVK says 4 to 32 and lets nobody choose.
TEST(CapabilitiesMask, MoltenVkTakesWhatTheDeviceCannotDo) {
  auto c = apply_mask(desktop(), LAPILLI_SOURCE_DIR "/tests/lab/masks/moltenvk-m1.json");
  ASSERT_TRUE(c.ok()) << c.error().message;
  EXPECT_EQ(c->max_storage_buffers, 31u);
  EXPECT_EQ(c->shared_memory, 32768u);
  EXPECT_FALSE(c->subgroup_size_control);
  EXPECT_FALSE(c->integer_dot);
}

TEST(CapabilitiesFloor, WhatIsMissingIsNamed) {
  EXPECT_EQ(vulkan::missing_floor(Capabilities{}), "");
  EXPECT_EQ(vulkan::missing_floor(desktop()), "");
  Capabilities c;
  c.max_storage_buffers = 3;
  EXPECT_EQ(vulkan::missing_floor(c), "it has 3 storage buffers a stage; Vulkan 1.1 guarantees 4");
  c = {};
  c.storage_alignment = 512;
  EXPECT_NE(vulkan::missing_floor(c), "");
}

TEST(Quirks, OnlyTheDriversOfTheTable) {
  Capabilities c = desktop();
  vulkan::apply_quirks(c);
  EXPECT_EQ(c, desktop());
  c.vendor_id = 0x1010;
  vulkan::apply_quirks(c);
  EXPECT_FALSE(c.integer_dot);
  EXPECT_TRUE(c.arithmetic_fp16 && c.subgroup_shuffle);
  EXPECT_EQ(c.quirks.back(), "powervr-integer-dot");
}

TEST(Quirks, HalvesAreLeftAloneWhereTheCompilerOfAnArm64DriverFails) {
  Capabilities c = desktop();
  c.device_name = "llvmpipe (LLVM 15.0.6, 128 bits)";
  vulkan::apply_quirks(c);
#if defined(__aarch64__)
  EXPECT_FALSE(c.packed_halves);
#else
  EXPECT_TRUE(c.packed_halves);
#endif
  c = desktop();
  c.device_name = "llvmpipe (LLVM 22.1.0, 128 bits)";
  vulkan::apply_quirks(c);
  EXPECT_TRUE(c.packed_halves);
}

TEST(Quirks, SeveralMayApply) {
  Capabilities c = desktop();
  c.quirks.clear();
  c.vendor_id = 0x5143;
  c.device_name = "Adreno (TM) 640";
  vulkan::apply_quirks(c);
  EXPECT_EQ(c.quirks, (std::vector<std::string>{"adreno-shuffle", "adreno6xx-fp16"}));
  EXPECT_FALSE(c.arithmetic_fp16 || c.subgroup_shuffle);
  EXPECT_TRUE(c.subgroup_arithmetic);
  EXPECT_EQ(c.subgroup_size, 32u);
}

TEST(Quirks, WithoutAnyOperationSubgroupsAreOff) {
  Capabilities c = desktop();
  c.vendor_id = 0x5143;
  c.subgroup_arithmetic = false;
  vulkan::apply_quirks(c);
  EXPECT_EQ(c.subgroup_size, 1u);
}

}  // namespace
}  // namespace lapilli
