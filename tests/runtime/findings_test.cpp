// Verdicts that are kept between runs: nothing is tested twice on the same driver, and what was found wrong stays so.
#include "runtime/check/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/shader_table.hpp"
#include "ops/rows/basic.hpp"
#include "runtime/check/self_test.hpp"
#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "support/memory_store.hpp"

namespace lapilli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Findings some_findings() {
  Findings f;
  f.tested = {{static_cast<ShaderId>(0), {}}, {static_cast<ShaderId>(3), {1, 0xffffffff, 7}}};
  f.unproven = {"one 1 2"};
  f.disagreements = {{"matmul", "r4", "case \"a\":\n1 instead of 2 \xff", false}, {"softmax", "any", "", true}};
  return f;
}

TEST(RuntimeFindings, ComeBackAsTheyWere) {
  const Findings f = some_findings(), back = findings_of(blob_of(f));
  EXPECT_EQ(back.tested, f.tested);
  EXPECT_EQ(back.unproven, f.unproven);
  ASSERT_THAT(back.disagreements, SizeIs(2));
  EXPECT_EQ(back.disagreements[0].op, "matmul");
  EXPECT_EQ(back.disagreements[0].variant, "r4");
  EXPECT_THAT(back.disagreements[0].problem, HasSubstr("\n1 instead of 2"));
  EXPECT_FALSE(back.disagreements[0].floor);
  EXPECT_TRUE(back.disagreements[1].floor);
  EXPECT_EQ(back.no_groups, std::nullopt);
  EXPECT_EQ(findings_of(blob_of(Findings())).size(), 0u);
  for (const char* problem : {"", "a dispatch of no groups wrote something"}) {
    Findings tried = some_findings();
    tried.no_groups = problem;
    EXPECT_EQ(findings_of(blob_of(tried)).no_groups, problem);
    EXPECT_EQ(tried.size(), f.size() + 1);
  }
}

TEST(RuntimeFindings, WhatIsNoneIsNone) {
  const std::string last = std::to_string(static_cast<uint32_t>(ShaderId::count));
  for (const std::string& text : std::vector<std::string>{
           "", "{", "null", "7", "[]", "{\"tested\":7}", "{\"tested\":[7]}", "{\"tested\":[[]]}", "{\"tested\":[[-1]]}",
           "{\"tested\":[[" + last + "]]}", "{\"tested\":[[0,4294967296]]}", "{\"tested\":[[0,1.5]]}",
           "{\"disagreements\":[[\"a\",\"b\",\"c\"]]}", "{\"disagreements\":[[1,\"b\",\"c\",true]]}",
           "{\"disagreements\":[[\"a\",\"b\",\"c\",1]]}", "{\"unproven\":[7]}", "{\"no_groups\":true}",
           std::string(5000, '['), "\xff\xff"})
    EXPECT_EQ(findings_of(testing_support::bytes_of_text(text)).size(), 0u) << text;
  const Blob whole = blob_of(some_findings());
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_EQ(findings_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}).size(), 0u) << length;
}

// A run of a program on one device, with what an earlier one kept.
class DeviceFindings : public testing::Test {
 protected:
  void SetUp() override {
    counting::reset();
    set_log_hook([this](LogLevel level, const std::string& text) {
      if (level == LogLevel::warning) warnings_.push_back(text);
    });
  }
  void TearDown() override {
    set_log_hook({});
    device_.reset();
    counting::reset();
  }
  static graph::Graph one_node(Activation activation) {
    graph::Graph g;
    graph::Tensor x;
    x.name = "x";
    x.space = graph::Space::state;
    x.cols = x.ld = 64;
    ops::activation(g, "activation", g.add_tensor(x), activation);
    return g;
  }
  // The cases that this run makes.
  uint64_t run(Activation activation, bool keeps = true) {
    device_.reset();
    warnings_.clear();
    vulkan::DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    options.keep = {store_, shaders_checksum()};
    auto device = vulkan::Device::create(options);
    EXPECT_TRUE(device.ok());
    if (!device) return ~uint64_t{0};
    device_ = std::move(device).value();
    LAPILLI_EXPECT_OK(compile_tested(device_, one_node(activation)));
    if (keeps) keep_between_runs(*device_);
    return SelfTest::of(*device_)->cases();
  }
  std::shared_ptr<testing_support::MemoryStore> store_ = std::make_shared<testing_support::MemoryStore>();
  std::shared_ptr<vulkan::Device> device_;
  std::vector<std::string> warnings_;
};

