#include "search/plan_cache.hpp"

#include <algorithm>

#include "search/search_graph.hpp"

namespace lapilli {

namespace {

constexpr size_t kPlanCache = 16;  // shapes whose plans are remembered

// Sizes that between them make every op choose each variant that it has for some size: variants go by rows, and beyond
// a few dozen there is one for all.
struct ProbeSize {
  uint32_t sentences, source;
};
constexpr ProbeSize kProbes[] = {{1, 8}, {2, 8}, {4, 8}, {8, 8}, {16, 32}, {64, 64}};

}  // namespace

Result<WorkspacePlans> PlanCache::plans(const WorkspaceKey& key) {
  const WorkLimit cut = Pace::of(*network_.device)->limit();
  {
    std::lock_guard lock(mutex_);
    for (const auto& [k, p] : plans_)
      if (k == key && p.cut == cut) return p;
  }
  const auto compiled = [&](const graph::Graph& g) { return compile_tested(network_.device, g, key.deterministic); };
  WorkspacePlans p;
  p.cut = cut;
  LAPILLI_TRY(p.admit, compiled(admit_graph(network_.network, key.shape)));
  for (const uint32_t rows : encode_rows(key)) {
    LAPILLI_TRY(auto encode, compiled(encode_graph(network_.network, key, rows)));
    p.encode.push_back(std::move(encode));
  }
  LAPILLI_TRY(p.start, compiled(start_graph(network_.network, key.shape)));
  if (key.given_rows) {
    LAPILLI_TRY(p.given, compiled(given_graph(network_.network, key)));
  }
  if (key.logits_rows) {
    StepGraph given = given_logits_graph(network_.network, key);
    p.given_logits_out = given.logits;
    LAPILLI_TRY(p.given_logits, compiled(given.graph));
  }
  StepGraph step = step_graph(network_.network, key);
  p.logits = step.logits;
  p.scores = step.scores;
  LAPILLI_TRY(p.step, compiled(step.graph));
  for (const uint32_t sentences : narrow_sentences(key)) {
    LAPILLI_TRY(auto narrow, compiled(step_graph(network_.network, key, sentences * key.shape.beams).graph));
    p.narrow_steps.push_back(std::move(narrow));
  }
  std::lock_guard lock(mutex_);
  plans_.emplace_front(key, p);
  if (plans_.size() > kPlanCache) plans_.pop_back();
  return p;
}

std::vector<std::shared_ptr<const Plan>> PlanCache::probe_plans(const WorkspaceKey& kind) const {
  std::vector<std::shared_ptr<const Plan>> plans;
  const Verdicts verdicts = SelfTest::of(*network_.device)->verdicts();
  CompileOptions options;
  options.verdicts = &verdicts;
  options.deterministic = kind.deterministic;
  const auto probe = [&](graph::Graph g) {
    auto plan = compile(std::move(g), network_.device->caps(), options);
    // One that is too large for this device is no job's either; if the job at hand is, plans() says so.
    if (plan) plans.push_back(std::move(plan).value());
  };
  for (const ProbeSize& size : kProbes) {
    WorkspaceKey k = kind;
    k.steps_per_submit = 1;
    k.shape.target_positions = k.shape.list_words = 256;
    k.shape.running = size.sentences;
    k.shape.source_positions = size.source;
    if (k.shape.rows() > kMaxRows) continue;
    k.given_rows = k.given_rows ? k.shape.rows() : 0;
    k.logits_rows = k.logits_rows ? k.shape.rows() : 0;
    complete_key(k, 0);
    probe(admit_graph(network_.network, k.shape));
    k.encode_rows = size.sentences * size.source;
    probe(encode_graph(network_.network, k));
    probe(start_graph(network_.network, k.shape));
    if (k.given_rows) probe(given_graph(network_.network, k));
    if (k.logits_rows) probe(given_logits_graph(network_.network, k).graph);
    probe(step_graph(network_.network, k).graph);
  }
  return plans;
}

bool PlanCache::is_prepared(const WorkspaceKey& kind) {
  const std::lock_guard lock(mutex_);
  return std::find(prepared_.begin(), prepared_.end(), kind) != prepared_.end();
}

Result<bool> PlanCache::Preparation::poll() {
  while (!cache_.is_prepared(kind_)) {
    if (!run_) run_.emplace(cache_.network_.device, cache_.probe_plans(kind_));
    LAPILLI_TRY(const bool proven, run_->poll());
    if (!proven) return false;
    if (run_->good()) {
      const std::lock_guard lock(cache_.mutex_);
      cache_.prepared_.push_back(kind_);
    }
    run_.reset();  // what was refused is compiled anew
  }
  return true;
}

Status PlanCache::prepare(const WorkspaceKey& key) {
  Preparation preparation(*this, key);
  for (;;) {
    LAPILLI_TRY(const bool done, preparation.poll());
    if (done) return {};
    LAPILLI_CHECK(preparation.wait());
  }
}

}  // namespace lapilli
