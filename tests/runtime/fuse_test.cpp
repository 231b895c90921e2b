// Nodes that become parts of others: where, and that the graph still computes the same.
#include "runtime/plan/fuse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ops/rows/gate.hpp"
#include "ops/rows/layer_norm.hpp"
#include "support/fixtures.hpp"
#include "support/network_rig.hpp"

namespace lapilli {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::TensorId;

// A GPU of no known maker that may bind more buffers than the least.
Capabilities gpu(uint32_t storage_buffers = 16) {
  Capabilities caps;
  caps.max_storage_buffers = storage_buffers;
  return caps;
}

size_t count(const Graph& g, const std::string& op) {
  return static_cast<size_t>(
      std::count_if(g.nodes().begin(), g.nodes().end(), [&](const auto& n) { return n.op->name == op; }));
}

TensorId packed(Graph& g, uint64_t n, uint64_t k) {
  graph::Tensor t;
  t.name = "weight";
  t.cols = t.ld = WeightLayout(n, k).words();
  t.space = graph::Space::weight;
  t.id = static_cast<uint32_t>(g.tensors().size());
  return g.add_tensor(std::move(t));
}

// A post-norm sublayer: x is written, normalized, multiplied; what is made of that is added to the normalized rows.
struct Sublayer {
  Graph g;
  TensorId x, h, y;
  explicit Sublayer(uint64_t rows = 1, uint64_t d = 64) {
    const TensorId given = g.activation("given", rows, d);
    g.tensor(given).space = graph::Space::state;
    x = ops::activation(g, "x", given, Activation::relu);
    TensorId norm = packed(g, 2, d);
    g.tensor(norm).cols = g.tensor(norm).ld = 2 * d;
    h = ops::layer_norm(g, "norm", x, norm, {});
  }
  void multiply() { y = ops::linear(g, "y", h, packed(g, 64, 64), 64); }
  void add_up() { ops::linear_add(g, "sum", y, packed(g, 64, 64), h); }
  [[nodiscard]] Graph fused(const Capabilities& caps = gpu(), const CompileOptions& options = {}) const {
    LAPILLI_EXPECT_OK(g.validate());
    Graph f = fuse_norms(g, caps, options);
    LAPILLI_EXPECT_OK(f.validate());
    for (const auto& node : f.nodes()) LAPILLI_EXPECT_OK(node.op->infer(f, node));
    return f;
  }
};

TEST(FuseNorms, MakesThemPartsOfTheirProduct) {
  Sublayer s;
  s.multiply();
  s.add_up();
  const Graph f = s.fused();
  ASSERT_EQ(f.nodes().size(), 3u);
  const graph::Node& product = f.node(1);
  EXPECT_EQ(product.label, "y");
  EXPECT_EQ(product.inputs[0], s.x);
  EXPECT_EQ(product.outputs[kMultipliedOutput], s.h);
  EXPECT_FALSE(f.tensor(s.h).scratch);  // the sum reads it
  std::vector<Dispatch> dispatches;
  const Variant v = choose_variant(gpu(), f, product, {});
  EXPECT_STREQ(v.name, "norm split 1");
  LAPILLI_ASSERT_OK(product.op->lower({f, gpu()}, product, v, dispatches));
  EXPECT_EQ(dispatches.size(), 1u);
}

TEST(FuseNorms, WriteNothingThatNobodyReads) {
  Sublayer s;
  s.multiply();
  EXPECT_TRUE(s.fused().tensor(s.h).scratch);
  s.g.tensor(s.h).keep = true;
  const Graph f = s.fused();
  EXPECT_EQ(count(f, "layer_norm"), 0u);
  EXPECT_FALSE(f.tensor(s.h).scratch);
}

TEST(FuseNorms, LeaveApartWhatDoesNotGoTogether) {
  Sublayer two;
  two.multiply();
  two.multiply();
  EXPECT_EQ(count(two.fused(), "layer_norm"), 1u) << "two products";
  Sublayer earlier;
  ops::copy(earlier.g, "copy", earlier.h);
  earlier.multiply();
  EXPECT_EQ(count(earlier.fused(), "layer_norm"), 1u) << "read in front of the product";
  Sublayer over;
  ops::add(over.g, "over", over.x, over.h);
  over.multiply();
  EXPECT_EQ(count(over.fused(), "layer_norm"), 1u) << "x is another one when the product runs";
  Sublayer onto;
  ops::linear_add(onto.g, "onto", onto.h, packed(onto.g, 64, 64), onto.x);
  EXPECT_EQ(count(onto.fused(), "layer_norm"), 1u) << "the product writes x, which all of its workgroups read";
  const Graph unread = Sublayer().fused();
  EXPECT_EQ(count(unread, "layer_norm"), 1u);
}

TEST(FuseNorms, GoByTheDevice) {
  const auto left = [](const Capabilities& caps, uint64_t rows = 1, const CompileOptions& options = {}) {
    Sublayer s(rows);
    s.multiply();
    return count(s.fused(caps, options), "layer_norm");
  };
  EXPECT_EQ(left(gpu()), 0u);
  EXPECT_EQ(left(gpu(6)), 0u);
  EXPECT_EQ(left(gpu(5)), 1u) << "bindings";
  EXPECT_EQ(left(gpu(), 16), 0u);
  EXPECT_EQ(left(gpu(), 17), 1u) << "many rows";
  Capabilities caps = gpu();
  caps.type = DeviceType::discrete;
  EXPECT_EQ(left(caps), 0u);
  caps.vendor_id = 0x13b5;  // Arm
  EXPECT_EQ(left(caps), 1u) << "its products share nothing";
  caps.type = DeviceType::cpu;
  EXPECT_EQ(left(caps), 1u);
  CompileOptions options;
  options.deterministic = true;
  EXPECT_EQ(left(gpu(), 1, options), 1u) << "sums in order";
  options = {};
  options.floor_only = true;
  EXPECT_EQ(left(gpu(), 1, options), 1u);
  Verdicts verdicts;
  verdicts.refuse("matmul", "norm split 1");
  options = {};
  options.verdicts = &verdicts;
  EXPECT_EQ(left(gpu(), 1, options), 1u) << "what the self-test refused";
}

// A wide product has more workgroups than a device holds at once, and each of them would look at the rows anew.
TEST(FuseNorms, LeaveWideProductsAlone) {
  for (const bool wide : {false, true}) {
    Sublayer s;
    const uint32_t n = wide ? 40000 : 4000;
    ops::linear(s.g, "logits", s.h, packed(s.g, n, 64), n);
    EXPECT_EQ(count(s.fused(), "layer_norm"), wide ? 1u : 0u);
  }
}

// For several rows on large devices, invocations count.
TEST(FuseNorms, LeaveProductsAloneThatALargeDeviceDoesNotHold) {
  const auto left = [](uint64_t rows, uint32_t n) {
    Sublayer s(rows, 1024);
    ops::linear(s.g, "product", s.h, packed(s.g, n, 1024), n);
    Capabilities caps = gpu();
    caps.type = DeviceType::discrete;
    caps.max_invocations = caps.max_group_size[0] = 256;
    return count(s.fused(caps), "layer_norm");
  };
  EXPECT_EQ(left(8, 1024), 0u);
  EXPECT_EQ(left(8, 3072), 0u) << "384 workgroups of 256";
  EXPECT_EQ(left(8, 8192), 0u) << "512 of 128";
  EXPECT_EQ(left(8, 16384), 0u) << "1,024 of 64";
  EXPECT_EQ(left(4, 32000), 0u) << "1,000 of 64";
  EXPECT_EQ(left(8, 32000), 1u);
}

struct StepOf {
  const char* shape;
  uint32_t beams, layers, most;
};

// A gated feed-forward layer: both halves, the gate, the product of what that leaves.
struct GatedLayer {
  Graph g;
  TensorId both, gated, y;
  explicit GatedLayer(uint64_t rows = 1, Activation activation = Activation::gelu_tanh) {
    const TensorId given = g.activation("given", rows, 64);
    g.tensor(given).space = graph::Space::state;
    both = ops::linear(g, "both", given, packed(g, 256, 64), 256);
    gated = ops::gate(g, "gated", both, 128, activation);
  }
  void multiply(uint32_t columns = 64) { y = ops::linear(g, "y", gated, packed(g, columns, 128), columns); }
  [[nodiscard]] Graph fused(const Capabilities& caps = gpu(), const CompileOptions& options = {}) const {
    LAPILLI_EXPECT_OK(g.validate());
    Graph f = fuse_gates(g, caps, options);
    LAPILLI_EXPECT_OK(f.validate());
    for (const auto& node : f.nodes()) LAPILLI_EXPECT_OK(node.op->infer(f, node));
    return f;
  }
};

TEST(FuseGates, MakesThemPartsOfTheirProduct) {
  GatedLayer s;
  s.multiply();
  const Graph f = s.fused();
  ASSERT_EQ(f.nodes().size(), 2u);
  const graph::Node& product = f.node(1);
  EXPECT_EQ(product.label, "y");
  EXPECT_EQ(product.inputs[0], s.both);
  EXPECT_EQ(product.outputs[kMultipliedOutput], s.gated);
  EXPECT_TRUE(f.tensor(s.gated).scratch);
  std::vector<Dispatch> dispatches;
  LAPILLI_ASSERT_OK(product.op->lower({f, gpu()}, product, choose_variant(gpu(), f, product, {}), dispatches));
  EXPECT_EQ(dispatches.size(), 1u);
  dispatches.clear();
  const Variant floor = product.op->variants(gpu(), f, product).back();
  LAPILLI_ASSERT_OK(product.op->lower({f, gpu()}, product, floor, dispatches));
  EXPECT_EQ(dispatches.size(), 2u) << "what gates nothing has it done in front";
}

TEST(FuseGates, LeaveApartWhatDoesNotGoTogether) {
  GatedLayer two;
  two.multiply();
  two.multiply();
  EXPECT_EQ(count(two.fused(), "gate"), 1u) << "two products";
  GatedLayer beside;
  beside.multiply();
  ops::copy(beside.g, "copy", beside.gated);
  EXPECT_EQ(count(beside.fused(), "gate"), 1u) << "read beside";
  GatedLayer over;
  ops::add(over.g, "over", over.both, ops::activation(over.g, "other", over.both, Activation::relu));
  over.multiply();
  EXPECT_EQ(count(over.fused(), "gate"), 1u) << "x is another one when the product runs";
  GatedLayer kept;
  kept.multiply();
  kept.g.tensor(kept.gated).keep = true;
  EXPECT_EQ(count(kept.fused(), "gate"), 1u) << "kept";
  GatedLayer sigmoid(1, Activation::sigmoid);
  sigmoid.multiply();
  EXPECT_EQ(count(sigmoid.fused(), "gate"), 1u) << "products do not know it";
  EXPECT_EQ(count(GatedLayer().fused(), "gate"), 1u);
}

TEST(FuseGates, GoByTheDevice) {
  const auto left = [](const Capabilities& caps, uint64_t rows = 1, uint32_t columns = 64,
                       const CompileOptions& options = {}) {
    GatedLayer s(rows);
    s.multiply(columns);
    return count(s.fused(caps, options), "gate");
  };
  EXPECT_EQ(left(gpu()), 0u);
  EXPECT_EQ(left(Capabilities()), 0u) << "needs no more bindings than the least device has";
  EXPECT_EQ(left(gpu(), 4), 0u);
  EXPECT_EQ(left(gpu(), 5), 1u) << "rows";
  EXPECT_EQ(left(gpu(), 1, 20000), 1u) << "more workgroups than are there at once";
  Capabilities caps = gpu();
  caps.type = DeviceType::cpu;
  EXPECT_EQ(left(caps), 1u);
  CompileOptions options;
  options.deterministic = true;
  EXPECT_EQ(left(gpu(), 1, 64, options), 1u) << "sums in order";
  Verdicts verdicts;
  verdicts.refuse("matmul", "split 1");
  options = {};
  options.verdicts = &verdicts;
  EXPECT_EQ(left(gpu(), 1, 64, options), 1u) << "what the self-test refused";
}

// docs/decisions/fewer-dispatches.md: a decoder layer of a step takes eight dispatches, with a gate as well.
TEST(FuseNorms, LeaveEightDispatchesOfALayer) {
  for (const StepOf& of : {StepOf{"tiny", 1, 2, 8}, StepOf{"tiny", 4, 2, 8}, StepOf{"data/mbart", 2, 2, 8},
                           StepOf{"data/t5", 1, 2, 8}, StepOf{"data/t5-v1_1", 2, 2, 8}}) {
    LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::make_network(of.shape));
    const auto& network = loaded.network;
    const WorkspaceKey key = plain_key(1, of.beams, 9, 16);
    for (const Capabilities& caps : {gpu(), Capabilities()}) {
      LAPILLI_ASSERT_VALUE(const auto plan, compile(step_graph(network, key).graph, caps));
      LAPILLI_EXPECT_OK(graph::check(plan->commands, plan->schedule));
      size_t in_layer = 0;
      for (const auto& d : plan->dispatches) in_layer += plan->graph.node(d.node).label.starts_with("decoder.0.");
      if (caps.max_storage_buffers > 4) {
        EXPECT_LE(in_layer, of.most) << of.shape;
      } else {
        EXPECT_GE(in_layer, of.most + 2u) << of.shape << " on the least device";
      }
    }
  }
}

