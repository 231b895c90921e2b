// Several threads prove kernels of one device: who needs a kernel that another one is testing waits for the verdict,
// who needs none does not, and a test that fails or throws leaves the kernel to the next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

#include "ops/core/registry.hpp"
#include "ops/rows/basic.hpp"
#include "runtime/check/self_test.hpp"
#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"

namespace lapilli {
namespace {

using namespace std::chrono_literals;
using Compiled = Result<std::shared_ptr<const Plan>>;

constexpr auto kLong = 60s;
constexpr auto kShort = 100ms;  // in which what need not wait would be done

// One activation of a kind of its own, thus one kernel of its own.
graph::Graph one_node(Activation activation) {
  graph::Graph g;
  graph::Tensor x;
  x.name = "x";
  x.space = graph::Space::state;
  x.cols = x.ld = 64;
  const auto id = g.add_tensor(x);
  ops::activation(g, "activation", id, activation);
  return g;
}

template <class Condition>
bool eventually(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

class DeviceSelfTestThreads : public testing::Test {
 protected:
  void SetUp() override {
    counting::reset();
    vulkan::DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
    self_test_ = SelfTest::of(*device_);
    LAPILLI_ASSERT_OK(compile_tested(device_, one_node(Activation::relu)));
  }
  void TearDown() override {
    counting::freeze_progress(false);  // where an assertion has failed
    threads_.clear();                  // joins
    device_.reset();
    counting::reset();
  }
  std::shared_future<Compiled> compile(graph::Graph graph) {
    const auto work = [this, graph = std::move(graph)] { return compile_tested(device_, graph); };
    return threads_.emplace_back(std::async(std::launch::async, work).share());
  }
  // One that is held inside of a wait for the device.
  std::shared_future<Compiled> compile_held(graph::Graph graph) {
    counting::freeze_progress(true);
    const uint64_t before = counting::calls("(a wait timed out)");
    auto held = compile(std::move(graph));
    EXPECT_TRUE(eventually([&] { return counting::calls("(a wait timed out)") > before; }));
    return held;
  }

  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<SelfTest> self_test_;
  std::vector<std::shared_future<Compiled>> threads_;
};

TEST_F(DeviceSelfTestThreads, ProvenKernelsDoNotWaitForATestInProgress) {
  const size_t kernels = self_test_->kernels();
  const auto held = compile_held(one_node(Activation::gelu_erf));
  const auto proven = compile(one_node(Activation::relu));
  auto asked = std::async(std::launch::async, [&] {
    return self_test_->kernels() + self_test_->disagreements().size() + self_test_->unproven().size();
  });
  EXPECT_EQ(proven.wait_for(kLong), std::future_status::ready);
  EXPECT_EQ(asked.wait_for(kLong), std::future_status::ready);
  EXPECT_EQ(held.wait_for(0s), std::future_status::timeout);
  counting::freeze_progress(false);
  LAPILLI_EXPECT_OK(proven.get());
  LAPILLI_EXPECT_OK(held.get());
  EXPECT_EQ(asked.get(), kernels);
  EXPECT_EQ(self_test_->kernels(), kernels + 1);
}

TEST_F(DeviceSelfTestThreads, WhoNeedsTheSameKernelWaitsForTheVerdict) {
  const size_t kernels = self_test_->kernels();
  const auto held = compile_held(one_node(Activation::gelu_erf));
  const auto waiting = compile(one_node(Activation::gelu_erf));
  EXPECT_EQ(waiting.wait_for(kShort), std::future_status::timeout);
  counting::freeze_progress(false);
  LAPILLI_EXPECT_OK(held.get());
  LAPILLI_EXPECT_OK(waiting.get());
  EXPECT_EQ(self_test_->kernels(), kernels + 1);  // tested once
}

// Both wait for the device: whose wait fails has the error, and the other one gets the verdict.
TEST_F(DeviceSelfTestThreads, AFailedWaitLeavesTheKernelToTheOther) {
  const size_t kernels = self_test_->kernels();
  const auto held = compile_held(one_node(Activation::gelu_erf));
  const auto waiting = compile(one_node(Activation::gelu_erf));
  EXPECT_EQ(waiting.wait_for(kShort), std::future_status::timeout);
  counting::fail(device_->caps().timeline_semaphore ? "vkWaitSemaphores" : "vkWaitForFences",
                 VK_ERROR_OUT_OF_DEVICE_MEMORY);
  ASSERT_TRUE(eventually([] { return counting::failed(); }));
  counting::freeze_progress(false);
  const bool first = !held.get().ok();
  const Compiled &failed = first ? held.get() : waiting.get(), &other = first ? waiting.get() : held.get();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::out_of_memory);
  LAPILLI_EXPECT_OK(other);
  EXPECT_EQ(self_test_->kernels(), kernels + 1);
}

// The cases of "activation", which the first time throw once they are let go.
struct Throwing {
  std::atomic<bool> thrown = false;
  std::promise<void> reached, let_go;
};
Throwing* throwing = nullptr;
std::vector<OpCase> throwing_cases() {
  if (!throwing->thrown.exchange(true)) {
    throwing->reached.set_value();
    throwing->let_go.get_future().wait();
    throw std::runtime_error("no cases");
  }
  return activation_op.cases();
}

TEST_F(DeviceSelfTestThreads, ATestThatThrowsLeavesTheKernelToWhoWaits) {
  Throwing state;
  throwing = &state;
  OpDef op = activation_op;
  op.cases = throwing_cases;
  const graph::Graph plain = one_node(Activation::tanh);
  graph::Graph graph;
  for (const graph::Tensor& t : plain.tensors()) graph.add_tensor(t);
  graph::Node node = plain.node(0);
  node.op = &op;
  graph.add_node(std::move(node));

  const auto throws = compile(graph);
  EXPECT_EQ(state.reached.get_future().wait_for(kLong), std::future_status::ready);
  const auto waiting = compile(graph);
  EXPECT_EQ(waiting.wait_for(kShort), std::future_status::timeout);
  state.let_go.set_value();
  EXPECT_THROW((void)throws.get(), std::runtime_error);
  LAPILLI_EXPECT_OK(waiting.get());
  threads_.clear();
}

TEST_F(DeviceSelfTestThreads, ManyAtOnceTestEachKernelOnce) {
  const size_t kernels = self_test_->kernels();
  const Activation kinds[] = {Activation::gelu_erf, Activation::tanh, Activation::silu};
  for (uint32_t i = 0; i < 12; ++i) {
    graph::Graph g = one_node(kinds[i % 3]);
    ops::activation(g, "second", 0, kinds[i / 3 % 3]);
    compile(std::move(g));
  }
  for (const auto& one : threads_) LAPILLI_EXPECT_OK(one.get());
  EXPECT_EQ(self_test_->kernels(), kernels + 3);
}

}  // namespace
}  // namespace lapilli
