#include "search/plan_cache.hpp"

#include <algorithm>

#include "search/search_graph.hpp"

namespace lapilli {

namespace {

constexpr size_t kPlanCache = 16;  // shapes whose plans are cached

}  // namespace

PlanBasis PlanBasis::of(vulkan::Device& device) {
  return {Pace::of(device)->limit(), SelfTest::of(device)->verdicts().size(), device.caps().indirect_dispatch};
}

std::vector<std::shared_ptr<const Plan>> WorkspacePlans::all() const {
  std::vector<std::shared_ptr<const Plan>> plans{admit, start, step};
  plans.insert(plans.end(), encode.begin(), encode.end());
  if (prompt) plans.push_back(prompt);
  if (prompt_logits) plans.push_back(prompt_logits);
  plans.insert(plans.end(), narrow_steps.begin(), narrow_steps.end());
  return plans;
}

// Compiles with the verdicts known so far; the kernels used may not be proven yet.
Result<WorkspacePlans> PlanCache::compile_all(const WorkspaceKey& key) const {
  const TimelineScope scope(network_.device->timeline(), "make plans");
  const Verdicts verdicts = SelfTest::of(*network_.device)->verdicts();
  WorkspacePlans p;
  p.basis = PlanBasis::of(*network_.device);
  p.basis.refusals = verdicts.size();
  CompileOptions options;
  options.verdicts = &verdicts;
  options.tunings = network_.tunings.get();
  options.deterministic = key.deterministic;
  options.work = p.basis.cut;
  const auto compiled = [&](graph::Graph g) { return compile(std::move(g), network_.device->caps(), options); };
  LAPILLI_TRY(p.admit, compiled(admit_graph(network_.network, key.shape)));
  for (const uint32_t rows : encode_rows(key)) {
    LAPILLI_TRY(auto encode, compiled(encode_graph(network_.network, key, rows)));
    p.encode.push_back(std::move(encode));
  }
  LAPILLI_TRY(p.start, compiled(start_graph(network_.network, key.shape)));
  if (key.prompt_rows) {
    LAPILLI_TRY(p.prompt, compiled(prompt_graph(network_.network, key)));
  }
  if (key.logits_rows) {
    StepGraph prompt = prompt_logits_graph(network_.network, key);
    p.prompt_logits_out = prompt.logits;
    LAPILLI_TRY(p.prompt_logits, compiled(std::move(prompt.graph)));
  }
  StepGraph step = step_graph(network_.network, key);
  p.logits = step.logits;
  p.scores = step.scores;
  LAPILLI_TRY(p.step, compiled(std::move(step.graph)));
  for (const uint32_t sentences : narrow_sentences(key)) {
    LAPILLI_TRY(auto narrow, compiled(step_graph(network_.network, key, sentences * key.shape.beams).graph));
    p.narrow_steps.push_back(std::move(narrow));
  }
  return p;
}

// Cached plans that would still be compiled the same way.
std::optional<WorkspacePlans> PlanCache::find(const WorkspaceKey& key) {
  const PlanBasis now = PlanBasis::of(*network_.device);
  const std::lock_guard lock(mutex_);
  for (const auto& [k, p] : plans_)
    if (k == key && p.basis == now) return p;
  return std::nullopt;
}

void PlanCache::remember(const WorkspaceKey& key, const WorkspacePlans& plans) {
  const std::lock_guard lock(mutex_);
  std::erase_if(plans_, [&](const auto& entry) { return entry.first == key; });
  plans_.emplace_front(key, plans);
  if (plans_.size() > kPlanCache) plans_.pop_back();
}

// If a kernel took too long by itself in its test, its plans are compiled again with the same kernels, cut finer.
Result<bool> PlanCache::Preparation::poll() {
  while (run_ || !cache_.find(key_)) {
    if (!run_) {
      LAPILLI_TRY(plans_, cache_.compile_all(key_));
      run_.emplace(cache_.network_.device, plans_.all());
    }
    LAPILLI_TRY(const bool proven, run_->poll());
    if (!proven) return false;
    if (run_->good()) cache_.remember(key_, plans_);
    run_.reset();  // without the refused kernels, compiled anew
  }
  return true;
}

Result<WorkspacePlans> PlanCache::plans(const WorkspaceKey& key) {
  Preparation preparation(*this, key);
  for (;;) {
    LAPILLI_TRY(const bool done, preparation.poll());
    if (!done) {
      LAPILLI_CHECK(preparation.wait());
    } else if (auto found = find(key)) {
      return std::move(*found);
    }
  }
}

}  // namespace lapilli
