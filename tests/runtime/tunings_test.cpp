// The fastest choices: kept between runs, and used by a plan, whoever wrote them.
#include "runtime/plan/tunings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/core/registry.hpp"
#include "ops/core/shader_table.hpp"
#include "ops/products/matmul.hpp"
#include "ops/rows/basic.hpp"
#include "ops/rows/layer_norm.hpp"
#include "runtime/check/agreement.hpp"
#include "runtime/check/kernel_proof.hpp"
#include "runtime/check/self_test.hpp"
#include "runtime/plan/tuning_space.hpp"
#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "support/memory_store.hpp"
#include "vulkan/caps/persistent_cache.hpp"

namespace lapilli {
namespace {

constexpr uint32_t kSquare = 64;

graph::Graph product(uint32_t rows = 8) {
  graph::Graph g;
  const auto x = g.activation("x", rows, kSquare);
  g.tensor(x).space = graph::Space::state;
  graph::Tensor w;
  w.name = "w";
  w.cols = w.ld = WeightLayout(kSquare, kSquare).words();
  w.space = graph::Space::weight;
  g.tensor(ops::linear(g, "product", x, g.add_tensor(std::move(w)), kSquare)).keep = true;
  return g;
}
TuningKey key_of(const graph::Graph& g, bool in_order = false) {
  const graph::Node& node = g.node(0);
  return {node.op->name, node.op->tuning.key(g, node), in_order};
}
Tunings some_tunings() {
  Tunings t;
  t.set({"matmul", "64 x 64 f32, rows 8"}, {"rows 4", {16, 0}});
  t.set({"matmul", "64 x 64 f32, rows 8", true}, {"rows 8", {32, 0}});
  t.set({"layer_norm", "512 columns, rows 1"}, {"workgroup a row", {4, 0xffffffff}});
  return t;
}
TEST(Tunings, ComeBackAsTheyWere) {
  const Tunings back = tunings_of(blob_of(some_tunings()));
  ASSERT_EQ(back.size(), 3u);
  const TunedChoice* choice = back.find({"matmul", "64 x 64 f32, rows 8", true});
  ASSERT_NE(choice, nullptr);
  EXPECT_EQ(*choice, (TunedChoice{"rows 8", {32, 0}}));
  EXPECT_EQ(back.find({"matmul", "64 x 64 f32, rows 8"})->variant, "rows 4");
  EXPECT_EQ(back.find({"matmul", "64 x 64 f32, rows 4"}), nullptr);
  EXPECT_TRUE(tunings_of(blob_of(Tunings())).empty());
}

TEST(Tunings, WhatIsNoneIsNone) {
  for (const std::string& text : std::vector<std::string>{
           "", "[", "null", "7", "{}", "[7]", "[[]]", R"([["matmul","k",false,"rows 4",16]])",
           R"([["matmul","k",false,"rows 4",16,-1]])", R"([["matmul","k",false,"rows 4",16,4294967296]])",
           R"([["matmul","k",0,"rows 4",16,0]])", R"([["matmul",7,false,"rows 4",16,0]])",
           R"([["matmul","k",false,"rows 4",1.5,0]])", "[[\"" + std::string(300, 'm') + R"(","k",false,"v",1,0]])",
           std::string(5000, '['), "\xff\xff"})
    EXPECT_TRUE(tunings_of(testing_support::bytes_of_text(text)).empty()) << text;
  const Blob whole = blob_of(some_tunings());
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_TRUE(tunings_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}).empty()) << length;
}

