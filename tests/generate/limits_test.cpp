// The memory limits of a model and of a device: too little for weights, too little for a batch (which is split), and
// sessions of other shapes and of other models that stand in the way.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "generate/generate.hpp"
#include "generate/translate.hpp"
#include "model/shape.hpp"
#include "search/engine_pool.hpp"
#include "search/search_graph.hpp"
#include "support/fixtures.hpp"
#include "support/shared_device.hpp"
#include "vulkan/caps/mask.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;

class DeviceLimits : public testing::Test {
 protected:
  void SetUp() override { LAPILLI_ASSERT_VALUE(device_, testing_support::shared_device()); }
  Result<std::shared_ptr<Model>> load(uint64_t limit) {
    LoadOptions options;
    options.memory_limit = limit;
    return Model::load(device_, LAPILLI_TEST_DATA "/models/marian/model", options);
  }
  static GenerateRequest sources(size_t count) {
    GenerateRequest r;
    for (size_t i = 0; i < count; ++i) r.sources.push_back({static_cast<int32_t>(5 + i), 9, 11, 0});
    r.options.num_beams = 2;
    r.options.max_length = 12;
    return r;
  }
  std::shared_ptr<vulkan::Device> device_;
};

TEST_F(DeviceLimits, WeightsAlone) {
  const auto model = load(1000);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(model.error().message, HasSubstr("memory limit"));
}

TEST_F(DeviceLimits, ABatchIsSplit) {
  LAPILLI_ASSERT_VALUE(const auto free_model, load(0));
  LAPILLI_ASSERT_VALUE(const auto want, generate(free_model, sources(16)));
  LAPILLI_ASSERT_VALUE(const auto one, generate(free_model, sources(1)));
  const uint64_t weights = free_model->info().weight_bytes;
  // Room for less than the whole batch, and for more than one source.
  const uint64_t limit = weights + (want.stats.session_bytes + one.stats.session_bytes) / 2;
  ASSERT_LT(one.stats.session_bytes, want.stats.session_bytes);
  LAPILLI_ASSERT_VALUE(const auto model, load(limit));
  const auto search = Search::start(model, sources(16));
  ASSERT_FALSE(search.ok());
  EXPECT_EQ(search.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(search.error().message, HasSubstr("memory limit"));
  LAPILLI_ASSERT_VALUE(const auto got, generate(model, sources(16)));
  EXPECT_LE(got.stats.session_bytes, limit - weights);
  ASSERT_EQ(got.hypotheses.size(), want.hypotheses.size());
  for (size_t i = 0; i < got.hypotheses.size(); ++i)
    EXPECT_EQ(got.hypotheses[i][0].ids, want.hypotheses[i][0].ids) << i;

  // Not even one source.
  LAPILLI_ASSERT_VALUE(const auto tight, load(weights + one.stats.session_bytes / 2));
  const auto none = generate(tight, sources(2));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::out_of_memory);
}

// Results that were finished before a cancellation are kept, also those of a batch that is run in parts.
TEST_F(DeviceLimits, PartsOfACancelledBatchAreKept) {
  LAPILLI_ASSERT_VALUE(const auto free_model, load(0));
  LAPILLI_ASSERT_VALUE(const auto want, generate(free_model, sources(16)));
  LAPILLI_ASSERT_VALUE(const auto one, generate(free_model, sources(1)));
  const uint64_t limit = free_model->info().weight_bytes + (want.stats.session_bytes + one.stats.session_bytes) / 2;
  LAPILLI_ASSERT_VALUE(const auto model, load(limit));
  GenerateOutput out;
  const auto status = generate_into(
      model, sources(16), [](uint64_t done, uint64_t) { return done == 0; }, out);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::cancelled);
  ASSERT_EQ(out.hypotheses.size(), 16u);
  size_t finished = 0;
  for (size_t i = 0; i < 16; ++i) {
    if (out.hypotheses[i].empty()) continue;
    ++finished;
    EXPECT_EQ(out.hypotheses[i][0].ids, want.hypotheses[i][0].ids);
  }
  EXPECT_GT(finished, 0u);
  EXPECT_LT(finished, 16u);

  const auto ids = sources(16);
  TranslateRequest request;
  for (const auto& source : ids.sources) request.inputs.push_back({{}, source, true, {}});
  request.options = ids.options;
  request.progress = [](uint64_t done, uint64_t) { return done == 0; };
  LAPILLI_ASSERT_VALUE(const auto translated, translate(model, request));
  EXPECT_TRUE(translated.cancelled);
  // How many had ended goes by how far the device was when it was looked at.
  size_t kept = 0;
  for (size_t i = 0; i < 16; ++i) {
    const TextOutput& output = translated.outputs[i];
    if (!output.status) continue;
    ++kept;
    const std::vector<int32_t>& said = want.hypotheses[i][0].ids;  // the decoder's start in front
    EXPECT_EQ(output.sequences[0].ids, std::vector<int32_t>(said.begin() + 1, said.end()));
  }
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, 16u);
}

