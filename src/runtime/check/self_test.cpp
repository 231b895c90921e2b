#include "runtime/check/self_test.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "ops/core/shader_table.hpp"
#include "runtime/check/expected_pipelines.hpp"
#include "runtime/run/bind.hpp"

namespace lapilli {

namespace {

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
      format("%s (%s) computes %s/%s wrongly: %s; %s", caps.device_name, caps.driver_info, found.op, found.variant,
             found.problem,
             found.floor
                 ? "there is no simpler way to compute it, so results may be wrong: try another driver or device"
                 : "another way is used"));
}

void warn_of_no_groups(const Capabilities& caps, const std::string& problem) {
  log(LogLevel::warning,
      format(
          "%s (%s) cannot be relied on with indirect dispatches: %s; grids are dispatched in full instead, and steps "
          "take as long for few sentences as for many",
          caps.device_name, caps.driver_info, problem));
}

// Some drivers refuse a pipeline: finds which one, after a batch failed. Errors that are not the kernel's fault stay
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

constexpr auto kOtherThread = std::chrono::milliseconds(100);  // polling interval while another thread tests

}  // namespace

// A test of some kernels, and possibly of indirect dispatch: one thread makes their pipelines and submits their trials;
// the first thread that sees the device done compares. Threads that need the kernels hold it: once none does, it is
// gone, and the kernels are untested.
class SelfTest::Examination {
 public:
  Examination(const std::shared_ptr<vulkan::Device>& device, std::vector<KernelInTest> kernels, bool probes)
      : kernels_(std::move(kernels)), probes_(probes), submitter_(device) {}

  [[nodiscard]] bool holds(const PlannedPipeline& kernel) const {
    return std::any_of(kernels_.begin(), kernels_.end(), [&](const KernelInTest& k) { return k.pipeline == kernel; });
  }
  // If the driver refuses some, their verdict is known at once, and nothing is submitted.
  Status begin(const std::shared_ptr<vulkan::Device>& device) {
    std::vector<PlannedPipeline> pipelines;
    for (const KernelInTest& k : kernels_) pipelines.push_back(k.pipeline);
    if (auto made = create_pipelines(*device, pipelines); !made) {
      LAPILLI_TRY(refused_, refused_pipelines(*device, kernels_));
      return refused_.empty() ? std::move(made) : Status();
    }
    if (probes_) LAPILLI_CHECK(begin_probe(device));
    LAPILLI_TRY(trials_, KernelTrials::record(device, kernels_, submitter_));
    LAPILLI_TRY([[maybe_unused]] const bool all, submitter_.submit());
    return {};
  }
  [[nodiscard]] bool probes() const { return probes_; }
  // Continues submitting. True: the device has done all of it.
  Result<bool> done(vulkan::Device& device) {
    LAPILLI_TRY(const bool all, submitter_.submit());
    return all ? device.done(submitter_.last()) : Result<bool>(false);
  }
  // The device's outstanding work; none if it is not submitted yet.
  [[nodiscard]] std::optional<vulkan::Ticket> ticket() const {
    return submitter_.all_submitted() ? std::optional(submitter_.last()) : std::nullopt;
  }
  [[nodiscard]] size_t cases() const { return trials_ ? trials_->cases() : 0; }
  // The findings, once all is done. If a pipeline was refused, nothing is tested: the plans are compiled anew.
  Result<Findings> findings() {
    Findings found;
    found.disagreements = std::move(refused_);
    if (!trials_) return found;
    if (probe_) {
      LAPILLI_TRY(no_groups_, probe_->compare());
    }
    found.no_groups = no_groups_;
    LAPILLI_TRY(found.disagreements, trials_->compare());
    for (const KernelInTest& k : kernels_) {
      if (!trials_->ran(k.pipeline)) found.unproven.push_back(describe(k.pipeline));
      found.tested.push_back(k.pipeline);
    }
    log(LogLevel::verbose,
        format("self-test: %u kernels, %u cases, %.1f ms", kernels_.size(), trials_->cases(), ms_since(begun_)));
    return found;
  }

  // Guarded by the lock of the SelfTest:
  bool held = true;   // by a thread that begins or compares
  bool over = false;  // nothing more will come of it

