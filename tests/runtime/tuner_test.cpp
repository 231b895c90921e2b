// The search for the fastest ways to run a plan, with a device and a clock that are made up: nothing here is timed.
#include "runtime/tune/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "ops/products/matmul.hpp"
#include "ops/rows/layer_norm.hpp"
#include "runtime/plan/tuning_space.hpp"
#include "support/fixtures.hpp"

namespace lapilli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uint32_t kTunedRows = 8, kTunedWidth = 64;

graph::TensorId some_weight(graph::Graph& g, uint64_t words) {
  graph::Tensor t;
  t.name = "weight";
  t.cols = t.ld = words;
  t.space = graph::Space::weight;
  t.id = static_cast<uint32_t>(g.tensors().size());
  return g.add_tensor(std::move(t));
}

// Two products that are alike, a normalization, and an activation, which nobody tunes.
graph::Graph some_graph() {
  graph::Graph g;
  const auto given = g.activation("given", kTunedRows, kTunedWidth);
  g.tensor(given).space = graph::Space::state;
  auto x = ops::activation(g, "activation", given, Activation::relu);
  x = ops::layer_norm(g, "norm", x, some_weight(g, 2 * kTunedWidth), {});
  for (const char* name : {"first", "second"})
    x = ops::linear(g, name, x, some_weight(g, WeightLayout(kTunedWidth, kTunedWidth).words()), kTunedWidth);
  g.tensor(x).keep = true;
  return g;
}

bool is_product(const Plan& plan, const PlannedDispatch& d) {
  return std::string(plan.graph.node(d.node).op->name) == "matmul";
}

// A device that takes as long as it is told.
class FakeBench : public TuningBench {
 public:
  using Time = std::function<double(const Plan&, const PlannedDispatch&)>;
  Time time = [](const Plan&, const PlannedDispatch&) { return 100.0; };
  std::function<bool(const KernelInTest&)> right = [](const KernelInTest&) { return true; };
  std::function<bool(const Plan&)> agrees = [](const Plan&) { return true; };
  std::optional<Error> error;  // of each run
  double seconds_a_run = 0.001;

  double clock = 0;
  size_t runs = 0;
  std::vector<std::shared_ptr<const Plan>> bound;

  Result<std::vector<bool>> prove(std::span<const KernelInTest> kernels) override {
    std::vector<bool> all;
    for (const KernelInTest& k : kernels) all.push_back(right(k));
    return all;
  }
  Result<std::unique_ptr<TimedPlan>> bind(std::shared_ptr<const Plan> plan) override {
    bound.push_back(plan);
    return std::unique_ptr<TimedPlan>(std::make_unique<Timed>(*this, std::move(plan)));
  }

  Result<bool> agree(const std::shared_ptr<const Plan>& plan, const std::shared_ptr<const Plan>& standing) override {
    EXPECT_EQ(standing->tuned(), 0u);
    return agrees(*plan);
  }

 private:
  class Timed : public TimedPlan {
   public:
    Timed(FakeBench& bench, std::shared_ptr<const Plan> plan) : bench_(bench), plan_(std::move(plan)) {}
    Result<std::vector<double>> run() override {
      ++bench_.runs;
      bench_.clock += bench_.seconds_a_run;
      if (bench_.error) return Error(*bench_.error);
      std::vector<double> us;
      for (const PlannedDispatch& d : plan_->dispatches) us.push_back(bench_.time(*plan_, d));
      return us;
    }

   private:
    FakeBench& bench_;
    std::shared_ptr<const Plan> plan_;
  };
};

class Tuner : public testing::Test {
 protected:
  Tuner() {
    options_.now = [this] { return bench_.clock; };
    // A way to run the products that is none of the defaults.
    const graph::Node& product = subject_.graph.node(2);
    standing_ = choose_variant(subject_.caps, subject_.graph, product, {});
    const auto space = tuning_space({subject_.graph, subject_.caps}, product, standing_, {});
    fast_ = space.candidates.at(space.candidates.size() / 2);
  }
  [[nodiscard]] bool is_fast(const Plan& plan, const PlannedDispatch& d) const {
    const Variant& v = plan.variants[d.node];
    return is_product(plan, d) && v.id == fast_.id && v.numbers == fast_.numbers;
  }
  void make_fast(double ratio) {
    bench_.time = [=, this](const Plan& plan, const PlannedDispatch& d) {
      return is_fast(plan, d) ? 100 * ratio : 100;
    };
  }
  TuningReport tune() {
    auto report = lapilli::tune(subject_, bench_, options_);
    LAPILLI_EXPECT_OK(report);
    return report ? std::move(*report) : TuningReport{};
  }
  static const TunedNodes& products(const TuningReport& report) {
    const auto at = std::ranges::find(report.nodes, "matmul", [](const TunedNodes& n) { return n.key.op; });
    EXPECT_NE(at, report.nodes.end());
    return *at;
  }

