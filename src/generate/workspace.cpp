#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "generate/engine.hpp"
#include "generate/inbox.hpp"
#include "generate/model_impl.hpp"
#include "runtime/self_test.hpp"

namespace lapilli {

namespace {
constexpr size_t kPlanCache = 16;    // shapes whose plans are remembered
constexpr size_t kFreeEngines = 4;  // kept for the next job
constexpr uint32_t kAdmissionAreas = 2;

// What a job is besides its size: jobs of one kind differ in row counts and lengths only.
WorkspaceKey kind_of(WorkspaceKey key) {
  // How many beams there are makes no difference to the kernels, but that there are several does.
  key.shape = {.beams = std::min(key.shape.beams, 2u)};
  key.candidates = 2 * key.shape.beams;
  key.steps_per_submit = 0;
  key.given_rows = key.given_rows ? 1 : 0;
  key.logits_rows = key.logits_rows ? 1 : 0;
  key.narrow = false;
  key.given_passes = key.encode_rows = 0;
  return key;
}

// Sizes that between them make every op choose each variant that it has for some size: variants go by rows, and beyond
// a few dozen there is one for all.
struct ProbeSize {
  uint32_t sentences, source;
};
constexpr ProbeSize kProbes[] = {{1, 8}, {2, 8}, {4, 8}, {8, 8}, {16, 32}, {64, 64}};

template <class Build>
graph::Graph built(const model::Network& network, Build&& build) {
  graph::Graph g;
  model::Builder b(network, g);
  build(b);
  return g;
}
}  // namespace

uint32_t length_bucket(uint64_t n) {
  const uint64_t step = n <= 32 ? 8 : n <= 128 ? 32 : n <= 512 ? 128 : 512;
  return static_cast<uint32_t>(round_up(n, step));
}

void complete_key(WorkspaceKey& key, uint32_t waiting) {
  model::SessionShape& s = key.shape;
  s.places = std::min(s.running + waiting, kMaxRows / s.beams);
  // Ticks in flight: two submissions.
  s.log_ticks = std::bit_ceil(2 * std::max(1u, key.steps_per_submit));
  s.inbox_words = inbox_words({s.running, key.given_rows * key.given_passes, s.list_words, s.places});
}

// Source ids that one admission brings at most, if it brings more than one source: what keeps the device busy.
constexpr uint64_t kMostEncodeRows = 2048;

uint32_t Model::Impl::encode_room(uint32_t running, uint32_t source_positions, uint64_t all_ids) const {
  // The keys and values of all their rows in one head lie in one binding; half of it, for what is asked for is rounded up.
  const uint64_t row_bytes = 2 * uint64_t{std::max(1u, network.config.encoder.head_dim)} * 4;
  const uint64_t bound = device->caps().max_storage_range / row_bytes / 2;
  const uint64_t most = std::max<uint64_t>(source_positions, std::min(kMostEncodeRows, bound));
  return length_bucket(std::min({all_ids, most, uint64_t{running} * source_positions}));
}

WorkspaceKey plain_key(uint32_t sentences, uint32_t beams, uint32_t source_positions, uint32_t target_positions) {
  WorkspaceKey key;
  key.shape.running = sentences;
  key.shape.beams = beams;
  key.shape.source_positions = source_positions;
  key.shape.target_positions = target_positions;
  key.shape.list_words = 256;
  key.candidates = beams == 1 ? 1 : 2 * beams;
  key.encode_rows = sentences * source_positions;
  complete_key(key, 0);
  return key;
}

graph::Graph admit_graph(const model::Network& network, const model::SessionShape& shape) {
  return built(network, [&](model::Builder& b) { model::build_admit(b, shape, shape.running); });
}

graph::Graph encode_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows) {
  return built(network, [&](model::Builder& b) { model::build_encode(b, {rows ? rows : key.encode_rows, key.shape}); });
}

graph::Graph given_graph(const model::Network& network, const WorkspaceKey& key) {
  return built(network, [&](model::Builder& b) { model::build_given(b, {key.given_rows, false, key.shape}); });
}

StepGraph given_logits_graph(const model::Network& network, const WorkspaceKey& key) {
  StepGraph s;
  model::Builder b(network, s.graph);
  model::build_given(b, {key.logits_rows, true, key.shape});
  for (const auto& o : b.outputs())
    if (o.name == "logits") s.logits = o.tensor;
  return s;
}

