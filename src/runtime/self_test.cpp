#include "runtime/self_test.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "ops/case_util.hpp"
#include "ops/shader_table.hpp"
#include "runtime/bind.hpp"
#include "runtime/execute.hpp"

namespace lapilli {

// A kernel that was not tested yet, as a plan uses it. Not of the unnamed namespace, since SelfTest::Claim holds some.
struct KernelInTest {
  const OpDef* op = nullptr;
  Variant variant;
  bool floor = false;
  PlannedPipeline pipeline;
};

namespace {

constexpr size_t kCasesPerKernel = 2;
constexpr uint64_t kCaseWords = 1 << 15;  // of all tensors of a case; larger ones are left to the op suite

// A case to run, by one variant of its op.
struct Trial {
  std::shared_ptr<OpCase> c;
  Variant variant;
  bool floor = false;
  std::vector<Dispatch> dispatches;
  uint64_t words = 0;
};

// Kernels of the plans that are not among the tested ones, each once.
std::vector<KernelInTest> untested(std::span<const std::shared_ptr<const Plan>> plans,
                             const std::vector<PlannedPipeline>& tested, const Capabilities& caps) {
  std::vector<KernelInTest> kernels;
  for (const auto& plan : plans) {
    std::vector<bool> seen(plan->pipelines.size());
    for (const PlannedDispatch& d : plan->dispatches) {
      if (seen[d.pipeline]) continue;
      seen[d.pipeline] = true;
      const PlannedPipeline& p = plan->pipelines[d.pipeline];
      const auto same = [&](const KernelInTest& k) { return k.pipeline == p; };
      if (std::find(tested.begin(), tested.end(), p) != tested.end() ||
          std::any_of(kernels.begin(), kernels.end(), same))
        continue;
      const graph::Node& node = plan->graph.node(d.node);
      const Variant v = plan->variants[d.node];
      kernels.push_back({node.op, v, node.op->variants(caps, plan->graph, node).back().id == v.id, p});
    }
  }
  return kernels;
}

uint64_t case_words(const OpCase& c) {
  uint64_t words = 0;
  for (graph::TensorId id = 0; id < c.graph.tensors().size(); ++id)
    if (c.graph.root(id) == id) words += c.graph.tensor(id).elements();
  return words;
}

bool runs(const Trial& t, const PlannedPipeline& p) {
  return std::any_of(t.dispatches.begin(), t.dispatches.end(),
                     [&](const Dispatch& d) { return d.shader == p.shader && d.constants == p.constants; });
}

// With which numbers a case is lowered for these kernels: its own, and those with which a plan has the same variant.
std::vector<Numbers> numbers_for(const OpDef& op, const Variant& own, std::span<const KernelInTest> kernels) {
  std::vector<Numbers> all;
  for (const KernelInTest& k : kernels) {
    if (k.op != &op || k.variant.id != own.id) continue;
    if (all.empty()) all.push_back(own.numbers);
    if (std::find(all.begin(), all.end(), k.variant.numbers) == all.end()) all.push_back(k.variant.numbers);
  }
  return all;
}

// Every way in which small cases of the op run one of these kernels' variants; their inputs are not made yet.
std::vector<Trial> trials_of(const OpDef& op, std::span<const KernelInTest> kernels, const Capabilities& caps) {
  std::vector<Trial> trials;
  for (OpCase& made : op.cases()) {
    const uint64_t words = case_words(made);
    if (made.slow || words > kCaseWords) continue;
    const auto c = std::make_shared<OpCase>(std::move(made));
    const graph::Node& node = c->graph.node(0);
    const auto variants = op.variants(caps, c->graph, node);
    for (const Variant& v : variants)
      for (const Numbers& numbers : numbers_for(op, v, kernels)) {
        Trial t{c, v, v.id == variants.back().id, {}, words};
        t.variant.numbers = numbers;
        // What this device's limits do not allow is not a case for it.
        if (!op.infer(c->graph, node) || !op.lower({c->graph, caps}, node, t.variant, t.dispatches)) continue;
        const auto exact = [&](const KernelInTest& k) { return runs(t, k.pipeline); };
        if (numbers == v.numbers || std::any_of(kernels.begin(), kernels.end(), exact)) trials.push_back(std::move(t));
      }
  }
  return trials;
}

// The largest cases that run the very kernel; if there are none (a head size that no case has), those of its variant.
std::vector<size_t> choose_for(const KernelInTest& k, std::span<const Trial> trials) {
  std::vector<size_t> exact, others;
  for (size_t i = 0; i < trials.size(); ++i)
    if (trials[i].variant.id == k.variant.id) (runs(trials[i], k.pipeline) ? exact : others).push_back(i);
  std::vector<size_t>& chosen = exact.empty() ? others : exact;
  std::stable_sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) { return trials[a].words > trials[b].words; });
  if (chosen.size() > kCasesPerKernel) chosen.erase(chosen.begin() + kCasesPerKernel, chosen.end());
  return std::move(chosen);
}

