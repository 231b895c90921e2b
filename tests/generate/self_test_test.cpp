// The self-test: kernels that a driver compiles wrongly or refuses are found before they are used, and results stay
// right.
#include "runtime/check/self_test.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/log.hpp"
#include "generate/searches.hpp"
#include "model/shape.hpp"
#include "ops/core/shader_table.hpp"
#include "search/plan_cache.hpp"
#include "search/search_graph.hpp"
#include "search/workspace.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DeviceSelfTest : public testing::Test {
 protected:
  void SetUp() override {
    set_log_hook([this](LogLevel level, const std::string& text) {
      if (level == LogLevel::warning) warnings_.push_back(text);
    });
  }
  void TearDown() override {
    set_log_hook({});
    device_.reset();
    counting::reset();
  }
  // All shaders whose names begin so, but for the longer numbers ("matmul_r1" is not "matmul_r16").
  static void compile_badly(const std::string& prefix, counting::Compiler how) {
    size_t found = 0;
    for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
      const ShaderCode& code = shader_code(static_cast<ShaderId>(i));
      if (!std::string(code.name).starts_with(prefix)) continue;
      counting::compile_badly(code.words, code.word_count, how);
      ++found;
    }
    ASSERT_GT(found, 0u) << prefix;
  }
  // The test model's ids on a device of its own; only ids, since other variants give other bits.
  Result<std::vector<std::vector<int32_t>>> ids(uint32_t beams, const std::string& mask = "") {
    LAPILLI_TRY(device_, counted_device(mask));
    LAPILLI_TRY(const auto model, Model::load(device_, marian()));
    LAPILLI_TRY(const auto out, generate(model, request_of({3, 9, 5, 12, 7}, beams, 8)));
    std::vector<std::vector<int32_t>> all;
    for (const auto& hypotheses : out.hypotheses)
      for (const auto& h : hypotheses) all.push_back(h.ids);
    return all;
  }
  std::vector<Disagreement> found() const { return SelfTest::of(*device_)->disagreements(); }

  std::shared_ptr<vulkan::Device> device_;
  std::vector<std::string> warnings_;
};

TEST_F(DeviceSelfTest, EveryKernelOfAModelIsProvenHere) {
  for (const uint32_t beams : {1u, 4u}) {
    LAPILLI_ASSERT_OK(ids(beams));
    const auto self_test = SelfTest::of(*device_);
    EXPECT_GT(self_test->kernels(), 10u);
    EXPECT_THAT(self_test->unproven(), IsEmpty());
    EXPECT_THAT(found(), IsEmpty());
  }
  EXPECT_THAT(warnings_, Not(Contains(HasSubstr("wrongly"))));
}

TEST_F(DeviceSelfTest, ASecondModelTestsNothingAnew) {
  LAPILLI_ASSERT_OK(ids(4));
  const size_t kernels = SelfTest::of(*device_)->kernels();
  const uint64_t pipelines = device_->counters().pipelines_created;
  LAPILLI_ASSERT_VALUE(const auto again, Model::load(device_, marian()));
  EXPECT_EQ(SelfTest::of(*device_)->kernels(), kernels);
  EXPECT_EQ(device_->counters().pipelines_created, pipelines);
}

// The distinct kernels of some plans.
std::vector<PlannedPipeline> kernels_in(const std::vector<std::shared_ptr<const Plan>>& plans) {
  std::vector<PlannedPipeline> kernels;
  for (const auto& plan : plans)
    for (const PlannedPipeline& p : plan->pipelines)
      if (std::find(kernels.begin(), kernels.end(), p) == kernels.end()) kernels.push_back(p);
  return kernels;
}

// The kernels that a search runs, and none of another size.
TEST_F(DeviceSelfTest, OnlyKernelsOfThePlansAtHandAreTested) {
  LAPILLI_ASSERT_VALUE(device_, counted_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::random(device_, "tiny"));
  const auto self_test = SelfTest::of(*device_);
  const size_t loaded = self_test->kernels();
  std::vector<std::shared_ptr<const Plan>> used;
  for (const WorkspaceKey& key : {plain_key(1, 1, 8, 32), plain_key(8, 1, 32, 64), plain_key(8, 4, 32, 64)}) {
    LAPILLI_ASSERT_VALUE(const WorkspacePlans plans, model->workspaces().plans().plans(key));
    const auto all = plans.all();
    used.insert(used.end(), all.begin(), all.end());
    EXPECT_EQ(self_test->kernels() - loaded, kernels_in(used).size()) << key.shape.rows() << " rows";
  }
}

