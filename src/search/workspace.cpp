#include "search/workspace.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "model/transformer.hpp"
#include "runtime/check/expected_pipelines.hpp"
#include "search/encoded_source.hpp"

namespace lapilli {

namespace {

constexpr uint32_t kAdmissionAreas = 2;

struct PlanOf {
  std::shared_ptr<const Plan> plan;
  ArenaOf arena;
};
std::vector<PlanOf> all_plans(const WorkspacePlans& p) {
  std::vector<PlanOf> all{{p.admit, ArenaOf::admission}, {p.start, ArenaOf::admission}};
  for (const auto& encode : p.encode) all.push_back({encode, ArenaOf::admission});
  if (p.prompt) all.push_back({p.prompt, ArenaOf::admission});
  if (p.prompt_logits) all.push_back({p.prompt_logits, ArenaOf::admission});
  all.push_back({p.step, ArenaOf::steps});
  for (const auto& narrow : p.narrow_steps) all.push_back({narrow, ArenaOf::steps});
  return all;
}

void require_all(Session& session, const WorkspacePlans& p) {
  for (const auto& [plan, arena] : all_plans(p)) session.require(*plan, arena);
}

// Device memory of a session for these plans.
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

vulkan::MemoryNeed need_of(const WorkspacePlans& p) {
  return {
      .bytes = session_bytes(p), .what = "this batch", .advice = "use a smaller batch, fewer beams or shorter input"};
}

}  // namespace

const BoundPlan& Workspace::step_for(uint32_t sentences) const {
  const BoundPlan* chosen = step.get();
  for (const NarrowStep& n : narrow_steps)
    if (n.sentences >= sentences) chosen = n.plan.get();
  return *chosen;
}

const BoundPlan* Workspace::encode_for(uint32_t rows) const {
  if (encode.empty()) return nullptr;
  const auto rows_of = encode_rows(key);
  size_t chosen = 0;
  for (size_t i = 0; i < encode.size(); ++i)
    if (rows_of[i] >= rows) chosen = i;
  return encode[chosen].get();
}

// A workspace whose session knows its sizes. Memory that it will take over from another one is counted already.
Result<std::unique_ptr<Workspace>> WorkspaceFactory::begin(const WorkspaceKey& key, const Workspace* from) {
  auto w = std::make_unique<Workspace>();
  w->key = key;
  LAPILLI_TRY(w->plans, plans_.plans(key));
  LAPILLI_TRY(w->session, Session::create(network_.device));
  require_all(*w->session, w->plans);
  vulkan::MemoryNeed need = need_of(w->plans);
  if (from) need.bytes -= std::min(need.bytes, w->session->bytes_from(*from->session));
  LAPILLI_TRY(auto share, memory_.reserve(need));
  w->share = std::make_shared<vulkan::MemoryShare>(std::move(share));
  w->session->keep(w->share);
  return w;
}

Result<std::unique_ptr<Workspace>> WorkspaceFactory::make(const WorkspaceKey& key, uint32_t first_counter) {
  LAPILLI_TRY(auto w, begin(key));
  LAPILLI_CHECK(w->session->allocate());
  LAPILLI_CHECK(bind(*w));
  for (const StateKind kind : {StateKind::step, StateKind::search}) {
    const auto words = w->first->words(kind);
    std::fill(words.begin(), words.end(), 0u);
  }
  const auto step = w->first->words(StateKind::step);
  step[state::STEP_TICK] = step[state::STEP_STARTED] = step[state::STEP_QUEUED] = first_counter;
  return w;
}

namespace {

Result<std::unique_ptr<vulkan::CommandRecording>> finished(vulkan::CommandRecording recording) {
  LAPILLI_CHECK(recording.end());
  return std::make_unique<vulkan::CommandRecording>(std::move(recording));
}

// Copies caches and lineage to longer rows.
Result<std::unique_ptr<vulkan::CommandRecording>> record_move(const Workspace& from, const Workspace& to,
                                                              const model::Network& network) {
  LAPILLI_TRY(auto move, vulkan::CommandRecording::create(to.session->device()));
  LAPILLI_CHECK(move.begin());
  const auto copy = [&](StateKind kind, uint32_t layer, uint64_t count, uint64_t old_words, uint64_t words) {
    const BufferRef a = from.session->state(kind, layer), b = to.session->state(kind, layer);
    move.copy(*a.buffer, *b.buffer, {count, old_words * 4, old_words * 4, words * 4});
  };
  const uint64_t beam_slots = from.key.shape.beam_slots();
  copy(StateKind::lineage, 0, 4 * beam_slots, from.key.shape.target_positions, to.key.shape.target_positions);
  if (network.config.decoder.cells) return finished(std::move(move));  // cells have been handed over
  for (uint32_t i = 0; i < network.config.decoder.layers; ++i) {
    const KvLayout kv(model::self_kv_shape(network.config, from.key.shape.room(), i), network.kv_format);
    const uint32_t positions = model::self_kv_shape(network.config, to.key.shape.room(), i).positions;
    // A ring has been handed over. One that grows has held every position so far, each in the cell of its number.
    if (positions != kv.shape.positions)
      copy(StateKind::self_kv, i, kv.shape.heads * beam_slots, kv.cell_words() * kv.shape.positions,
           kv.cell_words() * positions);
  }
  return finished(std::move(move));
}

}  // namespace

Result<std::unique_ptr<Workspace>> WorkspaceFactory::grow(std::unique_ptr<Workspace>& old, const WorkspaceKey& key) {
  LAPILLI_TRY(auto w, begin(key, old.get()));
  const uint64_t taken = w->session->bytes_from(*old->session);
  LAPILLI_CHECK(w->session->allocate(old->session.get()));
  w->share->take_from(*old->share, taken);
  w->moved_from = std::move(old);
  LAPILLI_CHECK(bind(*w));
  // The sentences' words are moved; only the grids may differ.
  w->first.reset();
  LAPILLI_TRY(w->first, UploadArea::create(*w->session, std::array{StateKind::grids}));
  LAPILLI_CHECK(write_step_grids(*w));
  LAPILLI_TRY(w->move, record_move(*w->moved_from, *w, network_.network));
  return w;
}

namespace {

std::vector<std::shared_ptr<const Plan>> step_plans(const WorkspacePlans& p) {
  std::vector<std::shared_ptr<const Plan>> steps{p.step};
  steps.insert(steps.end(), p.narrow_steps.begin(), p.narrow_steps.end());
  return steps;
}

// Creates the pipelines of all plans in one batch, which the host's threads share better than one batch per plan.
Status make_pipelines(const NetworkOnDevice& network, const WorkspacePlans& p) {
  std::vector<PlannedPipeline> pipelines;
  for (const auto& plan : p.all()) pipelines.insert(pipelines.end(), plan->pipelines.begin(), plan->pipelines.end());
  ExpectedPipelines::of(*network.device)->note(network.network.fingerprint(), pipelines);
  return create_pipelines(*network.device, pipelines);
}

}  // namespace

// The steps share the grids buffer, so that any step's `advance` writes the arguments of all.
Status WorkspaceFactory::write_step_grids(Workspace& w) {
  const auto steps = step_plans(w.plans);
  const auto words = grid_words(share_grids(steps).specs, w.plans.step->max_group_x);
  const auto to = w.first->words(StateKind::grids);
  if (to.size() < words.size()) return fail(ErrorCode::internal, "the grids buffer is too small");
  std::copy(words.begin(), words.end(), to.begin());
  return {};
}

Status WorkspaceFactory::bind(Workspace& w) {
  const MemoryMap ahead = w.session->memory(network_.weight_map(), ArenaOf::admission);
  const MemoryMap memory = w.session->memory(network_.weight_map(), ArenaOf::steps);
  LAPILLI_CHECK(make_pipelines(network_, w.plans));
  const TimelineScope scope(network_.device->timeline(), "record plans");
  BindOptions options;
  options.timestamps = network_.device->timeline() != nullptr;
  const auto bind_ahead = [&](const std::shared_ptr<const Plan>& plan, std::unique_ptr<BoundPlan>& to,
                              const char* name) -> Status {
    options.name = name;
    LAPILLI_TRY(auto bound, BoundPlan::bind(network_.device, plan, ahead, options));
    to = std::make_unique<BoundPlan>(std::move(bound));
    return {};
  };
  LAPILLI_CHECK(bind_ahead(w.plans.admit, w.admit, "admit"));
  for (const auto& plan : w.plans.encode) LAPILLI_CHECK(bind_ahead(plan, w.encode.emplace_back(), "encode"));
  LAPILLI_CHECK(bind_ahead(w.plans.start, w.start, "start"));
  if (w.plans.prompt) LAPILLI_CHECK(bind_ahead(w.plans.prompt, w.prompt, "prompt ids"));
  if (w.plans.prompt_logits) LAPILLI_CHECK(bind_ahead(w.plans.prompt_logits, w.prompt_logits, "logits of prompt ids"));
  const auto steps = step_plans(w.plans);
  const SharedGrids grids = share_grids(steps);
  const auto sentences = narrow_sentences(w.key);
  for (size_t i = 0; i < grids.of_plan.size(); ++i) {
    options.grids = grids.of_plan[i];
    options.name = i == 0 ? "step" : "step of few";
    LAPILLI_TRY(auto bound, BoundPlan::bind(network_.device, steps[i], memory, options));
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
    constexpr std::array kinds{StateKind::inbox,       StateKind::source_ids, StateKind::spans,
                               StateKind::globals,     StateKind::features,   StateKind::feature_spans,
                               StateKind::encode_grids};
    LAPILLI_TRY(auto area, UploadArea::create(*w.session, kinds));
    w.admissions.push_back(std::move(area));
  }
  for (uint32_t i = 0; w.prompt && i < kAdmissionAreas; ++i) {
    LAPILLI_TRY(auto area, UploadArea::create(*w.session, std::array{StateKind::prompt, StateKind::prompt_grids}));
    w.prompt_passes.push_back(std::move(area));
  }
  for (uint32_t i = 0; w.prompt_logits && i < kAdmissionAreas; ++i) {
    LAPILLI_TRY(auto pass, LogitsPass::create(*w.session, *w.prompt_logits, w.plans.prompt_logits_out));
    w.logits_passes.push_back(std::move(pass));
  }
  return {};
}

}  // namespace lapilli