// An input that is too large is at fault itself, and not the call, also if there is no other.
TEST_F(DeviceLimits, OneInputAloneHasItsOwnError) {
  LAPILLI_ASSERT_VALUE(const auto free_model, load(0));
  LAPILLI_ASSERT_VALUE(const auto model, load(free_model->info().weight_bytes + 1000));
  const auto ids = sources(1);
  TranslateRequest request;
  request.inputs.push_back({{}, ids.sources[0], true, {}});
  LAPILLI_ASSERT_VALUE(const auto out, translate(model, request));
  ASSERT_FALSE(out.outputs[0].status.ok());
  EXPECT_EQ(out.outputs[0].status.error().code, ErrorCode::out_of_memory);
}

// Gives the shared device back without a limit.
class LimitedDevice {
 public:
  explicit LimitedDevice(vulkan::Device& device) : ledger_(*device.ledger()) { device.settle(); }
  LimitedDevice(const LimitedDevice&) = delete;
  LimitedDevice& operator=(const LimitedDevice&) = delete;
  ~LimitedDevice() { ledger_.set_limit(0); }
  [[nodiscard]] uint64_t held() const { return ledger_.held(); }
  void set_limit(uint64_t bytes) { ledger_.set_limit(bytes); }

 private:
  vulkan::MemoryLedger& ledger_;
};

void expect_refused_by_device(const Error& error) {
  EXPECT_EQ(error.code, ErrorCode::out_of_memory);
  EXPECT_THAT(error.message, HasSubstr("memory limit of the device, which all its models share"));
  EXPECT_THAT(error.message, HasSubstr("free another model"));
}

TEST_F(DeviceLimits, ModelsOfADeviceShareItsLimit) {
  LimitedDevice limited(*device_);
  LAPILLI_ASSERT_VALUE(const auto first, load(0));
  const uint64_t weights = first->info().weight_bytes, alone = limited.held();
  LAPILLI_ASSERT_VALUE(const auto want, generate(first, sources(4)));
  const uint64_t session = limited.held() - alone;
  ASSERT_GT(session, 0u);

  // Beside a search that runs there is no room for a second model, and the search goes on.
  LAPILLI_ASSERT_VALUE(const auto running, Search::start(first, sources(4)));
  limited.set_limit(alone + session + weights / 2);
  const auto none = load(0);
  ASSERT_FALSE(none.ok());
  expect_refused_by_device(none.error());
  EXPECT_EQ(limited.held(), alone + session);
  LAPILLI_ASSERT_OK(running->run_to_end());
  LAPILLI_ASSERT_VALUE(const auto got, running->take());
  EXPECT_EQ(got.hypotheses[0][0].ids, want.hypotheses[0][0].ids);

  // Both have their weights; the room for one search goes from one to the other.
  limited.set_limit(alone + session + weights);
  LAPILLI_ASSERT_VALUE(const auto second, load(0));
  for (const auto& model : {second, first, second}) {
    LAPILLI_ASSERT_VALUE(const auto again, generate(model, sources(4)));
    EXPECT_EQ(again.hypotheses[0][0].ids, want.hypotheses[0][0].ids);
    EXPECT_EQ(limited.held(), alone + session + weights);
  }
  LAPILLI_ASSERT_VALUE(const auto last, Search::start(first, sources(4)));
  const auto refused = Search::start(second, sources(4));
  ASSERT_FALSE(refused.ok());
  expect_refused_by_device(refused.error());
  LAPILLI_ASSERT_OK(last->run_to_end());
}

TEST_F(DeviceLimits, AModelsOwnLimitCountsBesideTheDevices) {
  LimitedDevice limited(*device_);
  LAPILLI_ASSERT_VALUE(const auto first, load(0));
  limited.set_limit(limited.held() + first->info().weight_bytes);
  const auto own = load(1000);
  ASSERT_FALSE(own.ok());
  EXPECT_THAT(own.error().message, HasSubstr("memory limit of this model"));
  EXPECT_EQ(device_->memory_usage().left, first->info().weight_bytes);
  LAPILLI_EXPECT_OK(load(first->info().weight_bytes));
}

TEST_F(DeviceLimits, ForwardPassesCount) {
  LAPILLI_ASSERT_VALUE(const auto free_model, load(0));
  LAPILLI_ASSERT_VALUE(const auto large, generate(free_model, sources(4)));
  const uint64_t weights = free_model->info().weight_bytes;
  ForwardRequest request;
  request.sources = {{5, 9, 11, 0}};
  request.targets = {{5, 9}};
  LAPILLI_ASSERT_VALUE(const auto tight, load(weights + 1000));
  const auto none = forward(tight, request);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(none.error().message, HasSubstr("memory limit"));
  // The workspace of a batch that is over makes room; that of the pass is given back.
  LAPILLI_ASSERT_VALUE(const auto model, load(weights + large.stats.session_bytes));
  for (int i = 0; i < 2; ++i) {
    LAPILLI_EXPECT_OK(generate(model, sources(4)));
    LAPILLI_EXPECT_OK(forward(model, request));
  }
}