// A kernel that the first search had no need of is not trusted when a later one has.
TEST_F(DeviceSelfTest, AKernelThatOnlyALaterJobNeedsIsTestedThen) {
  const auto request = [](uint32_t sources) { return request_of(std::vector<uint32_t>(sources, 12), 1, 6); };
  const auto ids_of = [&](const std::shared_ptr<Model>& model) -> Result<std::vector<int32_t>> {
    LAPILLI_TRY(const auto out, generate(model, request(8)));
    std::vector<int32_t> all;
    for (const auto& h : out.hypotheses) all.insert(all.end(), h.front().ids.begin(), h.front().ids.end());
    return all;
  };
  LAPILLI_ASSERT_VALUE(device_, counted_device());
  LAPILLI_ASSERT_VALUE(auto model, Model::load(device_, marian()));
  LAPILLI_ASSERT_VALUE(const auto right, ids_of(model));
  LAPILLI_ASSERT_VALUE(const auto one, model->workspaces().plans().plans(plain_key(1, 1, 16, 64)));
  LAPILLI_ASSERT_VALUE(const auto many, model->workspaces().plans().plans(plain_key(8, 1, 16, 64)));
  const auto early = kernels_in(one.all());
  std::vector<ShaderId> late;  // shaders
  for (const PlannedPipeline& p : kernels_in(many.all()))
    if (std::none_of(early.begin(), early.end(), [&](const auto& e) { return e.shader == p.shader; }))
      late.push_back(p.shader);
  ASSERT_FALSE(late.empty()) << "eight sentences run what one does";
  for (const ShaderId id : late)
    counting::compile_badly(shader_code(id).words, shader_code(id).word_count, counting::Compiler::wrong);
  LAPILLI_ASSERT_VALUE(device_, counted_device());
  LAPILLI_ASSERT_VALUE(model, Model::load(device_, marian()));
  LAPILLI_ASSERT_OK(run_search(model, request(1)));
  EXPECT_THAT(found(), IsEmpty());
  LAPILLI_ASSERT_VALUE(const auto got, ids_of(model));
  EXPECT_EQ(got, right);
  EXPECT_THAT(found(), Not(IsEmpty()));
}

// Attention over parts of a cache: made and tested where a cache fits no binding, and nowhere else.
TEST_F(DeviceSelfTest, PartsOfACacheAreTestedWhereTheyAreNeeded) {
  LAPILLI_ASSERT_VALUE(const auto config, model::parse_shape("tiny,d=64,heads=1"));
  const auto network = model::random_network(config, 1);
  const graph::Graph step = step_graph(network, plain_key(2, 4, 8, 64)).graph;
  const auto has_parts = [](const Plan& plan) {
    return std::any_of(plan.pipelines.begin(), plan.pipelines.end(), [](const PlannedPipeline& p) {
      return std::string(shader_code(p.shader).name).starts_with("attention_part");
    });
  };
  for (const char* mask : {"", "small-bindings"}) {
    LAPILLI_ASSERT_VALUE(device_, counted_device(mask));
    LAPILLI_ASSERT_VALUE(const auto plan, compile_tested(device_, step, false));
    EXPECT_EQ(has_parts(*plan), *mask != 0);
    EXPECT_EQ(SelfTest::of(*device_)->kernels(), plan->pipelines.size());
    EXPECT_THAT(SelfTest::of(*device_)->unproven(), IsEmpty());
    EXPECT_THAT(found(), IsEmpty());
  }
  compile_badly("attention_part", counting::Compiler::wrong);
  LAPILLI_ASSERT_VALUE(device_, counted_device("small-bindings"));
  LAPILLI_ASSERT_OK(compile_tested(device_, step, false));
  EXPECT_THAT(found(), Contains(Field(&Disagreement::op, "attention_step")));
}

