#include "runtime/check/kernel_trials.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "ops/core/case_util.hpp"
#include "runtime/check/execute.hpp"

namespace lapilli {

// A case to run with one variant of its op. Outside the unnamed namespace, since KernelTrials::Impl holds some.
struct KernelTrial {
  std::shared_ptr<OpCase> c;
  Variant variant;
  bool floor = false;
  std::vector<Dispatch> dispatches;
  uint64_t words = 0;
};

namespace {

using Trial = KernelTrial;

constexpr size_t kCasesPerKernel = 2;
constexpr uint64_t kCaseWords = 1 << 15;  // over all tensors of a case; larger ones are left to the op suite

bool runs(const Trial& t, const PlannedPipeline& p) {
  return std::any_of(t.dispatches.begin(), t.dispatches.end(),
                     [&](const Dispatch& d) { return d.shader == p.shader && d.constants == p.constants; });
}

// The numbers to lower a case with for these kernels: its own, and those that plans use with the same variant.
std::vector<Numbers> numbers_for(const OpDef& op, const Variant& own, std::span<const KernelInTest> kernels) {
  std::vector<Numbers> all;
  for (const KernelInTest& k : kernels) {
    if (k.op != &op || k.variant.id != own.id) continue;
    if (all.empty()) all.push_back(own.numbers);
    if (std::find(all.begin(), all.end(), k.variant.numbers) == all.end()) all.push_back(k.variant.numbers);
  }
  return all;
}

// All ways in which small cases of the op run one of these kernels' variants; their inputs are not made yet.
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
        // Cases beyond this device's limits are skipped.
        if (!op.infer(c->graph, node) || !lower_node({c->graph, caps}, node, t.variant, t.dispatches)) continue;
        const auto exact = [&](const KernelInTest& k) { return runs(t, k.pipeline); };
        if (numbers == v.numbers || std::any_of(kernels.begin(), kernels.end(), exact)) trials.push_back(std::move(t));
      }
  }
  return trials;
}

// The largest cases that run exactly this kernel; if there are none (a head size without a case), those of its variant.
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

}  // namespace

std::vector<KernelInTest> kernels_of(std::span<const std::shared_ptr<const Plan>> plans, const Capabilities& caps) {
  std::vector<KernelInTest> kernels;
  for (const auto& plan : plans) {
    std::vector<bool> seen(plan->pipelines.size());
    for (const PlannedDispatch& d : plan->dispatches) {
      if (seen[d.pipeline]) continue;
      seen[d.pipeline] = true;
      const PlannedPipeline& p = plan->pipelines[d.pipeline];
      if (std::any_of(kernels.begin(), kernels.end(), [&](const KernelInTest& k) { return k.pipeline == p; })) continue;
      const graph::Node& node = plan->graph.node(d.node);
      const Variant v = plan->variants[d.node];
      kernels.push_back({node.op, v, node.op->variants(caps, plan->graph, node).back().id == v.id, p});
    }
  }
  return kernels;
}

std::vector<KernelInTest> without_case(std::span<const KernelInTest> kernels, const Capabilities& caps) {
  std::vector<KernelInTest> found;
  std::map<const OpDef*, std::vector<Trial>> trials;
  for (const KernelInTest& k : kernels) {
    const auto [of_op, fresh] = trials.try_emplace(k.op);
    if (fresh) of_op->second = trials_of(*k.op, kernels, caps);
    const auto tests = [&](const Trial& t) { return t.variant.id == k.variant.id && runs(t, k.pipeline); };
    if (std::none_of(of_op->second.begin(), of_op->second.end(), tests)) found.push_back(k);
  }
  return found;
}

// The tensors of all trials lie in one buffer, so that the test takes few recordings; the host's reads and writes go
// through copies, so that nothing waits on unmapped memory.
struct KernelTrials::Impl {
  std::vector<Trial> trials;
  std::vector<HostTensors> got;   // by trial
  std::vector<size_t> first;      // by trial: index of its first tensor in offsets
  std::vector<uint64_t> offsets;  // bytes
  std::vector<uint32_t> words;
  vulkan::Buffer buffer, from_host, to_host;
  std::vector<vulkan::CommandRecording> copies;
  std::vector<runtime::RecordedDispatches> runs;

  void lay_out();
  void append(const graph::Tensor& t, const HostTensor& value);
  Status make_buffers(const std::shared_ptr<vulkan::Device>& device);
  Status record(const std::shared_ptr<vulkan::Device>& device);
  void add_to(PacedSubmitter& submitter) const;
  Status read();
};

void KernelTrials::Impl::lay_out() {
  for (const Trial& t : trials) {
    got.push_back(host_tensors(*t.c));
    first.push_back(offsets.size());
    for (graph::TensorId id = 0; id < t.c->graph.tensors().size(); ++id) {
      const bool own = t.c->graph.root(id) == id;
      offsets.push_back(own ? words.size() * 4 : offsets[first.back() + t.c->graph.root(id)]);
      if (own) append(t.c->graph.tensor(id), got.back().values[id]);
    }
  }
}