// A search that does not fit does not disturb one that does.
TEST_F(DeviceLimits, ARefusalCostsNobodyElse) {
  LAPILLI_ASSERT_VALUE(const auto free_model, load(0));
  LAPILLI_ASSERT_VALUE(const auto model, load(free_model->info().weight_bytes + 1000));
  std::atomic<bool> over{false};
  std::thread greedy([&] {
    while (!over) EXPECT_FALSE(model->memory().reserve({.bytes = 1001}).ok());
  });
  uint32_t refused = 0;
  for (int i = 0; i < 20000; ++i) refused += model->memory().reserve({.bytes = 1000}).ok() ? 0 : 1;
  over = true;
  greedy.join();
  EXPECT_EQ(refused, 0u);
}

TEST_F(DeviceLimits, FreeSessionsMakeRoom) {
  LAPILLI_ASSERT_VALUE(const auto free_model, load(0));
  LAPILLI_ASSERT_VALUE(const auto large, generate(free_model, sources(4)));
  LAPILLI_ASSERT_VALUE(const auto model, load(free_model->info().weight_bytes + large.stats.session_bytes));
  // The session of one source stays for the next search of its shape, until the larger one needs its memory.
  for (const size_t count : {1, 4, 1, 4}) {
    LAPILLI_ASSERT_VALUE(const auto search, Search::start(model, sources(count)));
    LAPILLI_ASSERT_OK(search->run_to_end());
    EXPECT_EQ(search->take()->hypotheses.size(), count);
  }
}

// A head of the cache that exceeds a binding is read sentence by sentence.
TEST(Limits, CachesLargerThanABinding) {
  const auto config = model::parse_shape("tiny");
  ASSERT_TRUE(config.ok());
  const auto network = model::random_network(*config, 1);
  const auto small = apply_mask(Capabilities{}, "small-bindings");
  ASSERT_TRUE(small.ok());
  const WorkspaceKey key = plain_key(4, 4, 32, 128);
  const auto kv = model::self_kv_shape(*config, key.shape.room(), 0);
  ASSERT_GT(kv.numbers() / kv.heads * 4, small->max_storage_range);
  const auto plan = compile(step_graph(network, key).graph, *small);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
}

// One that exceeds it by the slots of a sentence, or by one slot, is read and written in parts.
class LargeCaches : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(small_, apply_mask(Capabilities{}, "small-bindings"));
    LAPILLI_ASSERT_VALUE(const auto config, model::parse_shape("tiny,d=64,heads=1"));
    network_ = model::random_network(config, 1);
  }
  // How the first layer's self attention is computed.
  Result<Variant> variant(uint32_t beams, uint32_t positions, bool deterministic) const {
    CompileOptions options;
    options.deterministic = deterministic;
    const WorkspaceKey key = plain_key(2, beams, 32, positions);
    LAPILLI_TRY(const auto plan, compile(step_graph(network_, key).graph, small_, options));
    for (graph::NodeId id = 0; id < plan->graph.nodes().size(); ++id)
      if (plan->graph.node(id).label == "decoder.0.self.attention") return plan->variants[id];
    return fail(ErrorCode::internal, "no self attention");
  }
  Capabilities small_;
  model::Network network_;
};

TEST_F(LargeCaches, AreReadInParts) {
  for (const auto& [beams, positions] : {std::pair{4u, 32u}, {4u, 64u}, {1u, 128u}, {1u, 256u}}) {
    const bool fits = beams * positions <= 128;
    LAPILLI_ASSERT_VALUE(const auto v, variant(beams, positions, false));
    EXPECT_EQ(v.sums_in_order, !fits) << beams << " " << positions << " " << v.name;
    // A sentence's session may come to have more positions.
    LAPILLI_ASSERT_VALUE(const auto in_order, variant(beams, positions, true));
    EXPECT_STREQ(in_order.name, "parts of the cache");
  }
}

// Nobody knows whether a session will need parts: whole as far as that goes.
TEST_F(LargeCaches, OfModelsWithoutALongestOutputHaveOneOrderWhileTheyFit) {
  network_.config.decoder.max_positions = 0;
  LAPILLI_ASSERT_VALUE(const auto whole, variant(4, 32, true));
  EXPECT_TRUE(whole.sums_in_order);
  LAPILLI_EXPECT_OK(variant(4, 64, false));
  const auto refused = variant(4, 64, true);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().message, HasSubstr("do not ask for deterministic"));
}

}  // namespace
}  // namespace lapilli
