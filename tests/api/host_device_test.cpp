// lapilli_device_adopt through the C interface: what is refused, and models that run through a host's queue, its submit
// callback and its command buffers, with the ids of a device of Lapilli's own.
#include "support/host_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/last_error.hpp"
#include "lapilli/lapilli.h"
#include "support/counting_vulkan.hpp"

namespace {

using lapilli::test::says;

using lapilli::counting::HostDevice;
namespace counting = lapilli::counting;

TEST(ApiHost, WrongCalls) {
  lapilli_device* device = reinterpret_cast<lapilli_device*>(16);
  lapilli_host_device host = lapilli_default_host_device();
  EXPECT_EQ(lapilli_device_adopt(nullptr, nullptr, &device), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(device, nullptr);
  EXPECT_TRUE(says("host is null"));
  EXPECT_EQ(lapilli_device_adopt(&host, nullptr, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_device_adopt(&host, nullptr, &device), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("vkGetInstanceProcAddr is missing; the VkInstance")) << lapilli_last_error();
  host.extension_count = 1;
  EXPECT_EQ(lapilli_device_adopt(&host, nullptr, &device), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("1 extensions at a null pointer")) << lapilli_last_error();
  const char* const names[] = {nullptr};
  host.extensions = names;
  EXPECT_EQ(lapilli_device_adopt(&host, nullptr, &device), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("extension 0 is null")) << lapilli_last_error();
  host.struct_size = 0;
  EXPECT_EQ(lapilli_device_adopt(&host, nullptr, &device), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("sizeof(lapilli_host_device)")) << lapilli_last_error();

  lapilli_requirements needs{};
  needs.struct_size = sizeof needs;
  EXPECT_EQ(lapilli_device_requirements(nullptr, nullptr, nullptr, &needs), LAPILLI_INVALID_ARGUMENT);
  lapilli_appended appended{};
  EXPECT_EQ(lapilli_device_append(nullptr, nullptr, 1, &appended), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_device_completed(nullptr, 1), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_device_dropped(nullptr, 1), LAPILLI_INVALID_ARGUMENT);
  lapilli_submission_done(nullptr, 0);
}

// A program's structs have no bytes that are no fields.
static_assert(sizeof(lapilli_requirements) == offsetof(lapilli_requirements, extension_count) + sizeof(size_t));
static_assert(sizeof(lapilli_host_device) == offsetof(lapilli_host_device, submit) + sizeof(lapilli_submit_function));
static_assert(sizeof(lapilli_submit_info) == offsetof(lapilli_submit_info, submission) + sizeof(void*));
static_assert(sizeof(lapilli_appended) == offsetof(lapilli_appended, expected_us) + sizeof(uint64_t));

TEST(ApiHostDevice, OptionsOfAnOwnDevice) {
  lapilli_device_options options = lapilli_default_device_options();
  lapilli_device* device = nullptr;
  options.refuse_cpu = 1;
  options.select = "0";  // the drivers that tests run on are CPU drivers
  EXPECT_EQ(lapilli_device_open(&options, &device), LAPILLI_NO_DEVICE);
  EXPECT_TRUE(says("refuse_cpu")) << lapilli_last_error();
  options = lapilli_default_device_options();
  options.low_priority = options.debug_names = options.ignore_environment = 1;
  EXPECT_EQ(lapilli_device_open(&options, &device), LAPILLI_OK) << lapilli_last_error();
  lapilli_device_close(device);
}

// ---- a host
// -----------------------------------------------------------------------------------------------------------

struct Handle {
  void operator()(lapilli_device* d) const { lapilli_device_close(d); }
  void operator()(lapilli_model* m) const { lapilli_model_free(m); }
  void operator()(lapilli_result* r) const { lapilli_result_free(r); }
};
using Device = std::unique_ptr<lapilli_device, Handle>;
using Model = std::unique_ptr<lapilli_model, Handle>;
using Ids = std::vector<int32_t>;

// Two models of different families, each with an input, and the ids that it gives.
struct Task {
  const char* model;
  Ids source;
};
const Task kTasks[] = {{LAPILLI_SOURCE_DIR "/models/en-fr", {463, 30, 16, 975, 23, 0}},
                       {LAPILLI_SOURCE_DIR "/tests/data/models/t5/model", {5, 6, 7, 1}}};

Model load(lapilli_device* device, const Task& task) {
  lapilli_model* model = nullptr;
  EXPECT_EQ(lapilli_model_load(device, task.model, &model), LAPILLI_OK) << lapilli_last_error();
  return Model(model);
}

Ids run(lapilli_model* model, const Task& task, lapilli_status expected = LAPILLI_OK) {
  const lapilli_input input = lapilli_tokens(task.source.data(), task.source.size());
  lapilli_options options = lapilli_default_options();
  options.max_new_tokens = 12;
  options.num_beams = 2;
  lapilli_result* made = nullptr;
  EXPECT_EQ(lapilli_generate(model, &input, 1, &options, &made), expected) << lapilli_last_error();
  const std::unique_ptr<lapilli_result, Handle> result(made);
  lapilli_sequence best{};
  best.struct_size = sizeof best;
  if (!made || lapilli_result_get(made, 0, 0, &best) != LAPILLI_OK) return {};
  return {best.ids.ids, best.ids.ids + best.ids.count};
}

// The capabilities of a device of Lapilli's own, asked once for each mask.
const std::vector<Ids>& own_ids(const char* caps) {
  static std::map<std::string, std::vector<Ids>> known;
  std::vector<Ids>& all = known[caps];
  if (!all.empty()) return all;
  lapilli_device_options options = lapilli_default_device_options();
  options.caps = caps;
  lapilli_device* made = nullptr;
  EXPECT_EQ(lapilli_device_open(&options, &made), LAPILLI_OK) << lapilli_last_error();
  const Device device(made);
  for (const Task& task : kTasks) all.push_back(run(load(made, task).get(), task));
  return all;
}

// The render thread: takes turns until it goes.
class RenderThread {
 public:
  explicit RenderThread(std::function<void()> turn)
      : thread_([this, turn = std::move(turn)] {
          while (!stop_) {
            turn();
            std::this_thread::sleep_for(std::chrono::microseconds(100));
          }
          turn();
        }) {}
  ~RenderThread() {
    stop_ = true;
    thread_.join();
  }
  RenderThread(const RenderThread&) = delete;
  RenderThread& operator=(const RenderThread&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A host in C: what stands behind `user`.
struct Host {
  std::unique_ptr<HostDevice> vulkan;
  std::vector<const char*> names;
  lapilli::vulkan::AdoptedDevice handles;
  std::mutex queue, mutex;
  std::deque<lapilli_submit_info> waiting;
  std::atomic<int32_t> result{0};  // what is said instead of submitting, unless it is 0

  Host()
      : vulkan(HostDevice::create({.get_instance_proc_addr = counting::get_instance_proc_addr(), .features = true})) {
    if (!vulkan) return;
    handles = vulkan->handles();
    for (const std::string& name : handles.device_extensions) names.push_back(name.c_str());
  }
  lapilli_host_device described() {
    lapilli_host_device h = lapilli_default_host_device();
    h.api_version = handles.api_version;
    h.get_instance_proc_addr = handles.get_instance_proc_addr;
    h.instance = handles.instance;
    h.physical_device = handles.physical_device;
    h.device = handles.device;
    h.queue = handles.queue;
    h.queue_family = handles.queue_family;
    h.extensions = names.data();
    h.extension_count = names.size();
    h.timeline_semaphore = handles.timeline_semaphore;
    h.storage_16bit = handles.storage_16bit;
    h.shader_float16 = handles.arithmetic_fp16;
    h.storage_8bit = handles.storage_8bit;
    h.shader_int8 = handles.arithmetic_int8;
    h.integer_dot_product = handles.integer_dot;
    h.subgroup_size_control = handles.subgroup_size_control;
    h.user = this;
    return h;
  }
  static void lock(void* user) { static_cast<Host*>(user)->queue.lock(); }
  static void unlock(void* user) { static_cast<Host*>(user)->queue.unlock(); }
  static void keep(void* user, const lapilli_submit_info* info) {
    Host& host = *static_cast<Host*>(user);
    EXPECT_EQ(info->struct_size, sizeof *info);
    const std::lock_guard lock(host.mutex);
    host.waiting.push_back(*info);
  }
  // All that was kept, in order.
  void serve() {
    while (true) {
      lapilli_submit_info info;
      {
        const std::lock_guard lock(mutex);
        if (waiting.empty()) return;
        info = waiting.front();
        waiting.pop_front();
      }
      const int32_t refused = result;
      const int32_t said = refused ? refused : vulkan->submit(info.submit_info, info.fence);
      lapilli_submission_done(info.submission, said);
    }
  }
  // A frame with at most so much of what waits.
  void frame(lapilli_device* device, uint64_t budget_us) {
    lapilli_appended appended{};
    appended.struct_size = sizeof appended;
    const VkResult r = vulkan->frame([&](VkCommandBuffer into) {
      EXPECT_EQ(lapilli_device_append(device, into, budget_us, &appended), LAPILLI_OK) << lapilli_last_error();
    });
    EXPECT_EQ(r, VK_SUCCESS);
    if (appended.serial == 0) return;
    EXPECT_EQ(lapilli_device_completed(device, appended.serial), LAPILLI_OK) << lapilli_last_error();
  }
};

// By mask: with a timeline semaphore where there is one, and with fences.
class ApiHostDevices : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    lapilli_set_log(LAPILLI_LOG_WARNING, nullptr, nullptr);
    own_ = own_ids(GetParam());
    for (const Ids& ids : own_) ASSERT_FALSE(ids.empty());
    counting::reset();
    host_ = std::make_unique<Host>();
    ASSERT_TRUE(host_->vulkan);
    before_ = counting::living();
  }
  void TearDown() override {
    EXPECT_EQ(counting::living(), before_);
    EXPECT_EQ(counting::calls("vkDestroyDevice"), 0u);
    EXPECT_EQ(counting::calls("vkDestroyInstance"), 0u);
    host_.reset();
    EXPECT_TRUE(counting::living().empty());
    counting::reset();
  }
  Device adopt(const lapilli_host_device& described, double timeout_s = 0) {
    lapilli_device_options options = lapilli_default_device_options();
    options.caps = GetParam();
    options.wait_timeout_s = timeout_s;
    lapilli_device* device = nullptr;
    EXPECT_EQ(lapilli_device_adopt(&described, &options, &device), LAPILLI_OK) << lapilli_last_error();
    return Device(device);
  }
  // Two models, and three threads that use them at once.
  void run_all(lapilli_device* device) {
    const Model models[] = {load(device, kTasks[0]), load(device, kTasks[1])};
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = 0; i < 2; ++i) {
          const size_t which = (t + i) % 2;
          EXPECT_EQ(run(models[which].get(), kTasks[which]), own_[which]) << t << " " << i;
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  std::vector<Ids> own_;
  std::unique_ptr<Host> host_;
  std::map<std::string, int64_t> before_;
};

TEST_P(ApiHostDevices, ByItsQueue) {
  lapilli_host_device described = host_->described();
  described.lock_queue = &Host::lock;
  described.unlock_queue = &Host::unlock;
  const Device device = adopt(described);
  ASSERT_TRUE(device);
  run_all(device.get());
}

TEST_P(ApiHostDevices, ByASubmitCallbackThatIsServedLate) {
  lapilli_host_device described = host_->described();
  described.queue = nullptr;
  described.submit = &Host::keep;
  RenderThread render([&] { host_->serve(); });
  const Device device = adopt(described);
  ASSERT_TRUE(device);
  run_all(device.get());
}

TEST_P(ApiHostDevices, ByCommandBuffersOfItsFrames) {
  lapilli_host_device described = host_->described();
  described.queue = nullptr;
  described.append = 1;
  const Device device = adopt(described);
  ASSERT_TRUE(device);
  uint64_t frames = 0;
  RenderThread render([&] { host_->frame(device.get(), ++frames % 2 ? LAPILLI_UNLIMITED : 1000); });
  run_all(device.get());
}

TEST_P(ApiHostDevices, AnErrorOfTheHostEndsTheJobs) {
  lapilli_host_device described = host_->described();
  described.submit = &Host::keep;
  RenderThread render([&] { host_->serve(); });
  const Device device = adopt(described);
  ASSERT_TRUE(device);
  const Model model = load(device.get(), kTasks[1]);
  EXPECT_EQ(run(model.get(), kTasks[1]), own_[1]);
  host_->result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(run(model.get(), kTasks[1], LAPILLI_DEVICE_LOST).empty());
    EXPECT_TRUE(says("VK_ERROR_OUT_OF_DEVICE_MEMORY") && says("adopt it again")) << lapilli_last_error();
  }
}

TEST_P(ApiHostDevices, OnTheThreadOfTheFramesNothingIsWaitedForEver) {
  lapilli_host_device described = host_->described();
  described.append = 1;
  const Device device = adopt(described, 0.05);
  ASSERT_TRUE(device);
  lapilli_model* model = nullptr;
  EXPECT_EQ(lapilli_model_load(device.get(), kTasks[1].model, &model), LAPILLI_TIMEOUT);
  EXPECT_TRUE(says("lapilli_device_append") && says("another thread")) << lapilli_last_error();
  EXPECT_EQ(model, nullptr);
}

INSTANTIATE_TEST_SUITE_P(Progress, ApiHostDevices, testing::Values("full", "staging,no-timeline"),
                         [](const auto& test) { return std::string(test.index == 0 ? "timeline" : "fences"); });

TEST(ApiHostDevice, SaysWhatToMakeItWith) {
  const auto host = std::make_unique<Host>();
  ASSERT_TRUE(host->vulkan);
  const auto& h = host->handles;
  lapilli_requirements needs{};
  EXPECT_EQ(lapilli_device_requirements(h.get_instance_proc_addr, h.instance, h.physical_device, &needs),
            LAPILLI_INVALID_ARGUMENT);
  needs.struct_size = sizeof needs;
  ASSERT_EQ(lapilli_device_requirements(h.get_instance_proc_addr, h.instance, h.physical_device, &needs), LAPILLI_OK)
      << lapilli_last_error();
  EXPECT_TRUE(needs.usable);
  EXPECT_EQ(needs.refusal, nullptr);
  EXPECT_EQ(needs.api_version, VK_API_VERSION_1_1);
  EXPECT_EQ(needs.queue_family, h.queue_family);
  EXPECT_EQ(needs.timeline_semaphore != 0, h.timeline_semaphore);
  EXPECT_EQ(needs.shader_int8 != 0, h.arithmetic_int8);
  std::vector<std::string> names(needs.extensions, needs.extensions + needs.extension_count);
  EXPECT_EQ(names, h.device_extensions);
}

TEST(ApiHostDevice, EachMissingFeatureIsRefusedByName) {
  const auto host = std::make_unique<Host>();
  ASSERT_TRUE(host->vulkan);
  const auto refused = [&](const char* what, auto change) {
    lapilli_host_device described = host->described();
    described.extension_count = 0;
    for (int32_t* feature :
         {&described.timeline_semaphore, &described.storage_16bit, &described.shader_float16, &described.storage_8bit,
          &described.shader_int8, &described.integer_dot_product, &described.subgroup_size_control})
      *feature = 0;
    change(described);
    lapilli_device* device = nullptr;
    EXPECT_EQ(lapilli_device_adopt(&described, nullptr, &device), LAPILLI_NO_DEVICE) << what;
    EXPECT_TRUE(says(what)) << lapilli_last_error();
  };
  refused("timelineSemaphore", [](lapilli_host_device& d) { d.timeline_semaphore = 1; });
  refused("storageBuffer8BitAccess", [](lapilli_host_device& d) { d.storage_8bit = 1; });
  refused("shaderFloat16", [](lapilli_host_device& d) { d.shader_float16 = 1; });
  refused("shaderInt8", [](lapilli_host_device& d) { d.shader_int8 = 1; });
  refused("shaderIntegerDotProduct", [](lapilli_host_device& d) { d.integer_dot_product = 1; });
  refused("subgroupSizeControl", [](lapilli_host_device& d) { d.subgroup_size_control = 1; });
  refused("made for Vulkan 1.0", [](lapilli_host_device& d) { d.api_version = 0; });
  refused("queue family 77", [](lapilli_host_device& d) { d.queue_family = 77; });
}

}  // namespace