  FakeBench bench_;
  TuningSubject subject_{some_graph(), Capabilities{}, {}};
  TunerOptions options_;
  Variant standing_, fast_;
};

TEST_F(Tuner, TakesWhatIsFastest) {
  make_fast(0.5);
  const TuningReport report = tune();
  const TunedNodes& n = products(report);
  EXPECT_EQ(n.nodes, 2u);
  EXPECT_EQ(n.key.node, "64 x 64 f32, rows 8");
  EXPECT_EQ(n.standing.id, standing_.id);
  EXPECT_EQ(n.best.id, fast_.id);
  EXPECT_EQ(n.best.numbers, fast_.numbers);
  EXPECT_DOUBLE_EQ(n.ratio, 0.5);
  EXPECT_EQ(report.won, 2u);
  EXPECT_TRUE(report.complete);
  EXPECT_DOUBLE_EQ(report.ratio, 300.0 / 400);
  Tunings tunings;
  report.apply_to(tunings);
  ASSERT_EQ(tunings.size(), 1u);
  CompileOptions options;
  options.tunings = &tunings;
  LAPILLI_ASSERT_VALUE(const auto plan, compile(some_graph(), subject_.caps, options));
  EXPECT_EQ(plan->tuned(), 2u);
  EXPECT_EQ(plan->variants.back().numbers, fast_.numbers);
}

TEST_F(Tuner, LessThanTheMarginWinsNothing) {
  make_fast(1 - 0.9 * options_.margin);
  const TuningReport report = tune();
  EXPECT_EQ(report.won, 0u);
  EXPECT_TRUE(report.complete);
  EXPECT_DOUBLE_EQ(report.ratio, 1);
  Tunings tunings;
  tunings.set(products(report).key, {"of an earlier run", {}});
  report.apply_to(tunings);
  EXPECT_TRUE(tunings.empty());
}

// It is fast, and slows down what comes behind it.
TEST_F(Tuner, WhatOthersPayForIsNoWin) {
  bench_.time = [this](const Plan& plan, const PlannedDispatch& d) {
    const bool others = std::ranges::any_of(plan.dispatches, [&](const auto& o) { return is_fast(plan, o); });
    return is_fast(plan, d) ? 50.0 : others ? 200.0 : 100.0;
  };
  EXPECT_EQ(tune().won, 0u);
}

// A candidate that is fast in the screening, and not in the final.
TEST_F(Tuner, LuckIsNoWin) {
  for (const size_t lucky : {size_t{10}, size_t{30}}) {
    size_t seen = 0;
    bench_.time = [&](const Plan& plan, const PlannedDispatch& d) {
      return is_fast(plan, d) && ++seen <= lucky ? 20.0 : 100.0;
    };
    EXPECT_EQ(tune().won, 0u) << lucky;
    EXPECT_GT(seen, lucky);
  }
}

TEST_F(Tuner, WhatIsWrongIsNeverTimed) {
  make_fast(0.5);
  bench_.right = [this](const KernelInTest& k) {
    return std::string(k.op->name) != "matmul" || k.variant.id != fast_.id || k.variant.numbers != fast_.numbers;
  };
  const TuningReport report = tune();
  EXPECT_EQ(report.won, 0u);
  EXPECT_EQ(products(report).wrong, 1u);
  for (const auto& plan : bench_.bound)
    for (const PlannedDispatch& d : plan->dispatches) EXPECT_FALSE(is_fast(*plan, d));
}

// Right in its small cases, and fast because it leaves out a part of what it is timed on.
TEST_F(Tuner, WhatErrsAtItsSizeDoesNotWin) {
  bench_.time = [](const Plan& plan, const PlannedDispatch& d) { return plan.variants[d.node].tuned ? 10.0 : 100.0; };
  bench_.agrees = [](const Plan& plan) {
    for (graph::NodeId n = 0; n < plan.graph.nodes().size(); ++n)
      if (plan.variants[n].tuned && std::string(plan.graph.node(n).op->name) == "matmul") return false;
    return true;
  };
  const TuningReport report = tune();
  EXPECT_EQ(report.won, 1u) << "the normalization is right";
  EXPECT_EQ(products(report).best.id, products(report).standing.id);
  EXPECT_EQ(products(report).wrong, 1u);
  for (const auto& plan : {bench_.bound.back()})
    for (const PlannedDispatch& d : plan->dispatches)
      EXPECT_EQ(plan->variants[d.node].tuned, std::string(plan->graph.node(d.node).op->name) == "layer_norm");
}