class TunedPlans : public testing::Test {
 protected:
  // The variant that compile() takes for the product.
  Variant chosen(const CompileOptions& more = {}) {
    CompileOptions options = more;
    options.tunings = &tunings_;
    auto plan = compile(product(), caps_, options);
    LAPILLI_EXPECT_OK(plan);
    return plan ? plan.value()->variants.front() : Variant{};
  }
  Variant untuned(const CompileOptions& options = {}) {
    const graph::Graph g = product();
    return choose_variant(caps_, g, g.node(0), options);
  }
  void expect_default(const CompileOptions& options = {}) {
    const Variant got = chosen(options), want = untuned(options);
    EXPECT_FALSE(got.tuned);
    EXPECT_EQ(got.id, want.id);
    EXPECT_EQ(got.numbers, want.numbers);
  }
  Capabilities caps_;
  Tunings tunings_;
};

TEST_F(TunedPlans, AreMadeOfWhatWasFound) {
  tunings_.set(key_of(product()), {"rows 4", {16, 0}});
  EXPECT_TRUE(chosen().tuned);
  EXPECT_STREQ(chosen().name, "rows 4");
  EXPECT_EQ(chosen().numbers, (Numbers{16, 0}));
  EXPECT_EQ(key_of(product(5)), key_of(product(8)));
  EXPECT_NE(key_of(product(4)), key_of(product(8)));
}

TEST_F(TunedPlans, HaveTheDefaultsWhereAChoiceIsNone) {
  for (const TunedChoice& choice : {TunedChoice{"no such variant", {16, 0}}, TunedChoice{"rows 4", {0, 0}},
                                    TunedChoice{"rows 4", {16, 3}}, TunedChoice{"rows 4", {1u << 20, 0}},
                                    TunedChoice{"split 4", {7, 0xffffffff}}, TunedChoice{"panels 4", {8, 9}}}) {
    tunings_.set(key_of(product()), choice);
    SCOPED_TRACE(choice.variant);
    expect_default();
  }
}

TEST_F(TunedPlans, HaveTheDefaultsWhereTheVariantIsRefused) {
  tunings_.set(key_of(product()), {"rows 4", {16, 0}});
  Verdicts verdicts;
  verdicts.refuse("matmul", "rows 4");
  CompileOptions options;
  options.verdicts = &verdicts;
  expect_default(options);
  // The floor, too: its own numbers may be right.
  tunings_.set(key_of(product()), {"rows 1", {16, 0}});
  EXPECT_TRUE(chosen().tuned);
  verdicts.refuse("matmul", "rows 1");
  expect_default(options);
  CompileOptions floor;
  floor.floor_only = true;
  expect_default(floor);
}

// On a CPU driver: of GPUs one kernel alone sums in order.
TEST_F(TunedPlans, AreDeterministicIfThatIsAskedFor) {
  caps_.type = DeviceType::cpu;
  CompileOptions options;
  options.deterministic = true;
  tunings_.set(key_of(product()), {"split 4", {64, 8}});
  EXPECT_STREQ(chosen().name, "split 4");
  expect_default(options);
  tunings_.set(key_of(product()), {"rows 4", {16, 0}});
  EXPECT_EQ(chosen(options).numbers, (Numbers{16, 0}));  // it sums in order as well
  tunings_.set(key_of(product(), true), {"rows 8", {32, 0}});
  EXPECT_STREQ(chosen(options).name, "rows 8");
  EXPECT_STREQ(chosen().name, "rows 4");
}

graph::TensorId weight(graph::Graph& g, uint64_t words) {
  graph::Tensor w;
  w.name = "w";
  w.cols = w.ld = words;
  w.space = graph::Space::weight;
  w.id = static_cast<uint32_t>(g.tensors().size());
  return g.add_tensor(std::move(w));
}
// A row is written, normalized, and multiplied.
graph::Graph normalized_product() {
  graph::Graph g;
  const auto given = g.activation("given", 1, kSquare);
  g.tensor(given).space = graph::Space::state;
  auto x = ops::activation(g, "x", given, Activation::relu);
  x = ops::layer_norm(g, "norm", x, weight(g, 2 * kSquare), {});
  g.tensor(ops::linear(g, "product", x, weight(g, WeightLayout(kSquare, kSquare).words()), kSquare)).keep = true;
  return g;
}