TEST_F(DeviceSelfTest, AVariantThatIsCompiledWronglyGivesWayToAnother) {
  LAPILLI_ASSERT_VALUE(const auto right, ids(4));
  for (const auto how : {counting::Compiler::wrong, counting::Compiler::refuses}) {
    // All that are not the floor.
    for (const char* prefix :
         {"matmul_lanes", "matmul_tiled", "matmul_split", "matmul_r4", "matmul_r8", "matmul_r16", "matmul_q_kv_lanes",
          "matmul_q_kv_r8", "matmul_q_kv_step_lanes", "matmul_kv_lanes", "matmul_panels", "matmul_q_kv_panels",
          "matmul_q_kv_step_panels", "matmul_kv_panels", "matmul_kv_step_panels", "matmul_kv_spans_panels"})
      compile_badly(prefix, how);
    LAPILLI_ASSERT_VALUE(const auto got, ids(4));
    EXPECT_EQ(got, right);
    EXPECT_THAT(found(), Contains(AllOf(Field(&Disagreement::op, "matmul"), Field(&Disagreement::floor, false))));
    EXPECT_THAT(found(), Not(Contains(Field(&Disagreement::floor, true))));
    EXPECT_THAT(warnings_, Contains(AllOf(HasSubstr("matmul/"), HasSubstr("another way is used"))));
    warnings_.clear();
    device_.reset();
    counting::reset();
  }
}

// Large kernels have a plain one behind them.
TEST_F(DeviceSelfTest, LargeKernelsGiveWayToSimpleOnes) {
  LAPILLI_ASSERT_VALUE(const auto right, ids(4));
  for (const auto how : {counting::Compiler::wrong, counting::Compiler::refuses}) {
    for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
      const ShaderCode& code = shader_code(static_cast<ShaderId>(i));
      const std::string name = code.name;
      if (!name.starts_with("attention") && !name.starts_with("beam_step")) continue;
      if (!name.ends_with("_simple")) counting::compile_badly(code.words, code.word_count, how);
    }
    LAPILLI_ASSERT_VALUE(const auto got, ids(4));
    EXPECT_EQ(got, right);
    for (const char* op : {"attention", "attention_step", "beam_step"})
      EXPECT_THAT(found(), Contains(AllOf(Field(&Disagreement::op, op), Field(&Disagreement::floor, false)))) << op;
    EXPECT_THAT(found(), Not(Contains(Field(&Disagreement::floor, true))));
    EXPECT_THAT(SelfTest::of(*device_)->unproven(), IsEmpty());
    warnings_.clear();
    device_.reset();
    counting::reset();
  }
}

// Steps that are submitted in advance would run rows that ended.
TEST_F(DeviceSelfTest, WithoutIndirectDispatchWhereItErrs) {
  for (const uint32_t beams : {1u, 4u}) {
    LAPILLI_ASSERT_VALUE(const auto right, ids(beams));
    counting::dispatch_badly(counting::Indirect::one_group);
    const uint64_t before = counting::calls("vkCmdDispatchIndirect");
    LAPILLI_ASSERT_VALUE(const auto got, ids(beams));
    EXPECT_EQ(got, right);
    EXPECT_EQ(counting::calls("vkCmdDispatchIndirect"), before + 2);  // by the probe alone
    EXPECT_FALSE(device_->caps().indirect_dispatch);
    EXPECT_THAT(warnings_, Contains(HasSubstr("cannot be relied on with indirect dispatches")));
    warnings_.clear();
    device_.reset();
    counting::reset();
  }
}

TEST_F(DeviceSelfTest, AFloorThatIsCompiledWronglyIsReported) {
  compile_badly("layer_norm", counting::Compiler::wrong);
  // There is no other way. What comes out may be anything, also no numbers.
  if (const auto got = ids(1); !got.ok()) {
    EXPECT_EQ(got.error().code, ErrorCode::invalid_data) << got.error().message;
    EXPECT_THAT(got.error().message, HasSubstr("no numbers"));
  }
  EXPECT_THAT(found(), Contains(AllOf(Field(&Disagreement::op, "layer_norm"), Field(&Disagreement::floor, true))));
  EXPECT_THAT(warnings_, Contains(AllOf(HasSubstr("layer_norm"), HasSubstr("results may be wrong"))));
}

TEST_F(DeviceSelfTest, AFloorThatIsRefusedIsAnError) {
  compile_badly("layer_norm", counting::Compiler::refuses);
  const auto got = ids(1);
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("layer_norm"));
}

}  // namespace
}  // namespace lapilli
