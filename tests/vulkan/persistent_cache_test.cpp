// The cache between runs: headers that match to the bit, trials that leave a mark when they do not end, and the data
// that a driver is given.
#include "vulkan/caps/persistent_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <thread>

#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "support/memory_store.hpp"
#include "vulkan/affine.spv.h"

namespace lapilli::vulkan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing_support::MemoryStore;

Blob payload_of(const char* text) {
  const auto bytes = std::as_bytes(std::span(text, std::strlen(text)));
  return {bytes.begin(), bytes.end()};
}

// No two fields and no two bytes of a field are alike.
StoredIdentity some_identity() {
  StoredIdentity id{0x01020304, 0x11121314, 0x21222324,         0x31323334,         {},
                    {},         {},         0x4142434445464748, 0x5152535455565758, 0x6162636465666768};
  uint8_t next = 0x80;
  for (auto* uuid : {&id.device_uuid, &id.driver_uuid, &id.cache_uuid})
    for (uint8_t& b : *uuid) b = next++;
  return id;
}

TEST(StoredHeader, GivesBackWhatWasSealed) {
  const StoredIdentity id = some_identity();
  for (const Blob& payload : {Blob(), payload_of("something that was kept")})
    EXPECT_EQ(unseal(StoredKind::pipelines, id, seal(StoredKind::pipelines, id, payload)), payload);
}

TEST(StoredHeader, EveryBitAndEveryByteCounts) {
  const StoredIdentity id = some_identity();
  const Blob sealed = seal(StoredKind::pipelines, id, payload_of("something that was kept"));
  for (size_t i = 0; i < sealed.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Blob other = sealed;
      other[i] ^= std::byte{1} << bit;
      EXPECT_FALSE(unseal(StoredKind::pipelines, id, other)) << i;
    }
    EXPECT_FALSE(unseal(StoredKind::pipelines, id, std::span(sealed).first(i))) << i;
  }
  Blob longer = sealed;
  longer.push_back({});
  EXPECT_FALSE(unseal(StoredKind::pipelines, id, longer));
  EXPECT_FALSE(unseal(StoredKind::verdicts, id, sealed));
}

TEST(StoredHeader, EverythingThatItDependsOnCounts) {
  const StoredIdentity id = some_identity();
  const Blob sealed = seal(StoredKind::verdicts, id, payload_of("kept"));
  std::vector<StoredIdentity> others(9, id);
  others[0].vendor_id++, others[1].device_id++, others[2].driver_version++, others[3].api_version++;
  others[4].device_uuid[15]++, others[5].driver_uuid[15]++, others[6].cache_uuid[15]++;
  others[7].shaders++, others[8].capabilities++;
  for (size_t i = 0; i < others.size(); ++i) EXPECT_FALSE(unseal(StoredKind::verdicts, others[i], sealed)) << i;
}