graph::Graph start_graph(const model::Network& network, const model::SessionShape& shape) {
  return built(network, [&](model::Builder& b) { model::build_start(b, shape); });
}

std::vector<uint32_t> narrow_sentences(const WorkspaceKey& key) {
  std::vector<uint32_t> sentences;
  for (uint32_t s = key.shape.running; s > 1 && key.narrow && !key.capture;) {
    s = div_up(s, 2u);
    sentences.push_back(s);
  }
  return sentences;
}

StepGraph step_graph(const model::Network& network, const WorkspaceKey& key, uint32_t rows) {
  StepGraph s;
  model::Builder b(network, s.graph);
  const model::StepShape shape{rows ? rows : key.shape.rows(), key.shape};
  const auto logits = model::build_step(b, shape);
  model::build_tail(b, logits, shape, {key.candidates, key.sample, key.renormalize, key.capture});
  for (const auto& o : b.outputs()) {
    if (o.name == "logits") s.logits = o.tensor;
    if (o.name == "scores") s.scores = o.tensor;
  }
  return s;
}

std::vector<uint32_t> encode_rows(const WorkspaceKey& key) {
  std::vector<uint32_t> rows;
  for (uint32_t r = key.encode_rows; rows.empty() || r >= 8; r /= 4) rows.push_back(r);
  return rows;
}

