// The doctor: it finds what a driver compiles wrongly or refuses, and nothing where nothing is wrong. A wrong subgroup
// size is in tests/cli, as a pretended device's.
#include "runtime/check/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "ops/core/op.hpp"
#include "ops/core/shader_table.hpp"
#include "support/counting_vulkan.hpp"

namespace lapilli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DeviceDoctor : public testing::Test {
 protected:
  void TearDown() override { counting::reset(); }
  static void compile_badly(const char* part, counting::Compiler how) {
    size_t found = 0;
    for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
      const ShaderCode& code = shader_code(static_cast<ShaderId>(i));
      if (std::strstr(code.name, part) == nullptr) continue;
      counting::compile_badly(code.words, code.word_count, how);
      ++found;
    }
    ASSERT_GT(found, 0u) << part;
  }
  static Result<KernelReport> examined() {
    vulkan::DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    LAPILLI_TRY(const auto device, vulkan::Device::create(options));
    return examine_kernels(device, {.runs = 2, .cases = 1});
  }
};

TEST_F(DeviceDoctor, FindsNothingWhereNothingIsWrong) {
  const auto report = examined();
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_THAT(report->findings, IsEmpty());
  EXPECT_EQ(report->ops, all_ops().size());
  EXPECT_GE(report->variants, report->ops);
  EXPECT_GE(report->cases, report->variants);
  EXPECT_EQ(report->runs, 2u * report->cases);
}

// Planted: one that has other ways, and one that has none.
TEST_F(DeviceDoctor, FindsWrongAndRefusedKernels) {
  for (const auto how : {counting::Compiler::wrong, counting::Compiler::refuses}) {
    compile_badly("_tiled", how);  // in every form
    compile_badly("layer_norm", how);
    const auto report = examined();
    ASSERT_TRUE(report.ok()) << report.error().message;
    const bool refused = how == counting::Compiler::refuses;
    EXPECT_THAT(report->findings,
                Contains(AllOf(Field(&KernelFinding::op, "matmul"), Field(&KernelFinding::variant, HasSubstr("tiled")),
                               Field(&KernelFinding::floor, false))));
    EXPECT_THAT(report->findings,
                Contains(AllOf(Field(&KernelFinding::op, "layer_norm"), Field(&KernelFinding::floor, true))));
    EXPECT_THAT(report->findings, Each(Field(&KernelFinding::refused, refused)));
    EXPECT_THAT(report->findings, Each(Field(&KernelFinding::problem, Not(IsEmpty()))));
    EXPECT_THAT(report->findings, Not(Contains(Field(&KernelFinding::op, "softmax"))));
    counting::reset();
  }
}

TEST_F(DeviceDoctor, EndsWhenItIsTold) {
  const auto device = vulkan::Device::create({});
  ASSERT_TRUE(device.ok()) << device.error().message;
  uint32_t asked = 0;
  const auto report = examine_kernels(*device, {.runs = 1, .cases = 1}, [&](uint32_t done, uint32_t total) {
    EXPECT_EQ(done, asked);
    EXPECT_EQ(total, all_ops().size());
    return ++asked < 2;
  });
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::cancelled);
  EXPECT_EQ(asked, 2u);
}

}  // namespace
}  // namespace lapilli