TEST(StoredHeader, CapabilitiesMakeAnotherIdentity) {
  Capabilities caps;
  const StoredIdentity id = identity_of(caps, 1);
  caps.driver_version = 7;
  EXPECT_EQ(stored_key(StoredKind::pipelines, identity_of(caps, 1)), stored_key(StoredKind::pipelines, id));
  caps.masks = {"no-subgroup"};
  EXPECT_NE(stored_key(StoredKind::pipelines, identity_of(caps, 1)), stored_key(StoredKind::pipelines, id));
  caps = {};
  caps.subgroup_size = 16;  // as a quirk would
  EXPECT_EQ(stored_key(StoredKind::pipelines, identity_of(caps, 1)), stored_key(StoredKind::pipelines, id));
  EXPECT_NE(identity_of(caps, 1).capabilities, id.capabilities);
  caps = {};
  caps.heap_bytes = 5;  // what the system leaves
  EXPECT_EQ(identity_of(caps, 1).capabilities, id.capabilities);
  const std::string key = stored_key(StoredKind::pipelines, id);
  EXPECT_EQ(key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-."), key.npos) << key;
}

// One run of a program: what it is given of what an earlier one kept.
class CacheTrials : public testing::Test {
 protected:
  std::unique_ptr<PersistentCache> run() { return std::make_unique<PersistentCache>(store_, some_identity()); }
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  const Blob payload_ = payload_of("of the driver");
};

TEST_F(CacheTrials, WhatIsKeptComesBackOnce) {
  run()->keep(StoredKind::pipelines, payload_);
  const auto next = run();
  EXPECT_EQ(next->take(StoredKind::pipelines), payload_);
  EXPECT_THAT(next->take(StoredKind::pipelines), IsEmpty());
  EXPECT_THAT(next->take(StoredKind::verdicts), IsEmpty());
  const int saves = store_->saves;
  next->keep(StoredKind::pipelines, payload_);
  EXPECT_EQ(store_->saves, saves);  // it is there
}

TEST_F(CacheTrials, WhatEndedWellIsUsedAgain) {
  run()->keep(StoredKind::pipelines, payload_);
  for (int i = 0; i < 3; ++i) {
    const auto next = run();
    EXPECT_TRUE(next->begin_trial(StoredKind::pipelines, next->take(StoredKind::pipelines)));
    EXPECT_TRUE(store_->has("trial"));
    next->end_trial();
    EXPECT_FALSE(store_->has("trial"));
  }
}

TEST_F(CacheTrials, WhatDidNotEndIsDropped) {
  run()->keep(StoredKind::pipelines, payload_);
  EXPECT_TRUE(run()->begin_trial(StoredKind::pipelines, payload_));  // and its process is no more
  const auto next = run();
  EXPECT_FALSE(next->begin_trial(StoredKind::pipelines, next->take(StoredKind::pipelines)));
  EXPECT_THAT(store_->blobs, IsEmpty());
  next->end_trial();
  next->keep(StoredKind::pipelines, payload_);  // also if the driver makes the same of it
  EXPECT_TRUE(store_->has("pipelines"));
  EXPECT_TRUE(run()->begin_trial(StoredKind::pipelines, payload_));
}

TEST_F(CacheTrials, AMarkSaysNothingOfAnotherBlob) {
  run()->keep(StoredKind::pipelines, payload_);
  EXPECT_TRUE(run()->begin_trial(StoredKind::pipelines, payload_));
  const Blob other = payload_of("made since");
  run()->keep(StoredKind::pipelines, other);
  EXPECT_TRUE(run()->begin_trial(StoredKind::pipelines, other));
}

TEST_F(CacheTrials, WhileAnotherProcessHasTheMark) {
  run()->keep(StoredKind::pipelines, payload_);
  const auto first = run();
  EXPECT_TRUE(first->begin_trial(StoredKind::pipelines, payload_));
  store_->others_hold = true;
  const auto second = run();
  EXPECT_TRUE(second->begin_trial(StoredKind::pipelines, payload_));
  second->end_trial();
  EXPECT_TRUE(store_->has("trial"));  // the first one's
  store_->others_hold = false;
  first->end_trial();
  EXPECT_FALSE(store_->has("trial"));
}

TEST_F(CacheTrials, WithoutAMarkNothingIsTried) {
  run()->keep(StoredKind::pipelines, payload_);
  store_->full = true;
  EXPECT_FALSE(run()->begin_trial(StoredKind::pipelines, payload_));
  store_->full = false;
  EXPECT_TRUE(run()->begin_trial(StoredKind::pipelines, payload_));
  store_->full = true;  // what crashed a driver cannot be removed
  EXPECT_FALSE(run()->begin_trial(StoredKind::pipelines, payload_));
  EXPECT_FALSE(run()->begin_trial(StoredKind::pipelines, payload_));
}

TEST_F(CacheTrials, AFullStoreIsAskedAgain) {
  store_->full = true;
  const auto first = run();
  first->keep(StoredKind::verdicts, payload_);
  store_->full = false;
  first->keep(StoredKind::verdicts, payload_);
  EXPECT_EQ(run()->take(StoredKind::verdicts), payload_);
}

// The data that reaches the driver.
class DevicePersistentCache : public testing::Test {
 protected:
  void SetUp() override { counting::reset(); }
  void TearDown() override { counting::reset(); }

  // A run that makes a pipeline; what its driver got.
  std::vector<std::byte> run(const std::function<void(Device&)>& also = {}) {
    counting::reset();
    if (pretend_) counting::pretend_properties(pretend_);
    if (fails_) counting::fail("vkCreatePipelineCache", VK_ERROR_INITIALIZATION_FAILED);
    DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    options.keep = {store_, shaders_};
    const auto device = Device::create(options);
    EXPECT_TRUE(device.ok()) << device.error().message;
    if (!device) return {};
    const PipelineRequest request{spv_affine, std::size(spv_affine), "affine", {1, 1}};
    LAPILLI_EXPECT_OK((*device)->pipelines({&request, 1}));
    if (also) also(**device);
    if (ends_) (*device)->keep_pipelines();
    const auto caches = counting::pipeline_caches();
    EXPECT_EQ((*device)->counters().cache_bytes, caches.back().size());
    return caches.back();
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  uint64_t shaders_ = 1;
  bool ends_ = true, fails_ = false;
  std::function<void(VkPhysicalDeviceProperties&)> pretend_;
};

TEST_F(DevicePersistentCache, TheDriverGetsWhatItGave) {
  EXPECT_THAT(run(), IsEmpty());
  ASSERT_THAT(store_->blobs, SizeIs(1));
  const Blob sealed = store_->starting_with("pipelines");
  const auto given = run();
  ASSERT_GE(given.size(), sizeof(VkPipelineCacheHeaderVersionOne));
  EXPECT_TRUE(std::equal(given.rbegin(), given.rend(), sealed.rbegin()));
  EXPECT_THAT(store_->blobs, SizeIs(1));  // the mark is gone
}

TEST_F(DevicePersistentCache, NothingThatIsDamagedReachesIt) {
  run();
  const Blob sealed = store_->starting_with("pipelines");
  for (size_t i = 0; i < sealed.size(); ++i) {
    store_->starting_with("pipelines")[i] ^= std::byte{0x10};
    EXPECT_THAT(run(), IsEmpty()) << i;
    EXPECT_EQ(store_->starting_with("pipelines"), sealed) << i;  // made anew
  }
  for (size_t length = 0; length < sealed.size(); length += 7) {
    store_->starting_with("pipelines").resize(length);
    EXPECT_THAT(run(), IsEmpty()) << length;
  }
  store_->starting_with("pipelines").push_back({});
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(DevicePersistentCache, OtherDriversAndVersionsStartAnew) {
  run();
  pretend_ = [](VkPhysicalDeviceProperties& p) { p.driverVersion ^= 1; };
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_THAT(run(), SizeIs(testing::Gt(0u)));
  ASSERT_THAT(store_->blobs, SizeIs(1));  // in the place of the other version's
  pretend_ = [](VkPhysicalDeviceProperties& p) { p.pipelineCacheUUID[3] ^= 1; };
  EXPECT_THAT(run(), IsEmpty());
  pretend_ = nullptr;
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_THAT(run(), SizeIs(testing::Gt(0u)));
  shaders_ = 2;
  EXPECT_THAT(run(), IsEmpty());
}

// The header that Vulkan has drivers write is looked at even where ours is right.
TEST_F(DevicePersistentCache, DataThatIsNotTheDriversOwn) {
  StoredIdentity identity;
  Blob own;
  run([&](Device& device) { identity = device.persistent_cache()->identity(); });
  own = *unseal(StoredKind::pipelines, identity, store_->starting_with("pipelines"));
  for (size_t i = 0; i < sizeof(VkPipelineCacheHeaderVersionOne); ++i) {
    Blob other = own;
    other[i] ^= std::byte{0x80};
    store_->starting_with("pipelines") = seal(StoredKind::pipelines, identity, other);
    EXPECT_THAT(run(), IsEmpty()) << i;
  }
  for (size_t length = 0; length < sizeof(VkPipelineCacheHeaderVersionOne); ++length) {
    store_->starting_with("pipelines") = seal(StoredKind::pipelines, identity, std::span(own).first(length));
    EXPECT_THAT(run(), IsEmpty()) << length;
  }
}

TEST_F(DevicePersistentCache, ADriverThatRefusesItDoesWithout) {
  run();
  fails_ = true;  // the first of two
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_TRUE(counting::failed());
  EXPECT_EQ(counting::calls("vkCreatePipelineCache"), 2u);
  fails_ = false;
  EXPECT_THAT(run(), SizeIs(testing::Gt(0u)));
}

TEST_F(DevicePersistentCache, AnEndedDeviceLeavesNoMark) {
  run();
  ends_ = false;
  EXPECT_THAT(run([&](Device&) { EXPECT_TRUE(store_->has("trial")); }), SizeIs(testing::Gt(0u)));
  EXPECT_FALSE(store_->has("trial"));
  EXPECT_THAT(run(), SizeIs(testing::Gt(0u)));
}

TEST_F(DevicePersistentCache, ALostDeviceLeavesItsMark) {
  run();
  run([](Device& device) {
    counting::fail("vkCreateComputePipelines", VK_ERROR_DEVICE_LOST);
    const PipelineRequest request{spv_affine, std::size(spv_affine), "affine", {2, 1}};
    EXPECT_FALSE(device.pipelines({&request, 1}).ok());
  });
  EXPECT_TRUE(store_->has("trial"));
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_THAT(run(), SizeIs(testing::Gt(0u)));
}

TEST_F(DevicePersistentCache, StoresThatFail) {
  store_->full = true;
  EXPECT_THAT(run(), IsEmpty());
  EXPECT_THAT(store_->blobs, IsEmpty());
  store_->full = false;
  run();
  store_->full = true;  // no mark, no trial
  EXPECT_THAT(run(), IsEmpty());
  store_->full = false;
  counting::reset();
  EXPECT_THAT(run([](Device&) { counting::fail("vkGetPipelineCacheData", VK_ERROR_OUT_OF_HOST_MEMORY); }),
              SizeIs(testing::Gt(0u)));
}

TEST_F(DevicePersistentCache, TheStoreIsNotTouchedInBetween) {
  run();
  run([&](Device& device) {
    const int loads = store_->loads, saves = store_->saves;
    for (uint32_t i = 0; i < 3; ++i) {
      const PipelineRequest request{spv_affine, std::size(spv_affine), "affine", {3 + i, 1}};
      LAPILLI_EXPECT_OK(device.pipelines({&request, 1}));
    }
    EXPECT_EQ(store_->loads, loads);
    EXPECT_EQ(store_->saves, saves);
  });
}

// Hosts that lend threads, well and badly.
class DeviceWorkers : public testing::Test {
 protected:
  void TearDown() override { counting::reset(); }
  Result<std::vector<const Pipeline*>> make(const Workers& workers, uint32_t count = 6) {
    device_.reset();
    counting::reset();
    DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    options.workers = workers;
    LAPILLI_TRY(device_, Device::create(options));
    if (fails_) counting::fail("vkCreateComputePipelines", *fails_, 2);
    std::vector<PipelineRequest> requests;
    for (uint32_t i = 0; i < count; ++i) requests.push_back({spv_affine, std::size(spv_affine), "affine", {i + 1, 1}});
    return device_->pipelines(requests);
  }
  std::optional<VkResult> fails_;
  std::shared_ptr<Device> device_;
};

TEST_F(DeviceWorkers, MakePipelinesSideBySide) {
  const auto threads = [](uint32_t count, const std::function<void(uint32_t)>& task) {
    std::vector<std::thread> all;
    for (uint32_t i = 0; i < count; ++i) all.emplace_back(task, i);
    for (auto& t : all) t.join();
  };
  LAPILLI_ASSERT_VALUE(const auto made, make(threads));
  EXPECT_EQ(std::set<const Pipeline*>(made.begin(), made.end()).size(), 6u);
  EXPECT_EQ(device_->counters().pipelines_created, 6u);
  EXPECT_EQ(counting::calls("vkCreateComputePipelines"), 6u);
}

TEST_F(DeviceWorkers, WhatTheyLeaveIsDone) {
  for (const Workers& workers : std::vector<Workers>{
           [](uint32_t, const auto&) {},
           [](uint32_t count, const auto&task) { task(count - 1), task(count - 1), task(count), task(UINT32_MAX); },
           [](uint32_t count, const auto&task) {
             for (uint32_t i = count; i-- > 1;) task(i);
           }}) {
    LAPILLI_ASSERT_VALUE(const auto made, make(workers));
    EXPECT_THAT(made, testing::Each(testing::NotNull()));
    EXPECT_EQ(device_->counters().pipelines_created, 6u);
    EXPECT_EQ(counting::calls("vkCreateComputePipelines"), 6u);
  }
}

TEST_F(DeviceWorkers, AreNotAskedForOne) {
  uint32_t asked = 0;
  LAPILLI_EXPECT_OK(make([&](uint32_t, const auto&) { ++asked; }, 1));
  EXPECT_EQ(asked, 0u);
}

TEST_F(DeviceWorkers, FailuresAreErrors) {
  const auto in_turn = [](uint32_t count, const std::function<void(uint32_t)>& task) {
    for (uint32_t i = 0; i < count; ++i) task(i);
  };
  fails_ = VK_ERROR_UNKNOWN;  // once: it is tried again
  LAPILLI_EXPECT_OK(make(in_turn));
  EXPECT_EQ(counting::calls("vkCreateComputePipelines"), 7u);
  fails_ = VK_ERROR_DEVICE_LOST;
  const auto lost = make(in_turn);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code, ErrorCode::device_lost);
  device_.reset();
  EXPECT_THAT(counting::living(), IsEmpty());
}

}  // namespace
}  // namespace lapilli::vulkan
