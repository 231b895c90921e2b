// Models whose plans are made of what a tuner found: the same ids by other kernels, and the defaults where one errs.
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "base/store.hpp"
#include "generate/searches.hpp"
#include "ops/core/shader_table.hpp"
#include "runtime/check/self_test.hpp"
#include "runtime/plan/tuning_space.hpp"
#include "search/plan_cache.hpp"
#include "search/workspace.hpp"
#include "support/memory_store.hpp"
#include "support/temp_directory.hpp"
#include "tools/tools.hpp"
#include "vulkan/caps/persistent_cache.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::Contains;
using testing::Field;

// Chooses one of the candidates for a node; none: its default.
using Choose = std::function<const Variant*(const std::vector<Variant>&)>;

class DeviceTunedModel : public testing::Test {
 protected:
  void TearDown() override {
    model_.reset();
    device_.reset();
    counting::reset();
  }
  void open() {
    model_.reset();
    device_.reset();
    vulkan::DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    options.keep = {store_, shaders_checksum()};
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, marian()));
  }
  [[nodiscard]] std::vector<std::shared_ptr<const Plan>> plans() const {
    std::vector<std::shared_ptr<const Plan>> all;
    for (const uint32_t beams : {1u, 4u})
      for (const uint32_t sentences : {1u, 2u, 4u, 8u}) {
        auto plans = model_->workspaces().plans().plans(plain_key(sentences, beams, 16, 32));
        LAPILLI_EXPECT_OK(plans);
        if (!plans) continue;
        const auto some = plans->all();
        all.insert(all.end(), some.begin(), some.end());
      }
    return all;
  }
  // For every node of these plans, into the store.
  void tune(const Choose& choose) {
    Tunings tunings;
    for (const auto& plan : plans())
      for (graph::NodeId n = 0; n < plan->graph.nodes().size(); ++n) {
        const graph::Node& node = plan->graph.node(n);
        if (!node.op->tuning.key) continue;
        const auto space = tuning_space({plan->graph, device_->caps()}, node, plan->variants[n], {});
        const Variant* v = choose(space.candidates);
        if (v) tunings.set({node.op->name, node.op->tuning.key(plan->graph, node)}, {v->name, v->numbers});
      }
    ASSERT_GT(tunings.size(), 5u);
    vulkan::PersistentCache(store_, vulkan::stored_identity(*device_, shaders_checksum()))
        .keep(vulkan::StoredKind::tunings, blob_of(tunings));
  }
  [[nodiscard]] size_t tuned_nodes() const {
    size_t count = 0;
    for (const auto& plan : plans()) count += plan->tuned();
    return count;
  }
  std::vector<std::vector<int32_t>> ids() {
    said_ = 0;
    std::vector<std::vector<int32_t>> all;
    for (const uint32_t beams : {1u, 4u}) {
      GenerateRequest request = request_of({3, 9, 5, 12, 7}, beams, 8);
      request.deterministic = false;
      const auto out = generate(model_, request);
      LAPILLI_EXPECT_OK(out);
      if (out) said_ = std::max(said_, out->stats.tuned_nodes);
      for (const auto& hypotheses : out.ok() ? out->hypotheses : decltype(out->hypotheses){})
        for (const auto& h : hypotheses) all.push_back(h.ids);
    }
    return all;
  }
  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  uint32_t said_ = 0;  // GenerateStats::tuned_nodes of the last ids()
};

TEST_F(DeviceTunedModel, GivesTheSameIdsByOtherKernels) {
  open();
  const auto expected = ids();
  ASSERT_EQ(expected.size(), 5u + 5 * 4);
  EXPECT_EQ(tuned_nodes(), 0u);
  EXPECT_EQ(said_, 0u);
  for (const size_t of_three : {0u, 1u, 2u}) {
    open();
    tune([&](const std::vector<Variant>& v) { return v.empty() ? nullptr : &v[(v.size() - 1) * of_three / 2]; });
    open();
    EXPECT_GT(tuned_nodes(), 50u);
    EXPECT_EQ(ids(), expected) << of_three;
    EXPECT_GT(said_, 10u);
    EXPECT_LT(said_, tuned_nodes()) << "a step and a pass, not all plans";
    EXPECT_TRUE(SelfTest::of(*device_)->disagreements().empty());
  }
}

// A driver that was right when the tuner asked, and is not any more.
TEST_F(DeviceTunedModel, GoesBackToTheDefaultsWhereAKernelErrs) {
  open();
  const auto expected = ids();
  tune([](const std::vector<Variant>& all) -> const Variant* {
    for (const Variant& v : all)
      if (std::string(v.name) == "rows 4") return &v;
    return nullptr;
  });
  const ShaderCode& code = shader_code(ShaderId::matmul_r4);
  counting::compile_badly(code.words, code.word_count, counting::Compiler::wrong);
  open();
  EXPECT_EQ(ids(), expected);
  EXPECT_THAT(SelfTest::of(*device_)->disagreements(), Contains(Field(&Disagreement::variant, "rows 4")));
  EXPECT_EQ(tuned_nodes(), 0u);
  EXPECT_EQ(said_, 0u);
}

// `lapilli plan --tuned`.
TEST(DeviceTunedPlan, SaysWhichNodesRunAsWasFound) {
  const TempDirectory folder;
  tools::PlanRequest request;
  request.model = "shape:tiny,d=64";
  request.beams = 1;
  request.json = true;
  const auto tuned_in = [](const tools::Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.text;
    const std::string norm = "layer_norm (workgroup a row, tuned)";
    size_t count = 0;
    for (size_t at = 0; (at = outcome.text.find(norm, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  vulkan::DeviceOptions options;
  options.keep = {folder_store(folder.path()), shaders_checksum()};
  {
    LAPILLI_ASSERT_VALUE(const auto device, vulkan::Device::create(options));
    Tunings tunings;
    tunings.set({"layer_norm", "64 columns, rows 1"}, {"workgroup a row", {2, 0}});
    vulkan::PersistentCache(options.keep.store, vulkan::stored_identity(*device, shaders_checksum()))
        .keep(vulkan::StoredKind::tunings, blob_of(tunings));
  }
  EXPECT_EQ(tuned_in(tools::plan(request)), 0u);
  request.cache = folder.path();
  EXPECT_GT(tuned_in(tools::plan(request)), 0u);
}

}  // namespace
}  // namespace lapilli
