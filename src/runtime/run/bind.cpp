#include "runtime/run/bind.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "ops/core/shader_table.hpp"
#include "ops/core/state.hpp"
#include "vulkan/device/trace.hpp"

namespace lapilli {

namespace {

std::vector<vulkan::PipelineRequest> pipeline_requests(std::span<const PlannedPipeline> pipelines) {
  std::vector<vulkan::PipelineRequest> requests;
  for (const auto& p : pipelines) {
    const ShaderCode& code = shader_code(p.shader);
    requests.push_back({code.words, code.word_count, code.name, p.constants});
  }
  return requests;
}

Result<vulkan::BufferBinding> resolve(const MemoryMap& memory, const PlannedDispatch::Binding& b, const Plan& plan,
                                      const PlannedDispatch& d) {
  const BufferRef ref = memory(b.space, b.id);
  if (!ref.buffer || b.offset + b.size > ref.size)
    return fail(ErrorCode::internal, "%s: binding %u wants bytes [%u, %u) of space %d id %u; there are %u",
                plan.graph.node(d.node).label, b.binding, b.offset, b.offset + b.size, static_cast<int>(b.space), b.id,
                ref.buffer ? ref.size : 0);
  return vulkan::BufferBinding{b.binding, ref.buffer, ref.offset + b.offset, b.size};
}

bool dispatches_indirectly(const Plan& plan, const graph::Level& level) {
  const auto order = std::span(plan.schedule.order).subspan(level.begin, level.end - level.begin);
  return std::any_of(order.begin(), order.end(), [&](uint32_t i) { return plan.dispatches[i].grid >= 0; });
}

bool writes_grids(const Plan& plan, const graph::Level& level) {
  const auto order = std::span(plan.schedule.order).subspan(level.begin, level.end - level.begin);
  return std::any_of(order.begin(), order.end(), [&](uint32_t i) {
    const auto& ranges = plan.commands[i].ranges;
    return std::any_of(ranges.begin(), ranges.end(), [](const graph::Range& r) {
      return r.space == graph::Space::state && r.id == state_id(StateKind::grids) && r.access != graph::Access::read;
    });
  });
}

}  // namespace

Result<BoundPlan> BoundPlan::bind(std::shared_ptr<vulkan::Device> device, std::shared_ptr<const Plan> plan,
                                  const MemoryMap& memory, const BindOptions& options) {
  BoundPlan bound;
  bound.device_ = std::move(device);
  bound.plan_ = std::move(plan);
  bound.options_ = options;
  if (options.repeats > 1 && bound.plan_->schedule.segments.size() > 1)
    return fail(ErrorCode::internal, "only a plan of one segment can be repeated within a recording");
  if (options.repeats > 1 && options.timestamps)
    return fail(ErrorCode::internal, "a recording with timestamps runs its plan once");
  LAPILLI_TRY(bound.pipelines_, bound.device_->pipelines(pipeline_requests(bound.plan_->pipelines)));
  LAPILLI_CHECK(bound.record(memory));
  bound.segments_ = std::make_unique<std::vector<SegmentTime>>();
  for (const graph::Cost& cost : bound.plan_->schedule.segment_costs)
    bound.segments_->push_back({cost * options.repeats, 0});
  return bound;
}

Status BoundPlan::record(const MemoryMap& memory) {
  // Dispatches with equal bindings share a descriptor set.
  std::map<std::vector<std::array<uint64_t, 5>>, const vulkan::DescriptorSet*> known;
  LAPILLI_TRY(auto arena, vulkan::DescriptorArena::create(device_, static_cast<uint32_t>(plan_->dispatches.size())));
  for (const PlannedDispatch& d : plan_->dispatches) {
    std::vector<std::array<uint64_t, 5>> key;
    std::vector<vulkan::BufferBinding> bindings;
    for (const auto& b : d.bindings) {
      LAPILLI_TRY(auto binding, resolve(memory, b, *plan_, d));
      bindings.push_back(binding);
      key.push_back({b.binding, static_cast<uint64_t>(b.space), b.id, b.offset, b.size});
    }
    const vulkan::DescriptorSet*& set = known[key];
    if (!set) {
      LAPILLI_TRY(set, arena.write(bindings));
    }
    sets_.push_back(set);
  }
  arena_.push_back(std::move(arena));

  const auto& s = plan_->schedule;
  for (size_t i = 0; i < s.segments.size(); ++i) {
    const uint32_t first = s.segments[i];
    const uint32_t last = i + 1 < s.segments.size() ? s.segments[i + 1] : static_cast<uint32_t>(s.levels.size());
    LAPILLI_TRY(auto recording, vulkan::CommandRecording::create(device_));
    if (options_.timestamps) LAPILLI_CHECK(recording.enable_timestamps(last - first + 1));
    LAPILLI_CHECK(recording.begin(options_.use));
    recording.timestamp(0);
    bool new_grids = false;  // written since the last barrier for indirect reads
    for (uint32_t r = 0; r < options_.repeats; ++r) {
      for (uint32_t level = first; level < last; ++level) {
        const auto& out = options_.left_out_barriers;
        const bool left_out = std::find(out.begin(), out.end(), level) != out.end();
        if ((level != first || r != 0) && !left_out) {
          const bool indirect = new_grids && dispatches_indirectly(*plan_, s.levels[level]);
          recording.barrier({.indirect = indirect});
          if (indirect) new_grids = false;
        }
        LAPILLI_CHECK(record_level(recording, s.levels[level], memory));
        recording.timestamp(level - first + 1);
        new_grids = new_grids || writes_grids(*plan_, s.levels[level]);
      }
      if (last == s.levels.size()) tell_step_end(recording, memory);
    }
    LAPILLI_CHECK(recording.end());
    recordings_.push_back(std::move(recording));
  }
  return {};
}

Status BoundPlan::record_level(vulkan::CommandRecording& recording, const graph::Level& level,
                               const MemoryMap& memory) const {
  const BufferRef grids = plan_->grids.empty() ? BufferRef{} : memory(graph::Space::state, plan_->grids_state);
  for (uint32_t i = level.begin; i < level.end; ++i) {
    const uint32_t index = plan_->schedule.order[i];
    const PlannedDispatch& d = plan_->dispatches[index];
    recording.label(plan_->graph.node(d.node).label.c_str());
    recording.bind(pipelines_[d.pipeline], sets_[index], std::span(d.push).first(d.push_bytes));
    tell_touches(recording, index, memory);
    if (d.grid >= 0) {
      const auto own = static_cast<uint32_t>(d.grid);
      if (!options_.grids.empty() && own >= options_.grids.size())
        return fail(ErrorCode::internal, "no entry of the grids buffer stands for grid %u", own);
      const uint32_t entry = options_.grids.empty() ? own : options_.grids[own];
      const uint64_t offset = (uint64_t{entry} * state::GRID_STRIDE + state::GRID_ARGUMENTS) * 4;
      if (!grids.buffer || offset + 12 > grids.size) return fail(ErrorCode::internal, "no grids buffer is bound");
      recording.dispatch_indirect(*grids.buffer, grids.offset + offset);
    } else {
      recording.dispatch(d.groups[0], d.groups[1], d.groups[2]);
    }
  }
  return {};
}

// A plan's last range is the arguments of its grid; it is reported with the dispatch, since it lies in an entry that
// plans may share.
void BoundPlan::tell_touches(vulkan::CommandRecording& recording, uint32_t command, const MemoryMap& memory) const {
  if (!vulkan::is_traced(recording)) return;
  const auto ranges = std::span(plan_->commands[command].ranges);
  for (const graph::Range& r : ranges.first(ranges.size() - (plan_->dispatches[command].grid >= 0 ? 1 : 0))) {
    const BufferRef at = memory(r.space, r.id);
    vulkan::tell_touch(recording, *at.buffer,
                       {nullptr, at.offset + r.begin, at.offset + r.end, r.access != graph::Access::write,
                        r.access != graph::Access::read, r.step_stride});
  }
}

void BoundPlan::tell_step_end(vulkan::CommandRecording& recording, const MemoryMap& memory) const {
  if (!vulkan::is_traced(recording)) return;
  std::set<const vulkan::Buffer*> moved;
  for (const graph::Command& c : plan_->commands)
    for (const graph::Range& r : c.ranges)
      if (r.step_stride != 0) moved.insert(memory(r.space, r.id).buffer);
  for (const vulkan::Buffer* buffer : moved) vulkan::tell_step_end(recording, *buffer);
}

std::vector<const vulkan::CommandRecording*> BoundPlan::recordings() const {
  std::vector<const vulkan::CommandRecording*> all;
  for (const auto& r : recordings_) all.push_back(&r);
  return all;
}

void BoundPlan::add_to(PacedSubmitter& submitter) const {
  for (size_t i = 0; i < recordings_.size(); ++i) submitter.add(recordings_[i], (*segments_)[i].cost);
}

Status BoundPlan::run() const {
  PacedSubmitter submitter(device_);
  add_to(submitter);
  LAPILLI_CHECK(submitter.submit_all());
  return device_->wait(submitter.last());
}

Status create_pipelines(vulkan::Device& device, std::span<const PlannedPipeline> pipelines) {
  LAPILLI_TRY(const auto made, device.pipelines(pipeline_requests(pipelines)));
  return {};
}

void create_pipelines_beside(vulkan::Device& device, std::span<const PlannedPipeline> pipelines,
                             const std::function<void()>& work, const std::function<bool()>& wanted) {
  auto requests = pipeline_requests(pipelines);
  std::ranges::stable_sort(requests, std::greater<>(), &vulkan::PipelineRequest::word_count);
  device.make_pipelines_beside(requests, work, wanted);
}

SharedGrids share_grids(std::span<const std::shared_ptr<const Plan>> plans) {
  SharedGrids shared;
  for (const auto& plan : plans) {
    auto specs = shared.specs;
    std::vector<uint32_t> own;
    for (const GridSpec& spec : plan->grids) {
      const auto at = std::find(specs.begin(), specs.end(), spec);
      own.push_back(static_cast<uint32_t>(at - specs.begin()));
      if (at == specs.end()) specs.push_back(spec);
    }
    if (specs.size() > state::MAX_GRIDS) break;
    shared.specs = std::move(specs);
    shared.of_plan.push_back(std::move(own));
  }
  return shared;
}

std::vector<uint32_t> grid_words(std::span<const GridSpec> specs, uint32_t max_group_x) {
  std::vector<uint32_t> words(uint64_t{state::MAX_GRIDS} * state::GRID_STRIDE, 0);
  for (size_t i = 0; i < std::min<size_t>(specs.size(), state::MAX_GRIDS); ++i) {
    uint32_t* w = &words[i * state::GRID_STRIDE];
    w[state::GRID_GROUPS_PER_TILE] = specs[i].groups_per_tile;
    w[state::GRID_ROWS_PER_TILE] = specs[i].rows_per_tile;
    w[state::GRID_MAX_X] = max_group_x;
  }
  return words;
}

}  // namespace lapilli