 private:
  // A driver that refuses the probe's pipeline or memory has proven nothing.
  Status begin_probe(const std::shared_ptr<vulkan::Device>& device) {
    auto probe = IndirectProbe::record(device, submitter_);
    if (probe) return probe_ = std::move(probe).value(), Status();
    LAPILLI_CHECK(device->health());
    if (probe.error().code != ErrorCode::no_device) return std::move(probe).failure();
    no_groups_ = "it could not be tried: " + probe.error().message;
    return {};
  }

  std::vector<KernelInTest> kernels_;
  const bool probes_;
  std::optional<std::string> no_groups_;
  PacedSubmitter submitter_;
  std::unique_ptr<IndirectProbe> probe_;
  std::vector<Disagreement> refused_;
  std::unique_ptr<KernelTrials> trials_;
  Clock::time_point begun_ = Clock::now();
};

namespace {

// Releases what one thread held, even when an exception ends its work, and wakes the waiting threads.
class Hold {
 public:
  Hold(std::mutex& mutex, std::condition_variable& released, bool& held)
      : mutex_(mutex), released_(released), held_(held) {}
  ~Hold() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    released_.notify_all();
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  std::mutex& mutex_;
  std::condition_variable& released_;
  bool& held_;
};

}  // namespace

std::shared_ptr<SelfTest> SelfTest::of(vulkan::Device& device) {
  return std::static_pointer_cast<SelfTest>(device.companion([&] {
    auto made = std::make_shared<SelfTest>();
    if (vulkan::PersistentCache* cache = device.persistent_cache()) made->recall(device, *cache);
    return made;
  }));
}

void SelfTest::recall(vulkan::Device& device, vulkan::PersistentCache& cache) {
  found_ = findings_of(cache.take(vulkan::StoredKind::verdicts));
  for (const Disagreement& d : found_.disagreements) verdicts_.refuse(d.op, d.variant);
  recalled_ = found_.disagreements;
  recalled_no_groups_ = !found_.no_groups.value_or("").empty();
  if (recalled_no_groups_) device.do_without_indirect_dispatch();
  kept_ = found_.size();
}

// A faulty device errs in every run, so recalled findings warn again.
void SelfTest::warn_of_recalled(const Capabilities& caps) {
  std::vector<Disagreement> recalled;
  std::string no_groups;
  {
    const std::lock_guard lock(mutex_);
    recalled.swap(recalled_);
    if (std::exchange(recalled_no_groups_, false)) no_groups = *found_.no_groups;
  }
  if (!no_groups.empty()) warn_of_no_groups(caps, no_groups);
  for (const Disagreement& d : recalled) warn(caps, d);
}

void SelfTest::keep(vulkan::PersistentCache& cache) {
  Findings found;
  {
    const std::lock_guard lock(mutex_);
    if (found_.size() == kept_) return;
    found = found_;
    kept_ = found_.size();
  }
  cache.keep(vulkan::StoredKind::verdicts, blob_of(found));
}

void keep_between_runs(vulkan::Device& device) {
  vulkan::PersistentCache* const cache = device.persistent_cache();
  if (!cache || !device.health()) return;
  SelfTest::of(device)->keep(*cache);
  ExpectedPipelines::of(device)->keep(*cache);
  device.keep_pipelines();
}

// Publishes the findings to all users; warns of the new ones.
Status SelfTest::publish(Examination& examination, vulkan::Device& device) {
  LAPILLI_TRY(auto found, examination.findings());
  std::vector<const Disagreement*> fresh;
  {
    const std::lock_guard lock(mutex_);
    for (const Disagreement& d : found.disagreements) {
      if (verdicts_.refused(d.op.c_str(), d.variant.c_str())) continue;
      verdicts_.refuse(d.op, d.variant);
      found_.disagreements.push_back(d);
      fresh.push_back(&d);
    }
    found_.unproven.insert(found_.unproven.end(), found.unproven.begin(), found.unproven.end());
    found_.tested.insert(found_.tested.end(), found.tested.begin(), found.tested.end());
  }
  for (const Disagreement* d : fresh) warn(device.caps(), *d);
  if (found.no_groups) publish_no_groups(*found.no_groups, device);
  return {};
}