// On a device where the product normalizes its row itself, so that both are one node.
TEST_F(TunedPlans, WhatIsFusedIsTunedAsOne) {
  caps_.max_storage_buffers = 16;
  LAPILLI_ASSERT_VALUE(const auto fused, compile(normalized_product(), caps_));
  ASSERT_EQ(fused->graph.nodes().size(), 2u);
  const graph::Node& node = fused->graph.node(1);
  const Variant standing = fused->variants[1];
  const TuningKey key{node.op->name, node.op->tuning.key(fused->graph, node)};
  EXPECT_NE(key, key_of(product(1)));
  const TuningSpace space = tuning_space({fused->graph, caps_}, node, standing, {});
  ASSERT_FALSE(space.candidates.empty());
  CompileOptions options;
  options.tunings = &tunings_;
  for (const Variant& v : space.candidates) {
    EXPECT_STREQ(v.name, standing.name) << "others have a dispatch more";
    tunings_.set(key, {v.name, v.numbers});
    LAPILLI_ASSERT_VALUE(const auto plan, compile(normalized_product(), caps_, options));
    ASSERT_EQ(plan->graph.nodes().size(), 2u);
    EXPECT_EQ(plan->variants[1].numbers, v.numbers);
  }
  // One that comes apart is a plan as well.
  tunings_.set(key, {"rows 1", {32, 0}});
  LAPILLI_ASSERT_VALUE(const auto apart, compile(normalized_product(), caps_, options));
  EXPECT_EQ(apart->graph.nodes().size(), 3u);
}

// ---- with a device --------------------------------------------------------------------------------------------------

class DeviceTunings : public testing::Test {
 protected:
  void SetUp() override { counting::reset(); }
  void TearDown() override {
    device_.reset();
    counting::reset();
  }
  void open() {
    device_.reset();
    vulkan::DeviceOptions options;
    options.get_instance_proc_addr = counting::get_instance_proc_addr();
    options.keep = {store_, shaders_checksum()};
    LAPILLI_ASSERT_VALUE(device_, vulkan::Device::create(options));
  }
  void keep(const Tunings& tunings) {
    open();
    ASSERT_TRUE(device_);
    vulkan::PersistentCache(store_, vulkan::stored_identity(*device_, shaders_checksum()))
        .keep(vulkan::StoredKind::tunings, blob_of(tunings));
  }
  static void compile_badly(const std::string& name, counting::Compiler how) {
    for (uint32_t i = 0; i < static_cast<uint32_t>(ShaderId::count); ++i) {
      const ShaderCode& code = shader_code(static_cast<ShaderId>(i));
      if (std::string(code.name) == name) counting::compile_badly(code.words, code.word_count, how);
    }
  }
  Result<std::shared_ptr<const Plan>> compiled(const char* variant, Numbers numbers) const {
    Tunings tunings;
    tunings.set(key_of(product()), {variant, numbers});
    CompileOptions options;
    options.tunings = &tunings;
    options.reuse_memory = false;
    return compile(product(), device_->caps(), options);
  }
  std::shared_ptr<testing_support::MemoryStore> store_ = std::make_shared<testing_support::MemoryStore>();
  std::shared_ptr<vulkan::Device> device_;
};

TEST_F(DeviceTunings, AreThereInTheNextRunAndOfThisDriverAlone) {
  keep(some_tunings());
  EXPECT_TRUE(tunings_on(*device_)->empty()) << "what a run begins with stays until its end";
  open();
  EXPECT_EQ(tunings_on(*device_)->all(), some_tunings().all());
  EXPECT_EQ(tunings_on(*device_), tunings_on(*device_));
  device_.reset();
  counting::pretend_properties([](VkPhysicalDeviceProperties& p) { ++p.driverVersion; });
  open();
  EXPECT_TRUE(tunings_on(*device_)->empty());
}

