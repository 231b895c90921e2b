#include <algorithm>
#include <map>

#include "generate/model_impl.hpp"
#include "runtime/self_test.hpp"

namespace lapilli {

namespace {
constexpr size_t kPlanCache = 16;    // shapes whose plans are remembered
constexpr size_t kFreeSessions = 4;  // sessions kept for the next job

// What a job is besides its size: jobs of one kind differ in row counts and lengths only.
WorkspaceKey kind_of(WorkspaceKey key) {
  key.shape = {0, key.shape.beams, 0, 0, 0};
  key.steps_per_submit = 0;
  return key;
}

// Sizes that between them make every op choose each variant that it has for some size: variants go by rows, and beyond
// a few dozen there is one for all.
struct ProbeSize {
  uint32_t sentences, source;
};
constexpr ProbeSize kProbes[] = {{1, 8}, {2, 8}, {4, 8}, {8, 8}, {16, 32}, {64, 64}};
}  // namespace

graph::Graph encode_graph(const model::Network& network, const model::SessionShape& shape) {
  graph::Graph g;
  model::Builder b(network, g);
  model::build_encode(b, {shape.sentences, shape.source_positions, shape});
  return g;
}

graph::Graph init_graph(const model::Network& network, const model::SessionShape& shape) {
  graph::Graph g;
  model::Builder b(network, g);
  model::build_init(b, shape);
  return g;
}

std::vector<uint32_t> narrow_rows(const WorkspaceKey& key) {
  std::vector<uint32_t> rows;
  for (uint32_t s = key.shape.sentences; s > 1 && !key.capture;) {
    s = div_up(s, 2u);
    rows.push_back(s * key.shape.beams);
  }
  return rows;
}

StepGraph step_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows) {
  StepGraph s;
  model::Builder b(network, s.graph);
  const auto logits = model::build_step(b, {rows ? rows : key.shape.slots(), key.shape});
  model::build_tail(b, logits, key.shape, {key.candidates, key.sample, key.renormalize, key.capture});
  for (const auto& o : b.outputs()) {
    if (o.name == "logits") s.logits = o.tensor;
    if (o.name == "scores") s.scores = o.tensor;
  }
  return s;
}

Result<WorkspacePlans> Model::Impl::plans(const WorkspaceKey& key) {
  {
    std::lock_guard lock(mutex_);
    for (const auto& [k, p] : plans_)
      if (k == key) return p;
  }
  WorkspacePlans p;
  LAPILLI_TRY(p.encode, compile_tested(device, encode_graph(network, key.shape)));
  LAPILLI_TRY(p.init, compile_tested(device, init_graph(network, key.shape)));
  StepGraph step = step_graph(network, key);
  p.logits = step.logits;
  p.scores = step.scores;
  LAPILLI_TRY(p.step, compile_tested(device, step.graph));
  for (const uint32_t rows : narrow_rows(key)) {
    LAPILLI_TRY(auto narrow, compile_tested(device, step_graph(network, key, rows).graph));
    p.narrow_steps.push_back(std::move(narrow));
  }
  std::lock_guard lock(mutex_);
  plans_.emplace_front(key, p);
  if (plans_.size() > kPlanCache) plans_.pop_back();
  return p;
}

std::vector<std::shared_ptr<const Plan>> Model::Impl::probe_plans(const WorkspaceKey& key,
                                                                  const Verdicts& verdicts) const {
  std::vector<std::shared_ptr<const Plan>> plans;
  CompileOptions options;
  options.verdicts = &verdicts;
  const auto probe = [&](graph::Graph g) {
    auto plan = compile(std::move(g), device->caps(), options);
    // One that is too large for this device is no job's either; if the job at hand is, plans() says so.
    if (plan) plans.push_back(std::move(plan).value());
  };
  for (const ProbeSize& size : kProbes) {
    WorkspaceKey k = key;
    k.shape.sentences = size.sentences;
    k.shape.source_positions = size.source;
    if (k.shape.slots() > kMaxRows) continue;
    probe(encode_graph(network, k.shape));
    probe(init_graph(network, k.shape));
    probe(step_graph(network, k).graph);
  }
  return plans;
}

// The first job of a kind pays for the pipelines of all its sizes, made in one batch, and for their self-test: a second
// bucket then creates none.
Status Model::Impl::prepare_pipelines(const WorkspaceKey& key) {
  const WorkspaceKey kind = kind_of(key);
  {
    std::lock_guard lock(mutex_);
    if (std::find(prepared_.begin(), prepared_.end(), kind) != prepared_.end()) return {};
  }
  const auto self_test = SelfTest::of(*device);
  for (bool good = false; !good;) {
    const Verdicts verdicts = self_test->verdicts();
    LAPILLI_TRY(good, self_test->check(device, probe_plans(key, verdicts)));
  }
  std::lock_guard lock(mutex_);
  prepared_.push_back(kind);
  return {};
}

namespace {
std::vector<std::shared_ptr<const Plan>> all_plans(const WorkspacePlans& p) {
  std::vector<std::shared_ptr<const Plan>> all{p.encode, p.init, p.step};
  all.insert(all.end(), p.narrow_steps.begin(), p.narrow_steps.end());
  return all;
}

// Device memory that a session of these plans takes.
uint64_t session_bytes(const WorkspacePlans& p) {
  std::map<uint32_t, uint64_t> states;
  uint64_t arena = 0, total = 0;
  for (const auto& plan : all_plans(p)) {
    arena = std::max(arena, plan->arena_bytes());
    for (const auto& t : plan->graph.tensors())
      if (t.space == graph::Space::state) states[t.id] = std::max(states[t.id], t.bytes());
  }
  for (const auto& [id, bytes] : states) total += bytes;
  return total + arena;
}

// A submission is bounded, so a recording is.
uint32_t steps_in_one_recording(const Plan& step, uint32_t most, const Capabilities& caps) {
  if (step.schedule.segments.size() != 1) return 1;
  const double room = static_cast<double>(caps.work_limit) / std::max(1.0, step.schedule.segment_costs.front());
  return room >= most ? most : std::max(1u, static_cast<uint32_t>(room));
}

double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }
}  // namespace

