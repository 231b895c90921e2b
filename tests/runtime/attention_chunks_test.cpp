// Attention whose chunks of keys run side by side says the very bits of attention that goes over them one by one: a
// sentence must not depend on how many others fill the device.
#include <gtest/gtest.h>

#include <string>

#include "ops/core/case_util.hpp"
#include "ops/core/registry.hpp"
#include "runtime/check/execute.hpp"
#include "support/fixtures.hpp"

namespace lapilli {
namespace {

const Variant* find(const std::vector<Variant>& variants, const std::string& name) {
  for (const Variant& v : variants)
    if (v.name == name) return &v;
  return nullptr;
}

// The result of a variant for a case.
Result<HostTensor> context(const std::shared_ptr<vulkan::Device>& device, const OpCase& c, const Variant& variant) {
  std::vector<Dispatch> dispatches;
  LAPILLI_CHECK(lower_node({c.graph, device->caps()}, c.graph.node(0), variant, dispatches));
  HostTensors values = host_tensors(c);
  runtime::HostRunOptions options;
  options.execute.live_rows = c.live_rows;
  LAPILLI_TRY(const auto report, runtime::execute_on_host(device, device->caps(), dispatches, values, options));
  EXPECT_EQ(report.violation, "");
  HostTensor result = values.at(c.graph.node(0).outputs[0]);
  result.f.resize(c.live_rows * c.graph.tensor(c.graph.node(0).outputs[0]).ld);
  return result;
}

TEST(DeviceAttentionChunks, GiveTheBitsOfTheWhole) {
  vulkan::DeviceOptions options;
  options.mask = "gpu";
  LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::create(options));
  size_t compared = 0;
  for (OpCase& c : attention_step_op.cases()) {
    const auto variants = attention_step_op.variants(device->caps(), c.graph, c.graph.node(0));
    const Variant* const chunks = find(variants, "workgroup a row, head and chunk");
    if (!chunks) continue;
    SCOPED_TRACE(c.name);
    if (c.prepare) c.prepare(c);
    const Variant* const whole = find(variants, "workgroup a row and head");
    ASSERT_NE(whole, nullptr);
    LAPILLI_ASSERT_VALUE(const auto got, context(device, c, *chunks));
    LAPILLI_ASSERT_VALUE(const auto want, context(device, c, *whole));
    EXPECT_EQ(got.f, want.f);
    ++compared;
  }
  EXPECT_GE(compared, 4u);
}

}  // namespace
}  // namespace lapilli