TEST_F(Tuner, KeepsToItsTime) {
  make_fast(0.5);
  tune();
  const double whole = bench_.clock;
  for (const double part : {0.0, 0.05, 0.3, 0.6, 0.9}) {
    bench_.clock = 0;
    options_.seconds = part * whole;
    const TuningReport report = tune();
    EXPECT_LE(bench_.clock, options_.seconds + 8 * bench_.seconds_a_run) << part;
    EXPECT_TRUE(report.won == 0 || products(report).best.id == fast_.id) << part;
    Tunings tunings;
    tunings.set(products(report).key, {"of an earlier run", {}});
    report.apply_to(tunings);
    EXPECT_EQ(tunings.size(), 1u) << part << ": what is not decided stays as it was";
  }
}

TEST_F(Tuner, EndsWhenItIsToldTo) {
  make_fast(0.5);
  size_t asked = 0;
  options_.go_on = [&] { return ++asked < 3; };
  const TuningReport report = tune();
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.won, 0u);
  EXPECT_LT(bench_.runs, 20u);
}

TEST_F(Tuner, ErrorsOfTheDeviceAreItsOwn) {
  bench_.error = Error{ErrorCode::device_lost, "lost"};
  const auto report = lapilli::tune(subject_, bench_, options_);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, ErrorCode::device_lost);
}

// Sums of a normalization are cut otherwise by other numbers, those of a product by no number of such a variant.
TEST_F(Tuner, DeterministicPlansSumInOneOrder) {
  subject_.options.deterministic = true;
  bench_.time = [](const Plan& plan, const PlannedDispatch& d) { return plan.variants[d.node].tuned ? 10.0 : 100.0; };
  const TuningReport report = tune();
  for (const TunedNodes& n : report.nodes) {
    EXPECT_TRUE(n.best.sums_in_order);
    EXPECT_TRUE(n.key.in_order);
    EXPECT_EQ(n.ratio < 1, n.key.op == "matmul") << n.key.op;
  }
  for (const auto& plan : bench_.bound)
    for (const Variant& v : plan->variants) EXPECT_TRUE(v.sums_in_order);
}

TEST_F(Tuner, WhatIsRefusedIsNoCandidate) {
  Verdicts verdicts;
  verdicts.refuse("matmul", fast_.name);
  subject_.options.verdicts = &verdicts;
  tune();
  for (const auto& plan : bench_.bound)
    for (const PlannedDispatch& d : plan->dispatches)
      EXPECT_TRUE(!is_product(*plan, d) || std::string(plan->variants[d.node].name) != fast_.name);
}

// ---- the space ------------------------------------------------------------------------------------------------------

TEST(TuningSpace, HoldsWhatCanBeLoweredEachOnce) {
  const graph::Graph g = some_graph();
  Capabilities caps;
  for (const uint32_t most : {128u, 1024u}) {
    caps.max_invocations = most;
    const graph::Node& product = g.node(2);
    const Variant standing = choose_variant(caps, g, product, {});
    const TuningSpace space = tuning_space({g, caps}, product, standing, {});
    EXPECT_THAT(space.candidates, Not(IsEmpty()));
    for (const Variant& v : space.candidates) {
      std::vector<Dispatch> list;
      LAPILLI_EXPECT_OK(product.op->lower({g, caps}, product, v, list));
      EXPECT_EQ(list.size(), 1u);
      EXPECT_LE(list.front().constants.front(), most);
      EXPECT_FALSE(v.id == standing.id && v.numbers == standing.numbers);
    }
  }
}

TEST(TuningSpace, TheModelPrefersWorkgroupsThatAreFilled) {
  Capabilities caps;
  caps.subgroup_size = 32;
  Dispatch d;
  d.groups = 64;
  d.cost = 1e9;
  d.constants = {32};
  const double whole = estimated_cycles(caps, {&d, 1});
  d.constants = {8};
  EXPECT_GT(estimated_cycles(caps, {&d, 1}), 1.5 * whole) << "24 of 32 lanes idle";
  d.constants = {32};
  const Dispatch two[] = {d, d};
  EXPECT_GT(estimated_cycles(caps, two), estimated_cycles(caps, {&d, 1}));
}

}  // namespace
}  // namespace lapilli