std::vector<Trial> choose_trials(std::span<const KernelInTest> kernels, const Capabilities& caps) {
  std::vector<Trial> chosen;
  std::vector<const OpDef*> ops;
  for (const KernelInTest& k : kernels)
    if (std::find(ops.begin(), ops.end(), k.op) == ops.end()) ops.push_back(k.op);
  for (const OpDef* op : ops) {
    std::vector<Trial> trials = trials_of(*op, kernels, caps);
    std::vector<bool> taken(trials.size());
    for (const KernelInTest& k : kernels)
      if (k.op == op)
        for (const size_t i : choose_for(k, trials)) taken[i] = true;
    for (size_t i = 0; i < trials.size(); ++i) {
      if (!taken[i]) continue;
      OpCase& c = *trials[i].c;
      if (c.prepare) c.prepare(c);
      c.prepare = nullptr;  // another variant may run it, too
      chosen.push_back(std::move(trials[i]));
    }
  }
  return chosen;
}

// The tensors of all trials in one buffer, so that the whole test is one submission.
class Bench {
 public:
  explicit Bench(std::span<const Trial> trials) {
    for (const Trial& t : trials) {
      got_.push_back(host_tensors(*t.c));
      first_.push_back(offsets_.size());
      for (graph::TensorId id = 0; id < t.c->graph.tensors().size(); ++id) {
        const bool own = t.c->graph.root(id) == id;
        offsets_.push_back(own ? words_.size() * 4 : offsets_[first_.back() + t.c->graph.root(id)]);
        if (own) append(t.c->graph.tensor(id), got_.back().values[id]);
      }
    }
  }

  Status run(const std::shared_ptr<vulkan::Device>& device, std::span<const Trial> trials) {
    LAPILLI_TRY(const auto buffer, device->make_buffer(words_.size() * 4, vulkan::MemoryUse::device, "self-test"));
    // Nothing else uses the buffer: other work of the device is not waited for.
    LAPILLI_CHECK(device->write(buffer, 0, std::as_bytes(std::span(words_)), vulkan::Ticket{0}));
    std::vector<runtime::TensorPlace> places;
    for (const uint64_t offset : offsets_) places.push_back({&buffer, offset});
    std::vector<Dispatch> all;
    for (size_t i = 0; i < trials.size(); ++i)
      for (Dispatch d : trials[i].dispatches) {
        for (Operand& o : d.operands) o.tensor += static_cast<graph::TensorId>(first_[i]);
        all.push_back(std::move(d));
      }
    LAPILLI_CHECK(runtime::execute(device, device->caps(), all, places));
    LAPILLI_CHECK(device->read(buffer, 0, std::as_writable_bytes(std::span(words_)), vulkan::Ticket{0}));
    for (size_t i = 0; i < trials.size(); ++i) {
      const graph::Graph& g = trials[i].c->graph;
      for (graph::TensorId id = 0; id < g.tensors().size(); ++id)
        if (g.root(id) == id)
          from_words(std::span(words_).subspan(offsets_[first_[i] + id] / 4, g.tensor(id).elements()), g.tensor(id),
                     got_[i].values[id]);
    }
    return {};
  }

  HostTensors& got(size_t trial) { return got_[trial]; }

 private:
  void append(const graph::Tensor& t, const HostTensor& value) {
    const size_t at = words_.size();
    words_.resize(at + round_up<uint64_t>(t.elements(), 64));
    to_words(t, value, std::span(words_).subspan(at, t.elements()));
  }

