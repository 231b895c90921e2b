#include "runtime/plan/plan.hpp"

#include <algorithm>

#include "ops/core/state.hpp"
#include "runtime/plan/fuse.hpp"
#include "runtime/plan/tunings.hpp"
#include "vulkan/caps/bindings.hpp"

namespace lapilli {

bool Verdicts::refused(const char* op, const char* variant) const {
  return std::any_of(refused_.begin(), refused_.end(),
                     [&](const auto& r) { return r.first == op && r.second == variant; });
}

namespace {

using Variants = std::vector<Variant>;

bool allowed(const graph::Node& node, const Variant& v, const CompileOptions& options) {
  if (options.deterministic && !v.sums_in_order) return false;
  return !options.verdicts || !options.verdicts->refused(node.op->name, v.name);
}

Variant untuned(const graph::Node& node, const Variants& variants, const CompileOptions& options) {
  if (options.floor_only) return variants.back();
  for (const Variant& v : variants)
    if (allowed(node, v, options)) return v;
  return variants.back();
}

// For deterministic plans: a choice found for such plans, or one that keeps one summation order anyway.
const TunedChoice* find_choice(const graph::Graph& graph, const graph::Node& node, const CompileOptions& options) {
  const TuningRule& rule = node.op->tuning;
  if (!options.tunings || options.tunings->empty() || options.floor_only || !rule.key) return nullptr;
  TuningKey key{node.op->name, rule.key(graph, node), options.deterministic};
  const TunedChoice* choice = options.tunings->find(key);
  if (choice || !options.deterministic || !rule.numbers_keep_order) return choice;
  key.in_order = false;
  return options.tunings->find(key);
}

// Stored choices are untrusted: the name may be unknown here, or the numbers impossible to lower.
std::optional<Variant> tuned(const LowerContext& context, const graph::Node& node, const Variants& variants,
                             const CompileOptions& options) {
  const TunedChoice* const choice = find_choice(context.graph, node, options);
  if (!choice) return std::nullopt;
  for (Variant v : variants) {
    if (v.name != choice->variant || !allowed(node, v, options)) continue;
    v.numbers = choice->numbers;
    v.tuned = true;
    std::vector<Dispatch> list;
    if (lower_node(context, node, v, list) && !list.empty()) return v;
  }
  return std::nullopt;
}

WorkLimit work_of(const Capabilities& caps, const CompileOptions& options) {
  return options.work.value_or(WorkLimit::finest(caps));
}

}  // namespace

Variant choose_variant(const Capabilities& caps, const graph::Graph& graph, const graph::Node& node,
                       const CompileOptions& options) {
  const auto variants = node.op->variants(caps, graph, node);
  const auto found = tuned({graph, caps, work_of(caps, options)}, node, variants, options);
  return found ? *found : untuned(node, variants, options);
}

namespace {

// The index of `value`, appended if it is new.
template <class T>
uint32_t intern(std::vector<T>& all, const T& value) {
  const auto it = std::find(all.begin(), all.end(), value);
  if (it != all.end()) return static_cast<uint32_t>(it - all.begin());
  all.push_back(value);
  return static_cast<uint32_t>(all.size() - 1);
}

Status check_dispatch(const Capabilities& caps, const graph::Graph& g, const graph::Node& node, const Dispatch& d) {
  if (d.push_bytes > caps.max_push_bytes)
    return fail(ErrorCode::internal, "%s: %u bytes of push constants", node.label, d.push_bytes);
  for (const Operand& o : d.operands) {
    const auto& t = g.tensor(o.tensor);
    const uint64_t limit = max_binding_range(caps, o.binding), alignment = binding_alignment(caps, o.binding);
    if (o.end <= o.begin || o.end > t.bytes() || o.begin % alignment != 0)
      return fail(ErrorCode::internal, "%s: bytes [%u, %u) of tensor %s (%u bytes) at binding %u", node.label, o.begin,
                  o.end, t.name, t.bytes(), o.binding);
    if (o.end - o.begin > limit)
      return fail(ErrorCode::unsupported, "%s: a binding of %u bytes of tensor %s exceeds this device's %u; %s",
                  node.label, o.end - o.begin, t.name, limit,
                  t.space == graph::Space::weight ? "it is a part of the model: run the model on another device"
                                                  : "use shorter input or a smaller batch");
  }
  return {};
}

uint32_t grids_state(const graph::Graph& g) {
  for (const auto& t : g.tensors())
    for (const StateKind kind : {StateKind::encode_grids, StateKind::prompt_grids})
      if (t.space == graph::Space::state && t.id == state_id(kind)) return t.id;
  return state_id(StateKind::grids);
}

class Compiler {
 public:
  Compiler(Plan& plan, const Capabilities& caps, const CompileOptions& options)
      : plan_(plan), caps_(caps), options_(options), work_(work_of(caps, options)) {}

