// The pipelines that are kept for the next run: those that the first search of a run needs, where there are threads to
// make them.
#include "runtime/check/expected_pipelines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ops/core/shader_table.hpp"
#include "ops/rows/basic.hpp"
#include "runtime/check/self_test.hpp"
#include "support/fixtures.hpp"
#include "support/memory_store.hpp"

namespace lapilli {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const PlannedPipeline kOne{static_cast<ShaderId>(0), {}};
const PlannedPipeline kOther{static_cast<ShaderId>(3), {1, 0xffffffff, 7}};

TEST(RuntimeExpectedPipelines, ComeBackInOrder) {
  const PipelinesByNetwork expected = {{0, {}}, {7, {kOther}}, {0xfedcba9876543210, {kOther, kOne}}};
  EXPECT_EQ(expected_pipelines_of(blob_of(expected)), expected);
  EXPECT_THAT(expected_pipelines_of(blob_of(PipelinesByNetwork())), IsEmpty());
}

TEST(RuntimeExpectedPipelines, WhatIsNoneIsNone) {
  const std::string last = std::to_string(static_cast<uint32_t>(ShaderId::count));
  std::string many = "{";
  for (int i = 0; i < 65; ++i) many += (i ? ",\"" : "\"") + std::to_string(i) + "\":[[0]]";
  std::string long_list = "{\"1\":[[0]";
  for (int i = 0; i < 256; ++i) long_list += ",[0]";
  for (const std::string& text : std::vector<std::string>{"",
                                                          "{",
                                                          "null",
                                                          "7",
                                                          "[]",
                                                          "{\"1\":7}",
                                                          "{\"1\":[7]}",
                                                          "{\"1\":[[]]}",
                                                          "{\"1\":[[-1]]}",
                                                          "{\"1\":[[" + last + "]]}",
                                                          "{\"1\":[[0,4294967296]]}",
                                                          "{\"1\":[[0,1.5]]}",
                                                          "{\"x\":[[0]]}",
                                                          "{\"\":[[0]]}",
                                                          "{\"0x1\":[[0]]}",
                                                          "{\"11111111111111111\":[[0]]}",
                                                          std::string(5000, '['),
                                                          "\xff\xff",
                                                          many + "}",
                                                          long_list + "]}"})
    EXPECT_THAT(expected_pipelines_of(testing_support::bytes_of_text(text)), IsEmpty()) << text;
  const Blob whole = blob_of(PipelinesByNetwork{{7, {kOther, kOne}}});
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(expected_pipelines_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}), IsEmpty());
}

// A run of a program, with what an earlier one kept.
class DeviceExpectedPipelines : public testing::Test {
 protected:
  ExpectedPipelines& begin_run(bool threads = true) {
    vulkan::DeviceOptions options;
    options.keep = {store_, shaders_checksum()};
    if (threads) options.workers = [](uint32_t, const auto&) {};
    device_.reset();
    auto made = vulkan::Device::create(options);
    EXPECT_TRUE(made.ok());
    device_ = std::move(made).value();
    return *ExpectedPipelines::of(*device_);
  }
  std::shared_ptr<testing_support::MemoryStore> store_ = std::make_shared<testing_support::MemoryStore>();
  std::shared_ptr<vulkan::Device> device_;
};

TEST_F(DeviceExpectedPipelines, TheFirstSearchOfARunCounts) {
  auto* run = &begin_run();
  EXPECT_THAT(run->find(1), IsEmpty());
  run->note(1, std::vector{kOne, kOther, kOne});
  run->note(1, std::vector{kOther});
  run->note(2, std::vector{kOther});
  EXPECT_THAT(run->find(1), testing::ElementsAre(kOne, kOther));
  keep_between_runs(*device_);
  run = &begin_run();
  EXPECT_THAT(run->find(1), testing::ElementsAre(kOne, kOther));
  EXPECT_THAT(run->find(2), testing::ElementsAre(kOther));
  EXPECT_THAT(run->find(3), IsEmpty());
  // The same again: nothing is written.
  const int saves = store_->saves;
  run->note(1, std::vector{kOne, kOther});
  keep_between_runs(*device_);
  EXPECT_EQ(store_->saves, saves);
  // Others: the last run's.
  run = &begin_run();
  run->note(1, std::vector{kOther});
  keep_between_runs(*device_);
  EXPECT_THAT(begin_run().find(1), testing::ElementsAre(kOther));
}

TEST_F(DeviceExpectedPipelines, NothingIsKeptWhereNobodyMakesThem) {
  begin_run(false).note(1, std::vector{kOne});
  keep_between_runs(*device_);
  EXPECT_THAT(store_->blobs, IsEmpty());
  EXPECT_THAT(begin_run().find(1), IsEmpty());
}

TEST_F(DeviceExpectedPipelines, ManyNetworksAreNotAllRemembered) {
  auto& run = begin_run();
  for (uint64_t network = 1; network <= 200; ++network) run.note(network, std::vector{kOne});
  EXPECT_THAT(run.find(200), SizeIs(1)) << "the last one";
  uint64_t known = 0;
  for (uint64_t network = 1; network <= 200; ++network) known += run.find(network).size();
  EXPECT_EQ(known, 64u);
  keep_between_runs(*device_);
  EXPECT_THAT(begin_run().find(200), SizeIs(1));
}

// Pipelines of a blob are made without a trial only if their kernels were tested here.
TEST_F(DeviceExpectedPipelines, OnlyTestedKernelsAreToBeMade) {
  begin_run();
  const auto test = SelfTest::of(*device_);
  EXPECT_THAT(test->tested(std::vector{kOne, kOther}), IsEmpty());
  graph::Graph g;
  graph::Tensor x;
  x.name = "x";
  x.space = graph::Space::state;
  x.cols = x.ld = 64;
  ops::activation(g, "activation", g.add_tensor(x), Activation::relu);
  LAPILLI_ASSERT_VALUE(const auto plan, compile_tested(device_, g));
  auto asked = plan->pipelines;
  asked.insert(asked.begin(), kOther);
  EXPECT_EQ(test->tested(asked), plan->pipelines);
}

}  // namespace
}  // namespace lapilli
