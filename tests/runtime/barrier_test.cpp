// Steps with a barrier left out on purpose, for the checker and for synchronization validation to find: tests.cmake
// runs the disabled ones under the layer and passes if it names a hazard, and the others without it. What they compute
// is not looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/run/session.hpp"
#include "support/fixtures.hpp"
#include "support/network_rig.hpp"
#include "support/real_events.hpp"

namespace lapilli {
namespace {

struct Rig {
  std::shared_ptr<vulkan::Device> device;
  std::shared_ptr<vulkan::Trace> trace;
  testing_support::LoadedNetwork loaded;
  std::shared_ptr<const Weights> weights;
  WorkspaceKey key;
  WorkspacePlans plans;
  std::unique_ptr<Session> session;
};

Result<Rig> make_rig() {
  Rig r;
  LAPILLI_TRY(r.device, vulkan::Device::create({}));
  r.trace = vulkan::Trace::begin(*r.device);
  LAPILLI_TRY(r.loaded, testing_support::make_network("tiny"));
  testing_support::SearchInput input;
  input.options.beams = 4;
  input.options.max_length = 8;
  input.options.end_ids = {0};
  input.options.decoder_start = input.options.pad = 256;
  input.sources = testing_support::random_sources({7, 3}, 256, 1);
  r.key = testing_support::exact_key(input);
  LAPILLI_TRY(r.plans, testing_support::compile_plans(r.loaded.network, r.key, r.device->caps()));
  LAPILLI_TRY(const auto sources, weight_sources(r.loaded.network));
  LAPILLI_TRY(r.weights, Weights::load(r.device, sources));
  LAPILLI_TRY(r.session, Session::create(r.device));
  for (const auto& plan : testing_support::in_order(r.plans)) r.session->require(*plan);
  LAPILLI_CHECK(r.session->allocate());
  for (const auto& [id, words] : testing_support::host_states(r.loaded.network, r.key, input, &r.plans))
    LAPILLI_CHECK(r.session->write(state_kind(id), words));
  return r;
}

// Three steps in one recording, without the barrier before this level.
Status run_without(const Rig& rig, std::vector<uint32_t> left_out) {
  const MemoryMap memory = rig.session->memory([&](graph::Space, uint32_t id) { return rig.weights->find(id); });
  for (const auto& plan : testing_support::in_order(rig.plans)) {
    BindOptions bind;
    if (plan == rig.plans.step) bind = {3, left_out};
    LAPILLI_TRY(const auto bound, BoundPlan::bind(rig.device, plan, memory, bind));
    LAPILLI_CHECK(bound.run());
  }
  return {};
}

void run_without(uint32_t left_out_of_4) {
  LAPILLI_ASSERT_VALUE(const auto rig, make_rig());
  const auto levels = static_cast<uint32_t>(rig.plans.step->schedule.levels.size());
  LAPILLI_ASSERT_OK(run_without(rig, {levels * left_out_of_4 / 4}));
}

TEST(DeviceBarriers, DISABLED_LeftOutWithinAStep) { run_without(2); }
TEST(DeviceBarriers, DISABLED_LeftOutBetweenSteps) { run_without(0); }

// The checker over what the device is given from now on.
Status check_without(const Rig& rig, std::vector<uint32_t> left_out) {
  const auto before = static_cast<ptrdiff_t>(rig.trace->events().size());
  LAPILLI_CHECK(run_without(rig, std::move(left_out)));
  const auto all = rig.trace->events();
  LAPILLI_TRY(const auto real, testing_support::RealEvents::of({all.begin() + before, all.end()}));
  return real.check();
}

// It sees what is really recorded, not what a plan asks for. The barrier before the first level stands between two
// steps, where indirect reads want one that names them.
TEST(DeviceBarriersLeftOut, AreFound) {
  LAPILLI_ASSERT_VALUE(const auto rig, make_rig());
  LAPILLI_EXPECT_OK(check_without(rig, {}));
  for (uint32_t level = 0; level < rig.plans.step->schedule.levels.size(); ++level) {
    const Status s = check_without(rig, {level});
    ASSERT_FALSE(s.ok()) << "level " << level;
    EXPECT_THAT(s.error().message, testing::HasSubstr(level == 0 ? "no barrier that names indirect reads stands between"
                                                                 : "no barrier stands between them"));
  }
}

}  // namespace
}  // namespace lapilli
