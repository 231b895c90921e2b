// Attention of prompts whose rows are taken together says of each row the very bits that it says of the row alone: a
// text must not depend on where its prompt is cut, nor on what runs beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "ops/attention/attention.hpp"
#include "ops/core/case_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/tuning.hpp"
#include "runtime/check/execute.hpp"
#include "support/fixtures.hpp"

namespace lapilli {
namespace {

// Contexts of the live rows, in the order of `from`: row i of the case runs as row from[i].
Result<std::vector<double>> contexts(const std::shared_ptr<vulkan::Device>& device, const OpCase& c,
                                     const Variant& variant, const std::vector<uint32_t>& from) {
  std::vector<Dispatch> dispatches;
  const graph::Node& node = c.graph.node(0);
  LAPILLI_CHECK(lower_node({c.graph, device->caps()}, node, variant, dispatches));
  const HostTensors given = host_tensors(c);
  HostTensors values = given;
  const uint64_t ld = c.graph.tensor(node.inputs[0]).ld, out_ld = c.graph.tensor(node.outputs[0]).ld;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto row = given.values[c.graph.root(node.inputs[0])].f.begin() + static_cast<ptrdiff_t>(i * ld);
    std::copy(row, row + static_cast<ptrdiff_t>(ld),
              values.at(node.inputs[0]).f.begin() + static_cast<ptrdiff_t>(from[i] * ld));
    values.at(node.inputs[3]).u[state::STEP_ROWS + from[i]] =
        given.values[c.graph.root(node.inputs[3])].u[state::STEP_ROWS + i];
  }
  runtime::HostRunOptions options;
  options.execute.live_rows = c.live_rows;
  LAPILLI_TRY(const auto report, runtime::execute_on_host(device, device->caps(), dispatches, values, options));
  EXPECT_EQ(report.violation, "");
  std::vector<double> all;
  for (const uint32_t i : from) {
    const auto row = values.at(node.outputs[0]).f.begin() + static_cast<ptrdiff_t>(i * out_ld);
    all.insert(all.end(), row, row + static_cast<ptrdiff_t>(out_ld));
  }
  return all;
}

constexpr const char* kLanes = "lanes, rows of a text";

class DeviceAttentionTiles : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Masks, DeviceAttentionTiles, testing::Values("full", "gpu", "floor"),
                         [](const auto& i) { return std::string(i.param); });

TEST_P(DeviceAttentionTiles, GiveTheBitsOfRowsAlone) {
  vulkan::DeviceOptions options;
  options.mask = GetParam();
  LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::create(options));
  size_t compared = 0, lanes = 0, chosen = 0;
  for (OpCase& c : attention_step_op.cases()) {
    const graph::Node& node = c.graph.node(0);
    if (!node.attributes.as<AttentionStepAttributes>().prompt) continue;
    if (c.prepare) c.prepare(c);
    std::vector<uint32_t> order(c.live_rows);
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::vector<uint32_t> back(order.rbegin(), order.rend());  // no row follows the one before it
    const auto variants = attention_step_op.variants(device->caps(), c.graph, node);
    chosen += std::string(variants.front().name) == kLanes ? 1 : 0;
    for (const Variant& v : variants) {
      const std::string name = v.name;
      if (name.find("rows of a text") == std::string::npos) continue;
      lanes += name == kLanes ? 1 : 0;
      SCOPED_TRACE(c.name + "/" + name);
      LAPILLI_ASSERT_VALUE(const auto together, contexts(device, c, v, order));
      LAPILLI_ASSERT_VALUE(const auto alone, contexts(device, c, v, back));
      EXPECT_EQ(together, alone);
      ++compared;
    }
  }
  EXPECT_GE(compared, 30u);
  // Lanes come first where a driver has them; that of Mesa's CPU driver does.
  const bool with_lanes = has_lanes(device->caps()) && device->caps().texels;
  const bool mesa = device->caps().device_name.find("llvmpipe") != std::string::npos;
  EXPECT_TRUE(with_lanes || !mesa || std::string(GetParam()) != "full") << device->caps().device_name;
  EXPECT_EQ(chosen, lanes);
  EXPECT_GE(lanes, with_lanes ? 30u : 0u);
}

}  // namespace
}  // namespace lapilli