TEST_F(DeviceFindings, ASecondRunTestsWhatIsNew) {
  EXPECT_GT(run(Activation::relu), 0u);
  EXPECT_EQ(run(Activation::relu), 0u);
  EXPECT_EQ(device_->counters().pipelines_created, 0u);  // until something is bound
  EXPECT_EQ(SelfTest::of(*device_)->kernels(), 1u);
  EXPECT_GT(run(Activation::gelu_erf, false), 0u);
  EXPECT_GT(run(Activation::gelu_erf), 0u);  // nobody kept it
  EXPECT_EQ(run(Activation::gelu_erf), 0u);
  EXPECT_EQ(run(Activation::relu), 0u);
  EXPECT_EQ(SelfTest::of(*device_)->kernels(), 2u);
}

TEST_F(DeviceFindings, AnotherDriverTestsAnew) {
  run(Activation::relu);
  counting::pretend_properties([](VkPhysicalDeviceProperties& p) { ++p.driverVersion; });
  EXPECT_GT(run(Activation::relu), 0u);
  EXPECT_EQ(run(Activation::relu), 0u);
}

TEST_F(DeviceFindings, DamagedOnesAreNone) {
  run(Activation::relu);
  const Blob sealed = store_->starting_with("verdicts");
  for (size_t i = 0; i < sealed.size(); i += 5) {
    store_->starting_with("verdicts")[i] ^= std::byte{1};
    EXPECT_GT(run(Activation::relu), 0u) << i;
    EXPECT_EQ(store_->starting_with("verdicts"), sealed) << i;  // made anew
  }
  store_->starting_with("verdicts").resize(sealed.size() - 1);
  EXPECT_GT(run(Activation::relu), 0u);
}

TEST_F(DeviceFindings, WhatIsWrongStaysWrong) {
  size_t found = 0;
  for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
    const ShaderCode& code = shader_code(static_cast<ShaderId>(i));
    if (!std::string(code.name).starts_with("activation")) continue;
    counting::compile_badly(code.words, code.word_count, counting::Compiler::wrong);
    ++found;
  }
  ASSERT_GT(found, 0u);
  EXPECT_GT(run(Activation::gelu_erf), 0u);
  ASSERT_THAT(warnings_, Contains(HasSubstr("wrongly")));
  const auto said = warnings_;
  EXPECT_EQ(run(Activation::gelu_erf), 0u);
  EXPECT_EQ(warnings_, said);
  EXPECT_THAT(SelfTest::of(*device_)->disagreements(), SizeIs(1));
}

// It is tried with the first kernels, and what was found is kept as they are.
TEST_F(DeviceFindings, IndirectDispatchOfNoGroupsIsTriedOnce) {
  run(Activation::relu);
  EXPECT_EQ(counting::calls("vkCmdDispatchIndirect"), 2u);
  EXPECT_EQ(SelfTest::of(*device_)->no_groups(), "");
  EXPECT_TRUE(device_->caps().indirect_dispatch);
  run(Activation::gelu_erf);
  EXPECT_EQ(counting::calls("vkCmdDispatchIndirect"), 2u);
  EXPECT_EQ(SelfTest::of(*device_)->no_groups(), "");
}

TEST_F(DeviceFindings, ADeviceThatErrsGoesWithoutIndirectDispatch) {
  for (const auto how : {counting::Indirect::one_group, counting::Indirect::nothing}) {
    store_ = std::make_shared<testing_support::MemoryStore>();
    counting::dispatch_badly(how);
    run(Activation::relu);
    const bool one_group = how == counting::Indirect::one_group;
    const auto said = testing::Contains(HasSubstr(one_group ? "no groups wrote something" : "did not do all of them"));
    EXPECT_THAT(warnings_, said);
    EXPECT_FALSE(device_->caps().indirect_dispatch);
    const uint64_t tried = counting::calls("vkCmdDispatchIndirect");
    run(Activation::relu);
    EXPECT_FALSE(SelfTest::of(*device_)->no_groups()->empty());
    EXPECT_FALSE(device_->caps().indirect_dispatch);
    EXPECT_THAT(warnings_, said);
    EXPECT_EQ(counting::calls("vkCmdDispatchIndirect"), tried);
  }
}

// The probe's own pipeline is refused: nothing was proven, and everything else goes on.
TEST_F(DeviceFindings, ARefusedProbeProvesNothing) {
  for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
    const ShaderCode& code = shader_code(static_cast<ShaderId>(i));
    if (std::string(code.name) != "copy") continue;
    counting::compile_badly(code.words, code.word_count, counting::Compiler::refuses);
  }
  EXPECT_GT(run(Activation::relu), 0u);
  EXPECT_THAT(SelfTest::of(*device_)->no_groups().value_or(""), HasSubstr("could not be tried"));
  EXPECT_FALSE(device_->caps().indirect_dispatch);
}

TEST_F(DeviceFindings, WithoutAStoreNothingIsKept) {
  store_ = nullptr;
  EXPECT_GT(run(Activation::relu), 0u);
  EXPECT_GT(run(Activation::relu), 0u);
}

}  // namespace
}  // namespace lapilli