// Plans with indirect dispatch become invalid for all users.
void SelfTest::publish_no_groups(const std::string& problem, vulkan::Device& device) {
  if (!problem.empty()) device.do_without_indirect_dispatch();
  {
    const std::lock_guard lock(mutex_);
    found_.no_groups = problem;
  }
  if (!problem.empty()) warn_of_no_groups(device.caps(), problem);
}

// Under the lock.
bool SelfTest::wants_probe(const Capabilities& caps) const { return caps.indirect_dispatch && !found_.no_groups; }

bool SelfTest::good(const Capabilities& caps, std::span<const std::shared_ptr<const Plan>> plans) const {
  const Verdicts known = verdicts();
  const auto is_indirect = [](const auto& plan) { return !plan->grids.empty(); };
  if (!caps.indirect_dispatch && std::any_of(plans.begin(), plans.end(), is_indirect)) return false;
  for (const auto& plan : plans)
    for (graph::NodeId id = 0; id < plan->graph.nodes().size(); ++id) {
      const graph::Node& node = plan->graph.node(id);
      const Variant& used = plan->variants[id];
      // The floor with tuned numbers can fall back to its own numbers.
      if (known.refused(node.op->name, used.name) &&
          (used.tuned || node.op->variants(caps, plan->graph, node).back().id != used.id))
        return false;
    }
  return true;
}

SelfTest::Run::Run(std::shared_ptr<vulkan::Device> device, std::vector<std::shared_ptr<const Plan>> plans)
    : device_(std::move(device)),
      all_(SelfTest::of(*device_)),
      plans_(std::move(plans)),
      kernels_(kernels_of(plans_, device_->caps())) {}

SelfTest::Run::~Run() = default;
bool SelfTest::Run::good() const { return all_->good(device_->caps(), plans_); }

// Finds the kernels without a verdict. Those that no other run tests become this run's, which holds their examination.
std::shared_ptr<SelfTest::Examination> SelfTest::Run::look() {
  // Held until it is known which are still needed, and released without the lock: the last reference frees their
  // resources.
  const auto before = std::exchange(examinations_, {});
  const std::lock_guard lock(all_->mutex_);
  std::erase_if(kernels_, [&](const KernelInTest& k) {
    return std::ranges::find(all_->found_.tested, k.pipeline) != all_->found_.tested.end();
  });
  std::erase_if(all_->examinations_, [](const auto& e) { return e.expired(); });
  bool probes = all_->wants_probe(device_->caps());
  waits_for_probe_ = probes;
  std::vector<KernelInTest> nobodys = kernels_;
  for (const auto& weak : all_->examinations_) {
    const auto examination = weak.lock();
    if (!examination) continue;
    const size_t of_it = std::erase_if(nobodys, [&](const KernelInTest& k) { return examination->holds(k.pipeline); });
    if (of_it > 0 || (waits_for_probe_ && examination->probes())) examinations_.push_back(examination);
    probes = probes && !examination->probes();
  }
  if (nobodys.empty() && !probes) return nullptr;
  examinations_.push_back(std::make_shared<Examination>(device_, std::move(nobodys), probes));
  all_->examinations_.push_back(examinations_.back());
  return examinations_.back();
}

Status SelfTest::Run::begin(const std::shared_ptr<Examination>& mine) {
  const Hold hold(all_->mutex_, all_->released_, mine->held);
  auto begun = mine->begin(device_);
  all_->cases_ += mine->cases();
  if (!begun) all_->forget(*mine);
  return begun;
}

// Compares if the device is done; true if there is a verdict now.
Result<bool> SelfTest::Run::conclude(const std::shared_ptr<Examination>& examination) {
  {
    const std::lock_guard lock(all_->mutex_);
    if (examination->over) return true;  // another thread was faster
    if (examination->held) return false;
    examination->held = true;
  }
  const Hold hold(all_->mutex_, all_->released_, examination->held);
  TimelineScope scope(device_->timeline(), "compare trials of kernels");
  auto done = examination->done(*device_);
  if (done && !*done) {
    scope.forget();
    return false;
  }
  if (!done) {
    all_->forget(*examination);
    return std::move(done).failure();
  }
  auto published = all_->publish(*examination, *device_);
  all_->forget(*examination);
  LAPILLI_CHECK(std::move(published));
  return true;
}

