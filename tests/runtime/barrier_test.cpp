// Steps with a barrier left out on purpose, for synchronization validation to find: tests.cmake runs these under the
// layer and passes if it names a hazard. (The checker's part of it stands in plan_test.cpp.) What they compute is not
// looked at. Disabled, so that no other run meets them.
#include <gtest/gtest.h>

#include "runtime/session.hpp"
#include "support/fixtures.hpp"
#include "support/network_rig.hpp"

namespace lapilli {
namespace {

void run_without(uint32_t left_out_of_4) {
  LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::create({}));
  LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::make_network("tiny"));
  testing_support::SearchInput input;
  input.options.beams = 4;
  input.options.max_length = 8;
  input.options.end_ids = {0};
  input.options.decoder_start = input.options.pad = 256;
  input.sources = testing_support::random_sources({7, 3}, 256, 1);
  const WorkspaceKey key = testing_support::exact_key(input);
  LAPILLI_ASSERT_VALUE(const auto plans, testing_support::compile_plans(loaded.network, key, device->caps()));
  LAPILLI_ASSERT_VALUE(const auto sources, weight_sources(loaded.network));
  LAPILLI_ASSERT_VALUE(const auto weights, Weights::load(device, sources));
  LAPILLI_ASSERT_VALUE(const auto session, Session::create(device));
  for (const auto& plan : testing_support::in_order(plans)) session->require(*plan);
  LAPILLI_ASSERT_OK(session->allocate());
  const MemoryMap memory = session->memory([&](graph::Space, uint32_t id) { return weights->find(id); });
  for (const auto& [id, words] : testing_support::host_states(loaded.network, key, input, &plans))
    LAPILLI_ASSERT_OK(session->write(state_kind(id), words));
  const auto levels = static_cast<uint32_t>(plans.step->schedule.levels.size());
  for (const auto& plan : testing_support::in_order(plans)) {
    BindOptions bind;
    if (plan == plans.step) bind = {3, {levels * left_out_of_4 / 4}};
    LAPILLI_ASSERT_VALUE(const auto bound, BoundPlan::bind(device, plan, memory, bind));
    LAPILLI_ASSERT_OK(bound.run());
  }
}

TEST(DeviceBarriers, DISABLED_LeftOutWithinAStep) { run_without(2); }
TEST(DeviceBarriers, DISABLED_LeftOutBetweenSteps) { run_without(0); }

}  // namespace
}  // namespace lapilli