Result<WorkspacePlans> Model::Impl::plans(const WorkspaceKey& key) {
  {
    std::lock_guard lock(mutex_);
    for (const auto& [k, p] : plans_)
      if (k == key) return p;
  }
  const auto compiled = [&](const graph::Graph& g) { return compile_tested(device, g, key.deterministic); };
  WorkspacePlans p;
  LAPILLI_TRY(p.admit, compiled(admit_graph(network, key.shape)));
  for (const uint32_t rows : encode_rows(key)) {
    LAPILLI_TRY(auto encode, compiled(encode_graph(network, key, rows)));
    p.encode.push_back(std::move(encode));
  }
  LAPILLI_TRY(p.start, compiled(start_graph(network, key.shape)));
  if (key.given_rows) {
    LAPILLI_TRY(p.given, compiled(given_graph(network, key)));
  }
  if (key.logits_rows) {
    StepGraph given = given_logits_graph(network, key);
    p.given_logits_out = given.logits;
    LAPILLI_TRY(p.given_logits, compiled(given.graph));
  }
  StepGraph step = step_graph(network, key);
  p.logits = step.logits;
  p.scores = step.scores;
  LAPILLI_TRY(p.step, compiled(step.graph));
  for (const uint32_t sentences : narrow_sentences(key)) {
    LAPILLI_TRY(auto narrow, compiled(step_graph(network, key, sentences * key.shape.beams).graph));
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
  options.deterministic = key.deterministic;
  const auto probe = [&](graph::Graph g) {
    auto plan = compile(std::move(g), device->caps(), options);
    // One that is too large for this device is no job's either; if the job at hand is, plans() says so.
    if (plan) plans.push_back(std::move(plan).value());
  };
  for (const ProbeSize& size : kProbes) {
    WorkspaceKey k = kind_of(key);
    k.steps_per_submit = 1;
    k.shape.target_positions = k.shape.list_words = 256;
    k.shape.running = size.sentences;
    k.shape.source_positions = size.source;
    if (k.shape.rows() > kMaxRows) continue;
    k.given_rows = k.given_rows ? k.shape.rows() : 0;
    k.logits_rows = k.logits_rows ? k.shape.rows() : 0;
    complete_key(k, 0);
    probe(admit_graph(network, k.shape));
    k.encode_rows = size.sentences * size.source;
    probe(encode_graph(network, k));
    probe(start_graph(network, k.shape));
    if (k.given_rows) probe(given_graph(network, k));
    if (k.logits_rows) probe(given_logits_graph(network, k).graph);
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
struct PlanOf {
  std::shared_ptr<const Plan> plan;
  ArenaOf arena;
};
std::vector<PlanOf> all_plans(const WorkspacePlans& p) {
  std::vector<PlanOf> all{{p.admit, ArenaOf::admission}, {p.start, ArenaOf::admission}};
  for (const auto& encode : p.encode) all.push_back({encode, ArenaOf::admission});
  if (p.given) all.push_back({p.given, ArenaOf::admission});
  if (p.given_logits) all.push_back({p.given_logits, ArenaOf::admission});
  all.push_back({p.step, ArenaOf::steps});
  for (const auto& narrow : p.narrow_steps) all.push_back({narrow, ArenaOf::steps});
  return all;
}

void require_all(Session& session, const WorkspacePlans& p) {
  for (const auto& [plan, arena] : all_plans(p)) session.require(*plan, arena);
}

// Device memory that a session of these plans takes.
uint64_t session_bytes(const WorkspacePlans& p) {
  std::map<uint32_t, uint64_t> states;
  std::map<ArenaOf, uint64_t> arenas;
  uint64_t total = 0;
  for (const auto& [plan, arena] : all_plans(p)) {
    arenas[arena] = std::max(arenas[arena], plan->arena_bytes());
    for (const auto& t : plan->graph.tensors())
      if (t.space == graph::Space::state) states[t.id] = std::max(states[t.id], t.bytes());
  }
  for (const auto& [id, bytes] : states) total += bytes;
  for (const auto& [arena, bytes] : arenas) total += bytes;
  return total;
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

const BoundPlan& Workspace::step_for(uint32_t sentences) const {
  const BoundPlan* chosen = step.get();
  for (const NarrowStep& n : narrow_steps)
    if (n.sentences >= sentences) chosen = n.plan.get();
  return *chosen;
}

const BoundPlan& Workspace::encode_for(uint32_t rows) const {
  const auto rows_of = encode_rows(key);
  size_t chosen = 0;
  for (size_t i = 0; i < encode.size(); ++i)
    if (rows_of[i] >= rows) chosen = i;
  return *encode[chosen];
}

// Who finds others of its kind at work gets a session with room for more of them.
WorkspaceKey Model::Impl::wider(WorkspaceKey key, uint32_t others) const {
  constexpr uint32_t kSharedSentences = 32;
  model::SessionShape& s = key.shape;
  const uint32_t waiting = s.places - s.running;
  const uint32_t wanted = std::bit_ceil(2 * std::min(others + s.running, kMaxRows));
  s.running = std::max(s.running, std::min({wanted, kSharedSentences, kMaxRows / s.beams}));
  key.encode_rows = encode_room(s.running, s.source_positions, uint64_t{s.running} * s.source_positions);
  complete_key(key, waiting);
  key.narrow = narrow_pays(s);
  return key;
}

// Where grids follow the live rows, all that is left to win is the choice of variants for few rows: measured, it pays for
// the compiling and binding only where very many rows become few (docs/performance.md).
bool Model::Impl::narrow_pays(const model::SessionShape& shape) const {
  const bool few_beams = shape.beams == 1 && narrow_from > 0;
  return !device->caps().indirect_dispatch || (!few_beams && shape.rows() >= narrow_from);
}

Result<std::shared_ptr<SearchEngine>> Model::Impl::take_engine(const WorkspaceKey& key, uint32_t sentences) {
  uint32_t others = 0;
  {
    std::lock_guard lock(mutex_);
    for (auto it = engines_.begin(); it != engines_.end(); ++it) {
      if ((*it)->serves(key, sentences)) {
        engines_.splice(engines_.begin(), engines_, it);
        return engines_.front();
      }
      if (!key.capture) others += (*it)->busy_with(key);
    }
  }
  if (others > 0) {
    auto shared = make_engine(wider(key, others));
    const bool too_large = !shared && (shared.error().code == ErrorCode::out_of_memory ||
                                       shared.error().code == ErrorCode::unsupported);
    if (!too_large) return shared;
  }
  auto made = make_engine(key);
  if (made || made.error().code != ErrorCode::out_of_memory) return made;
  // Engines that nobody uses may be in the way; their memory comes back once what was submitted before is done, also of
  // other jobs.
  drop_free();
  device->settle();
  return make_engine(key);
}

Result<std::shared_ptr<SearchEngine>> Model::Impl::make_engine(const WorkspaceKey& key) {
  LAPILLI_TRY(auto workspace, make_workspace(key));
  auto engine = std::make_shared<SearchEngine>(*this, std::move(workspace));
  std::list<std::shared_ptr<SearchEngine>> dropped;  // destroyed outside the lock
  std::lock_guard lock(mutex_);
  engines_.push_front(engine);
  size_t kept = 0;
  for (auto it = engines_.begin(); it != engines_.end();) {
    const auto next = std::next(it);
    if (it->use_count() == 1 && ++kept > kFreeEngines) dropped.splice(dropped.end(), engines_, it);
    it = next;
  }
  return engine;
}

void Model::Impl::drop_free() {
  std::list<std::shared_ptr<SearchEngine>> dropped;
  std::lock_guard lock(mutex_);
  for (auto it = engines_.begin(); it != engines_.end();) {
    const auto next = std::next(it);
    if (it->use_count() == 1) dropped.splice(dropped.end(), engines_, it);
    it = next;
  }
}

uint32_t Model::Impl::known_positions(uint32_t source_bucket) {
  std::lock_guard lock(mutex_);
  const auto it = positions_.find(source_bucket);
  return it == positions_.end() ? 0 : it->second;
}

void Model::Impl::remember_positions(uint32_t source_bucket, uint32_t positions) {
  std::lock_guard lock(mutex_);
  uint32_t& known = positions_[source_bucket];
  known = std::max(known, positions);
}

Result<std::unique_ptr<Workspace>> Model::Impl::make_workspace(const WorkspaceKey& key) {
  auto w = std::make_unique<Workspace>();
  w->key = key;
  LAPILLI_CHECK(prepare_pipelines(key));
  LAPILLI_TRY(w->plans, plans(key));
  LAPILLI_TRY(auto share, reserve(session_bytes(w->plans)));
  LAPILLI_TRY(w->session, Session::create(device, std::make_shared<MemoryShare>(std::move(share))));
  require_all(*w->session, w->plans);
  LAPILLI_CHECK(w->session->allocate());
  LAPILLI_CHECK(bind(*w));
  for (const StateKind kind : {StateKind::step, StateKind::search}) {
    const auto words = w->first->words(kind);
    std::fill(words.begin(), words.end(), 0u);
  }
  const auto step = w->first->words(StateKind::step);
  step[StepWords::tick] = step[StepWords::started] = step[StepWords::queued] = first_counter;
  return w;
}

namespace {

// Copies the caches and the lineage, whose rows have become longer.
Result<std::unique_ptr<vulkan::CommandRecording>> record_move(const Workspace& from, const Workspace& to,
                                                              const model::Config& config) {
  LAPILLI_TRY(auto move, vulkan::CommandRecording::create(to.session->device()));
  LAPILLI_CHECK(move.begin());
  const auto copy = [&](StateKind kind, uint32_t layer, uint64_t count, uint64_t words) {
    const BufferRef a = from.session->state(kind, layer), b = to.session->state(kind, layer);
    const uint64_t old_bytes = words * from.key.shape.target_positions * 4;
    move.copy(*a.buffer, *b.buffer, {count, old_bytes, old_bytes, words * to.key.shape.target_positions * 4});
  };
  const uint64_t slots = from.key.shape.slots();
  copy(StateKind::lineage, 0, 4 * slots, 1);
  for (uint32_t i = 0; i < config.decoder.layers; ++i)
    copy(StateKind::self_kv, i, config.decoder.heads * slots, 2 * uint64_t{config.decoder.head_dim});
  LAPILLI_CHECK(move.end());
  return std::make_unique<vulkan::CommandRecording>(std::move(move));
}

}  // namespace

Result<std::unique_ptr<Workspace>> Model::Impl::grow_workspace(std::unique_ptr<Workspace>& old,
                                                               const WorkspaceKey& key) {
  auto w = std::make_unique<Workspace>();
  w->key = key;
  LAPILLI_TRY(w->plans, plans(key));
  LAPILLI_TRY(auto share, reserve(session_bytes(w->plans)));
  LAPILLI_TRY(w->session, Session::create(device, std::make_shared<MemoryShare>(std::move(share))));
  require_all(*w->session, w->plans);
  LAPILLI_CHECK(w->session->allocate(old->session.get()));
  w->moved_from = std::move(old);
  LAPILLI_CHECK(bind(*w));
  // The sentences' words are there already, and only the grids may be others.
  w->first.reset();
  LAPILLI_TRY(w->first, UploadArea::create(*w->session, std::array{StateKind::grids}));
  LAPILLI_CHECK(write_step_grids(*w));
  LAPILLI_TRY(w->move, record_move(*w->moved_from, *w, network.config));
  return w;
}

namespace {

std::vector<std::shared_ptr<const Plan>> step_plans(const WorkspacePlans& p) {
  std::vector<std::shared_ptr<const Plan>> steps{p.step};
  steps.insert(steps.end(), p.narrow_steps.begin(), p.narrow_steps.end());
  return steps;
}

}  // namespace

// The steps share the grids buffer, so that `advance` of any of them writes the arguments of all.
Status Model::Impl::write_step_grids(Workspace& w) {
  const auto steps = step_plans(w.plans);
  const auto words = grid_words(share_grids(steps).specs, w.plans.step->max_group_x);
  const auto to = w.first->words(StateKind::grids);
  if (to.size() < words.size()) return fail(ErrorCode::internal, "the grids buffer is too small");
  std::copy(words.begin(), words.end(), to.begin());
  return {};
}

Status Model::Impl::bind(Workspace& w) {
  const MemoryMap ahead = w.session->memory(weight_map(), ArenaOf::admission);
  const MemoryMap memory = w.session->memory(weight_map(), ArenaOf::steps);
  const auto bind_ahead = [&](const std::shared_ptr<const Plan>& plan, std::unique_ptr<BoundPlan>& to) -> Status {
    LAPILLI_TRY(auto bound, BoundPlan::bind(device, plan, ahead));
    to = std::make_unique<BoundPlan>(std::move(bound));
    return {};
  };
  LAPILLI_CHECK(bind_ahead(w.plans.admit, w.admit));
  for (const auto& plan : w.plans.encode) LAPILLI_CHECK(bind_ahead(plan, w.encode.emplace_back()));
  LAPILLI_CHECK(bind_ahead(w.plans.start, w.start));
  if (w.plans.given) LAPILLI_CHECK(bind_ahead(w.plans.given, w.given));
  if (w.plans.given_logits) LAPILLI_CHECK(bind_ahead(w.plans.given_logits, w.given_logits));
  const auto steps = step_plans(w.plans);
  const SharedGrids grids = share_grids(steps);
  const auto sentences = narrow_sentences(w.key);
  for (size_t i = 0; i < grids.of_plan.size(); ++i) {
    BindOptions options;
    options.repeats = steps_in_one_recording(*steps[i], w.key.steps_per_submit, device->caps());
    options.grids = grids.of_plan[i];
    LAPILLI_TRY(auto bound, BoundPlan::bind(device, steps[i], memory, options));
    auto kept = std::make_unique<BoundPlan>(std::move(bound));
    if (i == 0)
      w.step = std::move(kept);
    else
      w.narrow_steps.push_back({std::move(kept), sentences[i - 1]});
  }
  LAPILLI_TRY(w.first,
              UploadArea::create(*w.session, std::array{StateKind::step, StateKind::search, StateKind::grids}));
  LAPILLI_CHECK(write_step_grids(w));
  for (uint32_t i = 0; i < kAdmissionAreas; ++i) {
    constexpr std::array kinds{StateKind::inbox, StateKind::source_ids, StateKind::spans, StateKind::globals,
                               StateKind::encode_grids};
    LAPILLI_TRY(auto area, UploadArea::create(*w.session, kinds));
    w.admissions.push_back(std::move(area));
  }
  for (uint32_t i = 0; w.given && i < w.key.given_passes + 1; ++i) {
    LAPILLI_TRY(auto area, UploadArea::create(*w.session, std::array{StateKind::given, StateKind::given_grids}));
    w.given_passes.push_back(std::move(area));
  }
  for (uint32_t i = 0; w.given_logits && i < kAdmissionAreas; ++i) {
    LAPILLI_TRY(auto pass, LogitsPass::create(*w.session, *w.given_logits, w.plans.given_logits_out));
    w.logits_passes.push_back(std::move(pass));
  }
  return {};
}

MemoryMap Model::Impl::weight_map() const {
  return [w = weights](graph::Space, uint32_t id) { return w->find(id); };
}

}  // namespace lapilli
