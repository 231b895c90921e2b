// Threads that a host lends, well and badly: pools with and without the thread that asks, one after the other, tasks
// that are left or called twice, and tasks that throw.
#include "vulkan/device/lent_threads.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "vulkan/affine.spv.h"

namespace lapilli::vulkan {
namespace {

using testing::Each;

using Task = std::function<void(uint32_t)>;

void in_turn(uint32_t count, const Task& task) {
  for (uint32_t i = 0; i < count; ++i) task(i);
}
void on_others(uint32_t count, const Task& task) {
  std::vector<std::thread> all;
  for (uint32_t i = 0; i < count; ++i) all.emplace_back(task, i);
  for (auto& t : all) t.join();
}
void in_order_on_another(uint32_t count, const Task& task) { std::thread(in_turn, count, task).join(); }
// The thread that asks takes part; its turn comes first, as of a pool whose other threads are still asleep.
void with_one_more(uint32_t count, const Task& task) {
  std::atomic<uint32_t> next{1};
  std::thread other([&] {
    for (uint32_t i = next++; i < count; i = next++) task(i);
  });
  task(0);
  other.join();
}

TEST(LentThreads, ThereAreNoneWithoutAHost) {
  LentThreads none;
  EXPECT_FALSE(none.are_lent());
  EXPECT_FALSE(none.run(3, [](uint32_t) { FAIL() << "on which thread?"; }));
  int worked = 0;
  none.run_beside([&] { ++worked; }, 3, [](uint32_t) { FAIL() << "on which thread?"; });
  EXPECT_EQ(worked, 1);
}

TEST(LentThreads, EachTaskIsDoneOnce) {
  for (const Workers& host :
       std::vector<Workers>{in_turn, on_others, with_one_more, [](uint32_t count, const Task&task) {
                              in_turn(count + 5, task);
                              in_turn(count, task);
                            }}) {
    std::vector<std::atomic<int>> done(4);
    EXPECT_TRUE(LentThreads(host).run(4, [&](uint32_t index) { ++done.at(index); }));
    for (const auto& count : done) EXPECT_EQ(count, 1);
  }
}

TEST(LentThreads, ATaskHasNoFurtherOnes) {
  LentThreads threads(on_others);
  std::atomic<int> got{0};
  const auto nothing = [](uint32_t) {};
  threads.run(3, [&](uint32_t) { got += threads.run(2, nothing) ? 1 : 0; });
  EXPECT_EQ(got, 0);
  EXPECT_TRUE(threads.run(2, nothing));
}

TEST(LentThreads, ExceptionsPassTheHostBy) {
  bool returned = false;
  LentThreads threads([&](uint32_t count, const Task& task) {
    in_turn(count, task);
    returned = true;
  });
  int others = 0;
  const auto task = [&](uint32_t index) {
    if (index == 1) throw std::runtime_error("of a task");
    ++others;
  };
  EXPECT_THROW(threads.run(3, task), std::runtime_error);
  EXPECT_TRUE(returned);
  EXPECT_EQ(others, 2);
  EXPECT_THROW(threads.run_beside([] { throw std::runtime_error("of the work"); }, 1, [](uint32_t) {}),
               std::runtime_error);
  EXPECT_TRUE(threads.run(1, [](uint32_t) {})) << "they were never given back";
}

// A host that runs one batch at a time: who waits for his turn must not have what the others wait for.
TEST(LentThreads, NobodyWaitsForWhoWaitsForHim) {
  std::mutex turn;
  LentThreads threads([&](uint32_t count, const Task& task) {
    const std::lock_guard lock(turn);
    with_one_more(count, task);
  });
  const auto nothing = [](uint32_t) {};
  std::promise<bool> other;
  auto got = other.get_future();
  std::thread second;
  threads.run_beside(
      [&] {
        second = std::thread([&] { other.set_value(threads.run(2, nothing)); });
        EXPECT_EQ(got.wait_for(std::chrono::seconds(20)), std::future_status::ready) << "it waits for its turn";
      },
      2, nothing);
  second.join();
  EXPECT_FALSE(got.get()) << "work went on";
  int worked = 0;
  threads.run(1, [&](uint32_t) { std::thread([&] { threads.run_beside([&] { ++worked; }, 2, nothing); }).join(); });
  EXPECT_EQ(worked, 1) << "without them, as they are busy";
}

TEST(LentThreads, WorkIsDoneOnceByTheThreadThatAsks) {
  for (const Workers& host :
       std::vector<Workers>{in_turn, on_others, with_one_more, [](uint32_t, const Task&) {},
                            [](uint32_t count, const Task&task) { in_turn(count, task), in_turn(count, task); }}) {
    std::vector<std::thread::id> by;
    LentThreads(host).run_beside([&] { by.push_back(std::this_thread::get_id()); }, 5, [](uint32_t) {});
    EXPECT_THAT(by, testing::ElementsAre(std::this_thread::get_id()));
  }
}

TEST(LentThreads, TasksGoOnUntilTheWorkEnds) {
  std::atomic<uint32_t> made{0};
  std::promise<void> enough;
  LentThreads(with_one_more)
      .run_beside([&] { enough.get_future().wait(); }, 64,
                  [&](uint32_t index) {
                    EXPECT_EQ(index, made++);
                    if (index == 7) enough.set_value();
                    if (index >= 7) std::this_thread::sleep_for(std::chrono::milliseconds(20));
                  });
  EXPECT_GE(made, 8u);
  EXPECT_LT(made, 64u) << "nobody looked whether the work had ended";
  made = 0;
  LentThreads(in_turn).run_beside([] {}, 4, [&](uint32_t) { ++made; });
  EXPECT_EQ(made, 0u) << "what is left is for who needs it, with all threads";
}

// Pipelines that are made ahead of time.
class DevicePipelinesAhead : public testing::Test {
 protected:
  void SetUp() override { counting::reset(); }
  void open(const Workers& threads) {
    DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    options.workers = threads;
    LAPILLI_ASSERT_VALUE(device_, Device::create(options));
    for (uint32_t i = 0; i < 4; ++i) requests_.push_back({spv_affine, std::size(spv_affine), "affine", {i + 1, 1}});
  }
  void TearDown() override {
    device_.reset();
    EXPECT_THAT(counting::living(), testing::IsEmpty());
    counting::reset();
  }
  // By other threads, before the work begins; or, by those of `threads`, beside it until so many were asked of the
  // driver.
  void make_first() { make_beside(0); }
  void make_beside(uint64_t least) {
    device_->make_pipelines_beside(
        requests_,
        [&] {
          const auto since = std::chrono::steady_clock::now();
          while (counting::calls("vkCreateComputePipelines") < least &&
                 std::chrono::steady_clock::now() - since < std::chrono::seconds(20))
            std::this_thread::yield();
        },
        [&] { return wanted_; });
  }
  std::shared_ptr<Device> device_;
  std::vector<PipelineRequest> requests_;
  bool wanted_ = true;
};

TEST_F(DevicePipelinesAhead, AreThereForWhoAsks) {
  open(with_one_more);
  make_beside(4);
  EXPECT_EQ(device_->counters().pipelines_created, 4u);
  LAPILLI_ASSERT_VALUE(const auto made, device_->pipelines(requests_));
  EXPECT_THAT(made, Each(testing::NotNull()));
  make_beside(4);
  EXPECT_EQ(counting::calls("vkCreateComputePipelines"), 4u);
}

TEST_F(DevicePipelinesAhead, AreMadeOnceBesideWhoAsksForThem) {
  open(with_one_more);
  device_->make_pipelines_beside(
      requests_, [&] { LAPILLI_EXPECT_OK(device_->pipelines(requests_)); }, [] { return true; });
  EXPECT_EQ(device_->counters().pipelines_created, 4u);
  EXPECT_EQ(counting::living()["Pipeline"], 4);
}

TEST_F(DevicePipelinesAhead, RefusalsAreSaidToWhoAsks) {
  open(in_order_on_another);
  counting::fail("vkCreateComputePipelines", VK_ERROR_UNKNOWN, 1, 2);  // tried twice
  make_first();
  EXPECT_EQ(device_->counters().pipelines_created, 3u);
  const auto refused = device_->pipelines(requests_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::no_device);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("affine"));
}

TEST_F(DevicePipelinesAhead, WhatWasNotToBeHadIsTriedAgain) {
  open(in_order_on_another);
  requests_.insert(requests_.begin(), {nullptr, 0, "no SPIR-V", {}});
  counting::fail("vkCreateComputePipelines", VK_ERROR_OUT_OF_DEVICE_MEMORY, 1, 2);
  make_first();
  EXPECT_EQ(device_->counters().pipelines_created, 3u);
  requests_.erase(requests_.begin());
  LAPILLI_EXPECT_OK(device_->pipelines(requests_));
  EXPECT_EQ(device_->counters().pipelines_created, 4u);
}

TEST_F(DevicePipelinesAhead, NotOfALostDevice) {
  open(in_order_on_another);
  counting::fail("vkCreateComputePipelines", VK_ERROR_DEVICE_LOST, 2);
  make_first();
  EXPECT_EQ(device_->health().error().code, ErrorCode::device_lost);
  EXPECT_EQ(counting::calls("vkCreateComputePipelines"), 2u);
}

TEST_F(DevicePipelinesAhead, NotWhilePausedAndNotWhenUnwanted) {
  open(in_order_on_another);
  device_->pause();
  make_first();
  device_->resume();
  wanted_ = false;
  make_first();
  EXPECT_EQ(counting::calls("vkCreateComputePipelines"), 0u);
  wanted_ = true;
  make_first();
  EXPECT_EQ(counting::calls("vkCreateComputePipelines"), 4u);
}

}  // namespace
}  // namespace lapilli::vulkan