// If it brought no verdict, its kernels are untested again.
void SelfTest::forget(Examination& examination) {
  const std::lock_guard lock(mutex_);
  examination.over = true;
  std::erase_if(examinations_, [&](const auto& e) { return e.lock().get() == &examination; });
}

Result<bool> SelfTest::Run::poll() {
  all_->warn_of_recalled(device_->caps());
  for (;;) {
    if (!good()) return true;  // the plans are compiled anew in any case
    if (const auto mine = look()) LAPILLI_CHECK(begin(mine));
    if (kernels_.empty() && !waits_for_probe_) return true;
    bool concluded = false;
    for (const auto& examination : examinations_) {
      LAPILLI_TRY(const bool one, conclude(examination));
      concluded = concluded || one;
    }
    if (!concluded) return false;
  }
}

Status SelfTest::Run::wait() {
  if (examinations_.empty()) return {};
  std::unique_lock lock(all_->mutex_);
  if (examinations_.front()->held) {
    all_->released_.wait_for(lock, kOtherThread);
    return {};
  }
  const auto ticket = examinations_.front()->ticket();
  lock.unlock();
  return ticket ? device_->wait(*ticket) : device_->wait_for_gap();
}

std::optional<vulkan::Ticket> SelfTest::Run::ticket() const {
  if (examinations_.empty()) return std::nullopt;
  const std::lock_guard lock(all_->mutex_);
  return examinations_.front()->held ? std::nullopt : examinations_.front()->ticket();
}

Result<bool> SelfTest::check(const std::shared_ptr<vulkan::Device>& device,
                             std::vector<std::shared_ptr<const Plan>> plans) {
  Run run(device, std::move(plans));
  for (;;) {
    LAPILLI_TRY(const bool done, run.poll());
    if (done) return run.good();
    LAPILLI_CHECK(run.wait());
  }
}

Verdicts SelfTest::verdicts() const {
  std::lock_guard lock(mutex_);
  return verdicts_;
}

std::vector<PlannedPipeline> SelfTest::tested(std::span<const PlannedPipeline> kernels) const {
  std::lock_guard lock(mutex_);
  std::vector<PlannedPipeline> tested;
  std::ranges::copy_if(kernels, std::back_inserter(tested), [&](const PlannedPipeline& kernel) {
    return std::ranges::find(found_.tested, kernel) != found_.tested.end();
  });
  return tested;
}

std::vector<Disagreement> SelfTest::disagreements() const {
  std::lock_guard lock(mutex_);
  return found_.disagreements;
}

size_t SelfTest::kernels() const {
  std::lock_guard lock(mutex_);
  return found_.tested.size();
}

std::optional<std::string> SelfTest::no_groups() const {
  std::lock_guard lock(mutex_);
  return found_.no_groups;
}

std::vector<std::string> SelfTest::unproven() const {
  std::lock_guard lock(mutex_);
  return found_.unproven;
}

TestedCompilation::TestedCompilation(std::shared_ptr<vulkan::Device> device, const graph::Graph& graph,
                                     bool deterministic)
    : device_(std::move(device)), graph_(graph), deterministic_(deterministic) {}

Status TestedCompilation::begin() {
  const Verdicts verdicts = SelfTest::of(*device_)->verdicts();
  CompileOptions options;
  options.verdicts = &verdicts;
  options.deterministic = deterministic_;
  options.work = Pace::of(*device_)->limit();
  LAPILLI_TRY(plan_, compile(graph_, device_->caps(), options));
  run_.emplace(device_, std::vector{plan_});
  return {};
}

Result<std::shared_ptr<const Plan>> TestedCompilation::poll() {
  for (;;) {
    if (!run_) LAPILLI_CHECK(begin());
    LAPILLI_TRY(const bool done, run_->poll());
    if (!done) return std::shared_ptr<const Plan>();
    const bool good = run_->good();
    run_.reset();  // refused variants are compiled anew
    if (good) return plan_;
  }
}

Result<std::shared_ptr<const Plan>> compile_tested(const std::shared_ptr<vulkan::Device>& device,
                                                   const graph::Graph& graph, bool deterministic) {
  TestedCompilation compilation(device, graph, deterministic);
  for (;;) {
    LAPILLI_TRY(auto plan, compilation.poll());
    if (plan) return plan;
    LAPILLI_CHECK(compilation.wait());
  }
}

}  // namespace lapilli