// Beams: parts of the sums, all of log-softmax, processors and best K, the beams' step, advance. Greedy has no
// log-softmax.
TEST(FuseSampler, LeavesFourDispatchesBehindTheLogits) {
  LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::make_network("tiny"));
  Capabilities cpu = gpu();
  cpu.type = DeviceType::cpu;
  const std::pair<Capabilities, size_t> devices[] = {{gpu(), 4}, {gpu(5), 6}, {cpu, 6}};
  for (const uint32_t beams : {1u, 4u})
    for (const auto& [caps, most] : devices) {
      LAPILLI_ASSERT_VALUE(const auto plan,
                           compile(step_graph(loaded.network, plain_key(1, beams, 9, 16)).graph, caps));
      LAPILLI_EXPECT_OK(graph::check(plan->commands, plan->schedule));
      const auto is_logits = [&](const auto& d) { return plan->graph.node(d.node).label == "logits"; };
      const auto logits = std::find_if(plan->dispatches.begin(), plan->dispatches.end(), is_logits);
      EXPECT_EQ(plan->dispatches.end() - logits - 1, static_cast<ptrdiff_t>(beams == 1 ? 4 : most)) << beams;
    }
}

TEST(FuseSampler, LeavesApartWhatDoesNotGoTogether) {
  LAPILLI_ASSERT_VALUE(const auto text, testing_support::make_network("tiny"));
  LAPILLI_ASSERT_VALUE(const auto speech, testing_support::make_network("data/whisper"));
  const auto fused = [&](const testing_support::LoadedNetwork& of, auto change, CompileOptions options = {}) {
    WorkspaceKey key = plain_key(1, 2, 9, 16);
    change(key);
    return count(fuse_sampler(step_graph(of.network, key).graph, gpu(), options), "choose");
  };
  const auto as_it_is = [](WorkspaceKey&) {};
  EXPECT_EQ(fused(text, as_it_is), 1u);
  EXPECT_EQ(fused(speech, as_it_is), 1u);
  EXPECT_EQ(fused(speech, [](WorkspaceKey& key) { key.timestamps = true; }), 0u) << "timestamps look at whole rows";
  EXPECT_EQ(fused(text, [](WorkspaceKey& key) { key.sample = true; }), 0u);
  EXPECT_EQ(fused(text, [](WorkspaceKey& key) { key.renormalize = true; }), 0u);
  EXPECT_EQ(fused(text, [](WorkspaceKey& key) { key.capture = true; }), 0u) << "scores are read";
  CompileOptions floor;
  floor.floor_only = true;
  EXPECT_EQ(fused(text, as_it_is, floor), 0u);
  Verdicts verdicts;
  verdicts.refuse("choose", "together");
  CompileOptions refused;
  refused.verdicts = &verdicts;
  EXPECT_EQ(fused(text, as_it_is, refused), 0u);
}