TEST_F(DeviceTunings, OfOtherShadersOrDamagedAreNone) {
  keep(some_tunings());
  vulkan::StoredIdentity others = vulkan::stored_identity(*device_, shaders_checksum() + 1);
  EXPECT_TRUE(vulkan::PersistentCache(store_, others).take(vulkan::StoredKind::tunings).empty());
  const Blob whole = store_->starting_with("tunings");
  for (size_t i = 0; i < whole.size(); i += 7) {
    store_->starting_with("tunings")[i] ^= std::byte{1};
    open();
    EXPECT_TRUE(tunings_on(*device_)->empty()) << i;
    store_->starting_with("tunings") = whole;
  }
}

TEST_F(DeviceTunings, CandidatesAreProvenOneByOne) {
  open();
  LAPILLI_ASSERT_VALUE(const auto four, compiled("rows 4", {16, 0}));
  LAPILLI_ASSERT_VALUE(const auto eight, compiled("rows 8", {16, 0}));
  LAPILLI_ASSERT_VALUE(const auto one, compiled("rows 1", {16, 0}));
  for (const auto& plan : {four, eight, one}) ASSERT_EQ(plan->tuned(), 1u);
  const auto kernels = kernels_of(std::vector{four, eight, one}, device_->caps());
  ASSERT_EQ(kernels.size(), 3u);
  LAPILLI_ASSERT_VALUE(const auto right, prove_kernels(device_, kernels));
  EXPECT_EQ(right, (std::vector{true, true, true}));
  for (const auto how : {counting::Compiler::wrong, counting::Compiler::refuses}) {
    open();
    compile_badly("matmul_r8", how);
    LAPILLI_ASSERT_VALUE(const auto seen, prove_kernels(device_, kernels));
    EXPECT_EQ(seen, (std::vector{true, false, true}));
    EXPECT_TRUE(SelfTest::of(*device_)->verdicts().empty()) << "a candidate's fault is nobody else's";
    device_.reset();
    counting::reset();
  }
}

// At its own size, a candidate against what stands: other orders of sums agree, a kernel that errs does not.
TEST_F(DeviceTunings, ValuesAgreeButForRounding) {
  for (const bool wrong : {false, true}) {
    open();
    if (wrong) compile_badly("matmul_r8", counting::Compiler::wrong);
    std::vector<vulkan::Buffer> buffers;
    for (const uint32_t bits : {0x3f012345u, 0x3e89abcdu}) {  // x, w and its bias
      LAPILLI_ASSERT_VALUE(auto buffer, device_->make_buffer(1 << 16, vulkan::MemoryUse::device, "test"));
      const std::vector<uint32_t> words(buffer.size() / 4, bits);
      LAPILLI_ASSERT_OK(device_->write(buffer, 0, std::as_bytes(std::span(words))));
      buffers.push_back(std::move(buffer));
    }
    const MemoryMap memory = [&](graph::Space space, uint32_t) {
      const vulkan::Buffer& b = buffers[space == graph::Space::state ? 0 : 1];
      return BufferRef{&b, 0, b.size()};
    };
    LAPILLI_ASSERT_VALUE(const auto four, compiled("rows 4", {16, 0}));
    LAPILLI_ASSERT_VALUE(const auto eight, compiled("rows 8", {32, 0}));
    LAPILLI_ASSERT_VALUE(const auto expected, run_for_values(device_, four, memory));
    LAPILLI_ASSERT_VALUE(const auto values, run_for_values(device_, eight, memory));
    EXPECT_EQ(values_agree(*eight, values, expected), !wrong);
    EXPECT_TRUE(values_agree(*four, expected, expected));
    auto other = expected;
    other[four->placement.offset[four->graph.root(four->graph.node(0).outputs[0])] / 4 + 7] ^= 1u << 23;
    EXPECT_FALSE(values_agree(*four, other, expected));
    EXPECT_FALSE(values_agree(*four, {}, expected));
    buffers.clear();
    device_.reset();
    counting::reset();
  }
}

}  // namespace
}  // namespace lapilli