  std::vector<HostTensors> got_;   // by trial
  std::vector<size_t> first_;      // by trial: its first tensor's place in offsets_
  std::vector<uint64_t> offsets_;  // bytes
  std::vector<uint32_t> words_;
};

std::string describe(const PlannedPipeline& p) {
  std::string text = shader_code(p.shader).name;
  for (const uint32_t c : p.constants) text += format(" %u", c);
  return text;
}

Disagreement disagreement(const KernelInTest& k, std::string problem) {
  return {k.op->name, k.variant.name, std::move(problem), k.floor};
}

void warn(const Capabilities& caps, const Disagreement& found) {
  log(LogLevel::warning,
      format("%s (%s) computes %s/%s wrongly: %s; %s", caps.device_name.c_str(), caps.driver_info.c_str(),
             found.op.c_str(), found.variant.c_str(), found.problem.c_str(),
             found.floor
                 ? "there is no simpler way to compute it, so results may be wrong: try another driver or device"
                 : "another way is used"));
}

// What testing some kernels brought to light.
struct Findings {
  std::vector<PlannedPipeline> tested;  // none if a pipeline was refused: the plans are compiled anew
  std::vector<std::string> unproven;
  std::vector<Disagreement> disagreements;
};

// Some drivers refuse a pipeline: which one, if they were asked for all at once? Errors that are not the kernel's stay
// errors.
Result<std::vector<Disagreement>> refused_pipelines(vulkan::Device& device, std::span<const KernelInTest> kernels) {
  std::vector<Disagreement> refused;
  for (const KernelInTest& k : kernels) {
    const auto made = create_pipelines(device, {&k.pipeline, 1});
    if (made) continue;
    LAPILLI_CHECK(device.health());
    if (k.floor || made.error().code == ErrorCode::out_of_memory) return made.error();
    refused.push_back(disagreement(k, made.error().message));
  }
  return refused;
}

Result<std::vector<Disagreement>> run_trials(const std::shared_ptr<vulkan::Device>& device,
                                             std::span<const Trial> trials) {
  std::vector<Disagreement> wrong;
  if (trials.empty()) return wrong;
  Bench bench(trials);
  LAPILLI_CHECK(bench.run(device, trials));
  for (size_t i = 0; i < trials.size(); ++i) {
    const Trial& t = trials[i];
    const graph::Node& node = t.c->graph.node(0);
    HostTensors want = host_tensors(*t.c);
    node.op->reference(t.c->graph, node, want);
    const CaseComparison compared = compare_case(*t.c, bench.got(i), want);
    if (!compared.problem.empty())
      wrong.push_back({node.op->name, t.variant.name, "case " + t.c->name + ": " + compared.problem, t.floor});
  }
  return wrong;
}

// Makes the kernels' pipelines and tests them.
Result<Findings> examine(const std::shared_ptr<vulkan::Device>& device, std::span<const KernelInTest> kernels) {
  const auto begin = Clock::now();
  Findings found;
  std::vector<PlannedPipeline> pipelines;
  for (const KernelInTest& k : kernels) pipelines.push_back(k.pipeline);
  if (auto made = create_pipelines(*device, pipelines); !made) {
    LAPILLI_TRY(found.disagreements, refused_pipelines(*device, kernels));
    if (!found.disagreements.empty()) return found;
    return std::move(made).error();
  }
  const std::vector<Trial> trials = choose_trials(kernels, device->caps());
  LAPILLI_TRY(found.disagreements, run_trials(device, trials));
  for (const PlannedPipeline& p : pipelines)
    if (std::none_of(trials.begin(), trials.end(), [&](const Trial& t) { return runs(t, p); }))
      found.unproven.push_back(describe(p));
  found.tested = std::move(pipelines);
  log(LogLevel::verbose,
      format("self-test: %zu kernels, %zu cases, %.1f ms", kernels.size(), trials.size(), ms_since(begin)));
  return found;
}

}  // namespace

