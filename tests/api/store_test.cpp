// The cache between runs through the C interface: by callbacks of a host and in a folder, with the bundled model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "api/last_error.hpp"
#include "lapilli/lapilli.hpp"
#include "support/temp_directory.hpp"

namespace {

using lapilli::test::says;

// A host: gives blobs in pieces, counts, and fails when told to.
struct StoreHost {
  std::map<std::string, std::string> blobs;
  std::mutex mutex;
  std::thread::id thread;  // that calls Lapilli
  int loads = 0, stores = 0;
  bool load_fails = false, store_fails = false, in_halves = false, null_data = false, far_too_much = false;

  static int32_t load(void* user, const char* key, lapilli_receive_function receive, void* context) {
    StoreHost& host = *static_cast<StoreHost*>(user);
    const std::lock_guard lock(host.mutex);
    ++host.loads;
    EXPECT_EQ(host.thread, std::this_thread::get_id());
    EXPECT_LE(std::strlen(key), 64u);
    const auto found = host.blobs.find(key);
    if (found == host.blobs.end()) return 0;
    const std::string& blob = found->second;
    const size_t half = host.in_halves ? blob.size() / 2 : blob.size();
    receive(context, blob.data(), half);
    if (host.in_halves) receive(context, nullptr, 0);
    if (host.in_halves) receive(context, blob.data() + half, blob.size() - half);
    if (host.null_data) receive(context, nullptr, 5);
    if (host.far_too_much) receive(context, blob.data(), SIZE_MAX);
    return host.load_fails ? 1 : 0;
  }
  static int32_t store(void* user, const char* key, const void* data, size_t bytes) {
    StoreHost& host = *static_cast<StoreHost*>(user);
    const std::lock_guard lock(host.mutex);
    ++host.stores;
    EXPECT_EQ(host.thread, std::this_thread::get_id());
    if (host.store_fails) return -1;
    if (bytes == 0) {
      EXPECT_EQ(data, nullptr);
      host.blobs.erase(key);
    } else {
      host.blobs[key].assign(static_cast<const char*>(data), bytes);
    }
    return 0;
  }
  lapilli_store callbacks() {
    lapilli_store s = lapilli_default_store();
    s.user = this;
    s.load = &load;
    s.store = &store;
    return s;
  }
};

const char* const kText = "Where is the station?";
const char* const kFrench = "Où est la gare ?";

struct Start {
  std::string text;
  uint64_t cases = 0, bytes = 0, pipelines = 0;
};

// One process's life, as far as a device can tell.
Start start_with(const lapilli::DeviceOptions& options) {
  auto model = lapilli::Model::load(LAPILLI_SOURCE_DIR "/models/en-fr", options);
  EXPECT_TRUE(model.ok()) << model.error().message();
  if (!model) return {};
  auto made = model->translate({kText});
  EXPECT_TRUE(made.ok()) << made.error().message();
  if (!made) return {};
  const lapilli_stats& stats = made->stats();
  return {(*made)[0].text(), stats.self_test_cases, stats.pipeline_cache_bytes, stats.pipelines};
}

class ApiDeviceStore : public testing::Test {
 protected:
  void SetUp() override {
    lapilli_set_log(LAPILLI_LOG_WARNING, nullptr, nullptr);  // notes of what fails on purpose
    host_.thread = std::this_thread::get_id();
  }
  void TearDown() override { lapilli_set_log(LAPILLI_LOG_NOTE, nullptr, nullptr); }
  Start start() {
    const lapilli_store store = host_.callbacks();
    lapilli::DeviceOptions options;
    options.store = &store;
    return start_with(options);
  }
  void expect_cold(const Start& made, const std::string& why) {
    EXPECT_EQ(made.text, kFrench) << why;
    EXPECT_GT(made.cases, 0u) << why;
    EXPECT_EQ(made.bytes, 0u) << why;
  }
  void expect_warm(const Start& made, const std::string& why) {
    EXPECT_EQ(made.text, kFrench) << why;
    EXPECT_EQ(made.cases, 0u) << why;
    EXPECT_GT(made.bytes, 0u) << why;
  }
  StoreHost host_;
};

TEST_F(ApiDeviceStore, ASecondStartTestsNothing) {
  const Start first = start();
  expect_cold(first, "first");
  EXPECT_EQ(host_.blobs.size(), 2u);  // no mark
  const Start second = start();
  expect_warm(second, "second");
  EXPECT_LT(second.pipelines, first.pipelines);  // only what is used
  host_.in_halves = true;
  expect_warm(start(), "in pieces");
}

// Jobs store nothing by themselves; what was stored while they were there is what a next start needs.
TEST_F(ApiDeviceStore, StoredWhenAsked) {
  const lapilli_store store = host_.callbacks();
  lapilli::DeviceOptions options;
  options.store = &store;
  const auto device = lapilli::Device::open(options).value();
  EXPECT_TRUE(device.store_cache());
  EXPECT_EQ(host_.blobs.size(), 0u) << "nothing was made yet";
  auto model = lapilli::Model::load(device, LAPILLI_SOURCE_DIR "/models/en-fr").value();
  auto job = model.start({kText}).value();
  EXPECT_TRUE(job.wait().value());
  EXPECT_EQ(job.take().value()[0].text(), kFrench);
  EXPECT_TRUE(device.store_cache());
  const auto kept = host_.blobs;
  EXPECT_TRUE(device.store_cache());
  EXPECT_EQ(host_.blobs, kept);
  expect_warm(start(), "while the first device is there");
}

TEST_F(ApiDeviceStore, DamageIsIgnored) {
  expect_cold(start(), "first");
  // Each byte and bit, and each length: tests/vulkan, tests/runtime.
  for (const size_t at : {0u, 28u, 70u, 110u, 135u}) {
    for (auto& [key, blob] : host_.blobs) blob[at % blob.size()] ^= 0x20;
    const auto damaged = host_.blobs;
    expect_cold(start(), "byte " + std::to_string(at));
    // Others, under the same names; which kernels they speak of depends on how many rows ran at a time.
    ASSERT_EQ(host_.blobs.size(), damaged.size()) << at;
    for (const auto& [key, blob] : damaged) EXPECT_NE(host_.blobs.at(key), blob) << key << ", " << at;
  }
}

TEST_F(ApiDeviceStore, CutAndForeignBlobsAreIgnored) {
  expect_cold(start(), "first");
  for (const size_t length : {0u, 50u, 137u}) {
    for (auto& [key, blob] : host_.blobs) blob.resize(length);
    expect_cold(start(), "length " + std::to_string(length));
  }
  auto at = host_.blobs.begin();
  std::swap(at->second, std::next(at)->second);
  expect_cold(start(), "one for the other");
  for (auto& [key, blob] : host_.blobs) blob += "and more";
  expect_cold(start(), "longer");
}

TEST_F(ApiDeviceStore, CallbacksThatFail) {
  host_.store_fails = true;
  expect_cold(start(), "first");
  EXPECT_GT(host_.stores, 0);
  EXPECT_TRUE(host_.blobs.empty());
  host_.store_fails = false;
  expect_cold(start(), "second");
  for (bool StoreHost::*wrong : {&StoreHost::load_fails, &StoreHost::null_data, &StoreHost::far_too_much}) {
    host_.*wrong = true;
    expect_cold(start(), "a load that fails");
    host_.*wrong = false;
  }
  // Verdicts are used even where no mark can be stored; the driver's data is not.
  host_.store_fails = true;
  const Start unmarked = start();
  EXPECT_EQ(unmarked.text, kFrench);
  EXPECT_EQ(unmarked.cases, 0u);
  EXPECT_EQ(unmarked.bytes, 0u);
}

TEST_F(ApiDeviceStore, AnUncleanEndDropsTheDriversData) {
  expect_cold(start(), "first");
  {
    // As it is when a process ends between opening and its first result.
    const lapilli_store store = host_.callbacks();
    lapilli_device_options options = lapilli_default_device_options();
    options.store = &store;
    lapilli_device* device = nullptr;
    ASSERT_EQ(lapilli_device_open(&options, &device), LAPILLI_OK) << lapilli_last_error();
    const auto then = host_.blobs;
    EXPECT_EQ(then.size(), 3u);
    lapilli_device_close(device);
    EXPECT_EQ(host_.blobs.size(), 2u);  // a clean one
    host_.blobs = then;
  }
  const Start next = start();
  EXPECT_EQ(next.text, kFrench);
  EXPECT_EQ(next.bytes, 0u);
  EXPECT_EQ(next.cases, 0u);  // verdicts are no data of the driver
  EXPECT_EQ(host_.blobs.size(), 2u);
  expect_warm(start(), "the one after it");
}

TEST_F(ApiDeviceStore, TwoDevicesAtOnce) {
  const lapilli::TempDirectory folder;
  lapilli::DeviceOptions options;
  options.cache_directory = folder.path() + "/kept";
  Start runs[2];
  for (int round = 0; round < 2; ++round) {
    std::thread other([&] { runs[1] = start_with(options); });
    runs[0] = start_with(options);
    other.join();
    for (const Start& made : runs) EXPECT_EQ(made.text, kFrench);
  }
  expect_warm(start_with(options), "afterwards");
}

TEST_F(ApiDeviceStore, AFolderThatCannotBe) {
  const lapilli::TempDirectory folder;
  lapilli::DeviceOptions options;
  options.cache_directory = folder.write("file", "") + "/kept";
  expect_cold(start_with(options), "first");
  expect_cold(start_with(options), "second");
}

TEST_F(ApiDeviceStore, LentThreadsMakePipelines) {
  static std::vector<uint32_t> asked;  // batches, each of so many
  lapilli_workers workers = lapilli_default_workers();
  workers.run = [](void*, uint32_t count, lapilli_task_function task, void* context) {
    asked.push_back(count);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < count; ++i) threads.emplace_back(task, context, i);
    for (std::thread& t : threads) t.join();
  };
  const lapilli_store store = host_.callbacks();
  lapilli::DeviceOptions options;
  options.store = &store;
  options.workers = &workers;
  expect_cold(start_with(options), "threads");
  EXPECT_THAT(asked, testing::Contains(testing::Gt(10u)));
  // Without the thread that loads they make all that the search needs before the weights come. A busy machine may cut a
  // plan otherwise than the run before, and need one more.
  asked.clear();
  expect_warm(start_with(options), "threads again");
  ASSERT_THAT(asked, testing::Not(testing::IsEmpty()));
  EXPECT_GT(asked[0], 10u);
  EXPECT_LT(std::accumulate(asked.begin() + 1, asked.end(), 0u), 6u) << "nothing was made ahead";
  EXPECT_EQ(host_.blobs.size(), 3u) << "verdicts, pipelines, and which are needed";
}