  Status run() {
    LAPILLI_CHECK(check_graph());
    plan_.graph = fuse_norms(std::move(plan_.graph), caps_, options_);
    plan_.graph = fuse_gates(std::move(plan_.graph), caps_, options_);
    plan_.graph = fuse_sampler(std::move(plan_.graph), caps_, options_);
    LAPILLI_CHECK(check_graph());
    graph::PlacementOptions placement;
    placement.alignment = std::max<uint64_t>(256, std::max(caps_.storage_alignment, caps_.uniform_alignment));
    placement.reuse = options_.reuse_memory;
    LAPILLI_TRY(plan_.placement, graph::place(plan_.graph, placement));
    plan_.grids_state = grids_state(plan_.graph);
    for (graph::NodeId id = 0; id < plan_.graph.nodes().size(); ++id)
      if (auto s = lower(id); !s) return std::move(s).error().in(plan_.graph.node(id).label);
    graph::ScheduleOptions schedule;
    schedule.segment_cost = options_.segment_per_level ? 0 : work_.operations();
    schedule.segment_bytes = work_.bytes();
    plan_.schedule = graph::schedule(plan_.commands, schedule);
    plan_.max_group_x = caps_.max_group_count[0];
    return {};
  }

 private:
  [[nodiscard]] Status check_graph() const {
    LAPILLI_CHECK(plan_.graph.validate());
    for (const auto& node : plan_.graph.nodes())
      if (auto s = node.op->infer(plan_.graph, node); !s) return std::move(s).error().in(node.label);
    return {};
  }

  Status lower(graph::NodeId id) {
    const graph::Node& node = plan_.graph.node(id);
    plan_.variants.push_back(choose_variant(caps_, plan_.graph, node, options_));
    if (options_.deterministic && !plan_.variants.back().sums_in_order)
      return fail(ErrorCode::unsupported,
                  "%s \"%s\" is too large for this device's bindings to be summed in one order: use fewer beams or "
                  "positions, or do not ask for deterministic results",
                  node.op->name, node.label);
    std::vector<Dispatch> dispatches;
    LAPILLI_CHECK(lower_node({plan_.graph, caps_, work_}, node, plan_.variants.back(), dispatches));
    if (dispatches.empty()) return fail(ErrorCode::internal, "nothing to dispatch");
    for (const Dispatch& d : dispatches) {
      LAPILLI_CHECK(check_dispatch(caps_, plan_.graph, node, d));
      LAPILLI_CHECK(add(id, d));
    }
    return {};
  }

  // The entry of the grids buffer that a dispatch follows. None if the buffer is full: as on devices without indirect
  // dispatch, the dispatch then has its full grid, and the kernels skip rows that ended.
  int grid_of(const Dispatch& d) {
    if (d.groups_per_tile == 0 || !caps_.indirect_dispatch) return -1;
    const GridSpec spec{d.groups_per_tile, d.rows_per_tile, d.follows};
    const bool known = std::find(plan_.grids.begin(), plan_.grids.end(), spec) != plan_.grids.end();
    if (!known && plan_.grids.size() == state::MAX_GRIDS) return -1;
    return static_cast<int>(intern(plan_.grids, spec));
  }

  Status add(graph::NodeId id, const Dispatch& d) {
    PlannedDispatch out;
    out.node = id;
    out.pipeline = intern(plan_.pipelines, PlannedPipeline{d.shader, d.constants});
    LAPILLI_TRY(out.groups, fold_groups(caps_, d.groups));
    out.push = d.push;
    out.push_bytes = d.push_bytes;
    graph::Command command;
    command.cost = d.cost;
    command.node = id;
    for (const Operand& o : d.operands) {
      const auto root = plan_.graph.root(o.tensor);
      const auto& t = plan_.graph.tensor(root);
      const uint64_t base = t.space == graph::Space::arena ? plan_.placement.offset[root] : 0;
      out.bindings.push_back({o.binding, t.space, t.id, base + o.begin, o.end - o.begin});
      if (!o.used) continue;
      const uint64_t end = o.step_stride ? std::min(o.end, o.begin + o.step_stride) : o.end;
      command.ranges.push_back({t.space, t.id, base + o.begin, base + end, o.access, o.step_stride});
    }
    out.grid = grid_of(d);
    if (out.grid >= 0) {
      const uint64_t begin =
          (uint64_t{static_cast<uint32_t>(out.grid)} * state::GRID_STRIDE + state::GRID_ARGUMENTS) * 4;
      command.ranges.push_back({graph::Space::state, plan_.grids_state, begin, begin + 12, graph::Access::read, 0});
    }
    plan_.dispatches.push_back(std::move(out));
    plan_.commands.push_back(std::move(command));
    return {};
  }

  Plan& plan_;
  const Capabilities& caps_;
  const CompileOptions& options_;
  const WorkLimit work_;
};

}  // namespace

size_t Plan::tuned() const {
  return static_cast<size_t>(std::ranges::count_if(variants, [](const Variant& v) { return v.tuned; }));
}

Result<std::shared_ptr<const Plan>> compile(graph::Graph graph, const Capabilities& caps,
                                            const CompileOptions& options) {
  auto plan = std::make_shared<Plan>();
  plan->graph = std::move(graph);
  LAPILLI_CHECK(Compiler(*plan, caps, options).run());
  return std::shared_ptr<const Plan>(std::move(plan));
}

}  // namespace lapilli