// Kernels that one thread tests; others that need them wait until this is gone, whatever became of the test.
class SelfTest::Claim {
 public:
  // Takes those that were not tested yet and that nobody tests now. Waits only if others test all that are missing, so
  // that nobody waits who is waited for. None: nothing is missing.
  Claim(SelfTest& all, std::span<const std::shared_ptr<const Plan>> plans, const Capabilities& caps) : all_(all) {
    std::unique_lock lock(all_.mutex_);
    for (;;) {
      const std::vector<KernelInTest> missing = untested(plans, all_.tested_, caps);
      for (const KernelInTest& k : missing)
        if (std::none_of(all_.claims_.begin(), all_.claims_.end(), [&](const Claim* c) { return c->holds(k); }))
          kernels_.push_back(k);
      if (missing.empty() || !kernels_.empty()) break;
      all_.released_.wait(lock);
    }
    all_.claims_.push_back(this);
  }
  ~Claim() {
    const std::lock_guard lock(all_.mutex_);
    std::erase(all_.claims_, this);
    all_.released_.notify_all();
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  [[nodiscard]] std::span<const KernelInTest> kernels() const { return kernels_; }

  // What was found is known to all from now on; warns of what is new.
  void publish(const Capabilities& caps, const Findings& found) const {
    std::vector<const Disagreement*> fresh;
    {
      const std::lock_guard lock(all_.mutex_);
      for (const Disagreement& d : found.disagreements) {
        if (all_.verdicts_.refused(d.op.c_str(), d.variant.c_str())) continue;
        all_.verdicts_.refuse(d.op, d.variant);
        all_.disagreements_.push_back(d);
        fresh.push_back(&d);
      }
      all_.unproven_.insert(all_.unproven_.end(), found.unproven.begin(), found.unproven.end());
      all_.tested_.insert(all_.tested_.end(), found.tested.begin(), found.tested.end());
    }
    for (const Disagreement* d : fresh) warn(caps, *d);
  }

 private:
  [[nodiscard]] bool holds(const KernelInTest& k) const {
    return std::any_of(kernels_.begin(), kernels_.end(), [&](const KernelInTest& own) { return own.pipeline == k.pipeline; });
  }

  SelfTest& all_;
  std::vector<KernelInTest> kernels_;
};

std::shared_ptr<SelfTest> SelfTest::of(vulkan::Device& device) {
  return std::static_pointer_cast<SelfTest>(device.companion([] { return std::make_shared<SelfTest>(); }));
}

Status SelfTest::test(const std::shared_ptr<vulkan::Device>& device,
                      std::span<const std::shared_ptr<const Plan>> plans) {
  for (;;) {
    const Claim claim(*this, plans, device->caps());
    if (claim.kernels().empty()) return {};
    LAPILLI_TRY(const Findings found, examine(device, claim.kernels()));
    claim.publish(device->caps(), found);
    if (found.tested.empty()) return {};
  }
}

Result<bool> SelfTest::check(const std::shared_ptr<vulkan::Device>& device,
                             std::span<const std::shared_ptr<const Plan>> plans) {
  LAPILLI_CHECK(test(device, plans));
  const Verdicts known = verdicts();
  for (const auto& plan : plans)
    for (graph::NodeId id = 0; id < plan->graph.nodes().size(); ++id) {
      const graph::Node& node = plan->graph.node(id);
      if (known.refused(node.op->name, plan->variants[id].name) &&
          node.op->variants(device->caps(), plan->graph, node).back().id != plan->variants[id].id)
        return false;
    }
  return true;
}

Verdicts SelfTest::verdicts() const {
  std::lock_guard lock(mutex_);
  return verdicts_;
}

std::vector<Disagreement> SelfTest::disagreements() const {
  std::lock_guard lock(mutex_);
  return disagreements_;
}

size_t SelfTest::kernels() const {
  std::lock_guard lock(mutex_);
  return tested_.size();
}

std::vector<std::string> SelfTest::unproven() const {
  std::lock_guard lock(mutex_);
  return unproven_;
}

Result<std::shared_ptr<const Plan>> compile_tested(const std::shared_ptr<vulkan::Device>& device,
                                                   const graph::Graph& graph, bool deterministic) {
  const auto self_test = SelfTest::of(*device);
  for (;;) {
    const Verdicts verdicts = self_test->verdicts();
    CompileOptions options;
    options.verdicts = &verdicts;
    options.deterministic = deterministic;
    LAPILLI_TRY(auto plan, compile(graph, device->caps(), options));
    LAPILLI_TRY(const bool good, self_test->check(device, {&plan, 1}));
    if (good) return plan;
  }
}

}  // namespace lapilli