// Weights come while a lent thread makes what the first search of the run before needed.
TEST_F(ApiDeviceStore, LentThreadsMakePipelinesWhileAModelLoads) {
  static std::atomic<uint32_t> tasks{0};
  static const auto caller = std::this_thread::get_id();
  lapilli_workers workers = lapilli_default_workers();
  workers.run = [](void*, uint32_t count, lapilli_task_function task, void* context) {
    std::atomic<uint32_t> next{0};
    const auto work = [&] {
      for (uint32_t i = next++; i < count; i = next++) ++tasks, task(context, i);
    };
    std::thread other(work);
    if (std::this_thread::get_id() == caller) work();
    other.join();
  };
  const lapilli_store store = host_.callbacks();
  lapilli::DeviceOptions options;
  options.store = &store;
  options.workers = &workers;
  expect_cold(start_with(options), "nothing is known");
  const auto loaded = [&] {
    tasks = 0;
    const auto device = lapilli::Device::open(options).value();
    const auto model = lapilli::Model::load(device, LAPILLI_SOURCE_DIR "/models/en-fr");
    EXPECT_TRUE(model.ok());
    return tasks.load();
  };
  EXPECT_GT(loaded(), 10u);
  expect_warm(start_with(options), "known");
  // A load in pieces of time has frames to think of.
  tasks = 0;
  const auto device = lapilli::Device::open(options).value();
  auto loading = lapilli::Loading::start(device, LAPILLI_SOURCE_DIR "/models/en-fr").value();
  while (!loading.pump(1000).value()) {
  }
  EXPECT_TRUE(loading.take().ok());
  EXPECT_LT(tasks, 10u);
}