void KernelTrials::Impl::append(const graph::Tensor& t, const HostTensor& value) {
  const size_t at = words.size();
  words.resize(at + round_up<uint64_t>(t.elements(), 64));
  to_words(t, value, std::span(words).subspan(at, t.elements()));
}

Status KernelTrials::Impl::make_buffers(const std::shared_ptr<vulkan::Device>& device) {
  const uint64_t bytes = words.size() * 4;
  LAPILLI_TRY(buffer, device->make_buffer(bytes, vulkan::MemoryUse::device, "self-test"));
  LAPILLI_TRY(from_host, device->make_buffer(bytes, vulkan::MemoryUse::upload, "self-test input"));
  LAPILLI_TRY(to_host, device->make_buffer(bytes, vulkan::MemoryUse::readback, "self-test output"));
  if (!from_host.mapped() || !to_host.mapped()) return fail(ErrorCode::internal, "host memory is not mapped");
  std::memcpy(from_host.mapped(), words.data(), bytes);
  return from_host.flush(0, bytes);
}

Status KernelTrials::Impl::record(const std::shared_ptr<vulkan::Device>& device) {
  std::vector<runtime::TensorPlace> places;
  for (const uint64_t offset : offsets) places.push_back({&buffer, offset});
  std::vector<Dispatch> all;
  for (size_t i = 0; i < trials.size(); ++i)
    for (Dispatch d : trials[i].dispatches) {
      for (Operand& o : d.operands) o.tensor += static_cast<graph::TensorId>(first[i]);
      all.push_back(std::move(d));
    }
  runtime::ExecuteOptions options;
  options.work = Pace::of(*device)->limit();
  LAPILLI_TRY(runs, runtime::record(device, device->caps(), all, places, options));
  for (const auto& [from, to] : {std::pair{&from_host, &buffer}, std::pair{&buffer, &to_host}}) {
    LAPILLI_TRY(auto copy, vulkan::CommandRecording::create(device));
    LAPILLI_CHECK(copy.begin(vulkan::RecordingUse::single));
    copy.copy(*from, 0, *to, 0, words.size() * 4);
    LAPILLI_CHECK(copy.end());
    copies.push_back(std::move(copy));
  }
  return {};
}

void KernelTrials::Impl::add_to(PacedSubmitter& submitter) const {
  const graph::Cost of_a_copy{0, 8.0 * static_cast<double>(words.size()), 1};
  submitter.add(copies.front(), of_a_copy);
  for (const auto& run : runs) submitter.add(run.commands, run.cost);
  submitter.add(copies.back(), of_a_copy);
}

Status KernelTrials::Impl::read() {
  LAPILLI_CHECK(to_host.invalidate(0, words.size() * 4));
  std::memcpy(words.data(), to_host.mapped(), words.size() * 4);
  for (size_t i = 0; i < trials.size(); ++i) {
    const graph::Graph& g = trials[i].c->graph;
    for (graph::TensorId id = 0; id < g.tensors().size(); ++id)
      if (g.root(id) == id)
        from_words(std::span(words).subspan(offsets[first[i] + id] / 4, g.tensor(id).elements()), g.tensor(id),
                   got[i].values[id]);
  }
  return {};
}

KernelTrials::KernelTrials() : impl_(std::make_unique<Impl>()) {}
KernelTrials::~KernelTrials() = default;
size_t KernelTrials::cases() const { return impl_->trials.size(); }

bool KernelTrials::ran(const PlannedPipeline& kernel) const {
  return std::any_of(impl_->trials.begin(), impl_->trials.end(), [&](const Trial& t) { return runs(t, kernel); });
}

Result<std::unique_ptr<KernelTrials>> KernelTrials::record(const std::shared_ptr<vulkan::Device>& device,
                                                           std::span<const KernelInTest> kernels,
                                                           PacedSubmitter& submitter) {
  std::unique_ptr<KernelTrials> trials(new KernelTrials());
  Impl& i = *trials->impl_;
  i.trials = choose_trials(kernels, device->caps());
  if (i.trials.empty()) return trials;
  i.lay_out();
  LAPILLI_CHECK(i.make_buffers(device));
  LAPILLI_CHECK(i.record(device));
  i.add_to(submitter);
  return trials;
}

Result<std::vector<Disagreement>> KernelTrials::compare() {
  std::vector<Disagreement> wrong;
  if (impl_->trials.empty()) return wrong;
  LAPILLI_CHECK(impl_->read());
  for (size_t i = 0; i < impl_->trials.size(); ++i) {
    const Trial& t = impl_->trials[i];
    const graph::Node& node = t.c->graph.node(0);
    HostTensors want = host_tensors(*t.c);
    node.op->reference(t.c->graph, node, want);
    const CaseComparison compared = compare_case(*t.c, impl_->got[i], want);
    if (!compared.problem.empty())
      wrong.push_back({node.op->name, t.variant.name, "case " + t.c->name + ": " + compared.problem, t.floor});
  }
  return wrong;
}

}  // namespace lapilli