Result<MemoryShare> Model::Impl::reserve(uint64_t bytes) {
  const uint64_t weight_bytes = weights->bytes();
  for (bool dropped = false;; dropped = true) {
    // Nothing is counted that does not fit: not even for a moment does it stand in another job's way.
    uint64_t others = session_bytes_->load();
    while (memory_limit == 0 || weight_bytes + others + bytes <= memory_limit)
      if (session_bytes_->compare_exchange_weak(others, others + bytes)) return MemoryShare(session_bytes_, bytes);
    if (dropped)
      return fail(
          ErrorCode::out_of_memory,
          "this batch needs %.1f MiB of device memory beside %.1f MiB of weights and %.1f MiB of other jobs; the "
          "memory limit is %.1f MiB: use a smaller batch, fewer beams or shorter input",
          mib(bytes), mib(weight_bytes), mib(others), mib(memory_limit));
    drop_free();
  }
}

Result<std::unique_ptr<Workspace>> Model::Impl::take_workspace(const WorkspaceKey& key) {
  {
    std::lock_guard lock(mutex_);
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (!((*it)->key == key)) continue;
      auto w = std::move(*it);
      free_.erase(it);
      return w;
    }
  }
  auto made = make_workspace(key);
  if (made || made.error().code != ErrorCode::out_of_memory) return made;
  // Sessions of other shapes may be in the way; their memory comes back once what was submitted before is done, also of
  // other jobs.
  drop_free();
  device->settle();
  return make_workspace(key);
}

Result<std::unique_ptr<Workspace>> Model::Impl::make_workspace(const WorkspaceKey& key) {
  auto w = std::make_unique<Workspace>();
  w->key = key;
  LAPILLI_CHECK(prepare_pipelines(key));
  LAPILLI_TRY(w->plans, plans(key));
  LAPILLI_TRY(w->share, reserve(session_bytes(w->plans)));
  LAPILLI_TRY(w->session, Session::create(device));
  for (const auto& plan : all_plans(w->plans)) w->session->require(*plan);
  LAPILLI_CHECK(w->session->allocate());
  LAPILLI_CHECK(bind(*w));
  return w;
}

Status Model::Impl::bind(Workspace& w) {
  const MemoryMap memory = w.session->memory(weight_map());
  LAPILLI_TRY(auto encode, BoundPlan::bind(device, w.plans.encode, memory));
  LAPILLI_TRY(auto init, BoundPlan::bind(device, w.plans.init, memory));
  w.encode = std::make_unique<BoundPlan>(std::move(encode));
  w.init = std::make_unique<BoundPlan>(std::move(init));
  // The steps share the grids buffer, so that `advance` of any of them writes the arguments of all.
  std::vector<std::shared_ptr<const Plan>> steps{w.plans.step};
  steps.insert(steps.end(), w.plans.narrow_steps.begin(), w.plans.narrow_steps.end());
  const SharedGrids grids = share_grids(steps);
  const auto rows = narrow_rows(w.key);
  for (size_t i = 0; i < grids.of_plan.size(); ++i) {
    BindOptions options;
    options.repeats = steps_in_one_recording(*steps[i], w.key.steps_per_submit, device->caps());
    options.grids = grids.of_plan[i];
    LAPILLI_TRY(auto bound, BoundPlan::bind(device, steps[i], memory, options));
    auto kept = std::make_unique<BoundPlan>(std::move(bound));
    if (i == 0)
      w.step = std::move(kept);
    else
      w.narrow_steps.emplace_back(std::move(kept), rows[i - 1]);
  }
  LAPILLI_CHECK(write_grids(*device, grids.specs, w.plans.step->max_group_x, w.session->state(StateKind::grids)));
  const BufferRef search = w.session->state(StateKind::search);
  if (search.buffer->mapped()) return {};
  LAPILLI_TRY(w.found, device->make_buffer(search.size, vulkan::MemoryUse::readback, "search result"));
  LAPILLI_TRY(auto fetch, vulkan::CommandRecording::create(device));
  LAPILLI_CHECK(fetch.begin());
  fetch.copy(*search.buffer, search.offset, w.found, 0, search.size);
  LAPILLI_CHECK(fetch.end());
  w.fetch = std::make_unique<vulkan::CommandRecording>(std::move(fetch));
  return {};
}

void Model::Impl::give_back(std::unique_ptr<Workspace> workspace) {
  std::unique_ptr<Workspace> dropped;  // destroyed outside the lock
  std::lock_guard lock(mutex_);
  free_.push_front(std::move(workspace));
  if (free_.size() > kFreeSessions) {
    dropped = std::move(free_.back());
    free_.pop_back();
  }
}

void Model::Impl::drop_free() {
  std::list<std::unique_ptr<Workspace>> dropped;
  std::lock_guard lock(mutex_);
  dropped.swap(free_);
}

MemoryMap Model::Impl::weight_map() const {
  return [w = weights](graph::Space, uint32_t id) { return w->find(id); };
}

}  // namespace lapilli