// Before any device is looked for.
TEST(ApiStore, ArgumentsAreChecked) {
  StoreHost host;
  lapilli_device* device = nullptr;
  lapilli_device_options options = lapilli_default_device_options();
  lapilli_store store = host.callbacks();
  const auto refused = [&](const char* part) {
    EXPECT_EQ(lapilli_device_open(&options, &device), LAPILLI_INVALID_ARGUMENT);
    EXPECT_TRUE(says(part)) << lapilli_last_error();
    EXPECT_EQ(device, nullptr);
  };
  options.store = &store;
  options.cache_directory = "somewhere";
  refused("one of them");
  options.cache_directory = "";
  store.load = nullptr;
  refused("lapilli_store.load is null");
  store = host.callbacks();
  store.store = nullptr;
  refused("lapilli_store.store is null");
  store = host.callbacks();
  store.struct_size = 0;
  refused("lapilli_store.struct_size is 0");
  options.store = nullptr;
  lapilli_workers workers = lapilli_default_workers();
  options.workers = &workers;
  refused("lapilli_workers.run is null");
  workers.struct_size = 0;
  refused("lapilli_workers.struct_size is 0");
}

TEST(ApiStore, NewerStructs) {
  struct {
    lapilli_store known;
    uint64_t further = 1;
  } newer;
  StoreHost host;
  newer.known = host.callbacks();
  newer.known.struct_size = sizeof newer;
  lapilli_device_options options = lapilli_default_device_options();
  options.store = &newer.known;
  lapilli_device* device = nullptr;
  EXPECT_EQ(lapilli_device_open(&options, &device), LAPILLI_UNSUPPORTED);
  EXPECT_TRUE(says("lapilli_store")) << lapilli_last_error();
}

}  // namespace