// The references of the fused graph's nodes make the same of the same state, to the bit, but for what nobody reads.
TEST(Fuse, ComputesTheSame) {
  for (const char* shape : {"tiny", "data/mbart", "data/t5-v1_1", "data/prophetnet"}) {
    LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::make_network(shape));
    const auto& network = loaded.network;
    testing_support::SearchInput input;
    input.options.beams = 2;
    input.options.max_length = 8;
    input.options.end_ids = {0};
    input.sources = testing_support::random_sources({5, 3}, network.config.target_vocabulary, 1);
    const WorkspaceKey key = testing_support::exact_key(input);
    const auto run = [&](bool fuse) -> Result<Interpreter> {
      LAPILLI_TRY(auto interpreter, testing_support::make_interpreter(network, key, input));
      interpreter.run(admit_graph(network, key.shape));
      interpreter.run(encode_graph(network, key));
      interpreter.run(start_graph(network, key.shape));
      Graph step = step_graph(network, key).graph;
      const size_t norms = count(step, "layer_norm");
      EXPECT_EQ(count(step, "gate") > 0, std::string(shape) == "data/t5-v1_1");
      if (fuse) step = fuse_sampler(fuse_gates(fuse_norms(std::move(step), gpu(), {}), gpu(), {}), gpu(), {});
      EXPECT_TRUE(!fuse || count(step, "gate") == 0) << shape;
      EXPECT_TRUE(!fuse || count(step, "layer_norm") < norms) << shape;
      for (int i = 0; i < 4; ++i) interpreter.run(step);
      return interpreter;
    };
    LAPILLI_ASSERT_VALUE(auto apart, run(false));
    LAPILLI_ASSERT_VALUE(auto together, run(true));
    for (const auto& [id, value] : apart.states) {
      EXPECT_EQ(together.states[id].f, value.f) << shape << ", state " << id;
      EXPECT_EQ(together.states[id].u, value.u) << shape << ", state " << id;
    }
  }
}

}  // namespace
}  // namespace lapilli
