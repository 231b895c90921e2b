#include "runtime/check/execute.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "ops/core/case_util.hpp"
#include "ops/core/shader_table.hpp"
#include "vulkan/device/trace.hpp"

namespace lapilli::runtime {
namespace {

uint64_t groups_now(const Dispatch& d, const Capabilities& caps, const ExecuteOptions& options) {
  const uint64_t live = d.follows == Follows::tiles ? options.live_tiles : options.live_rows;
  if (d.groups_per_tile == 0 || live == ~uint64_t{0} || !caps.indirect_dispatch) return d.groups;
  return std::min<uint64_t>(d.groups, uint64_t{d.groups_per_tile} * div_up<uint64_t>(live, d.rows_per_tile));
}

Result<const vulkan::DescriptorSet*> write_set(vulkan::DescriptorArena& arena, const Dispatch& d,
                                               std::span<const TensorPlace> places) {
  std::vector<vulkan::BufferBinding> bindings;
  for (const auto& o : d.operands) {
    if (o.tensor >= places.size() || places[o.tensor].buffer == nullptr)
      return fail(ErrorCode::internal, "shader %s, binding %u: its tensor has no memory", shader_code(d.shader).name,
                  o.binding);
    const auto& place = places[o.tensor];
    bindings.push_back({o.binding, place.buffer, place.offset + o.begin, o.end - o.begin});
  }
  return arena.write(bindings);
}

// Context of an execution: device, limits the dispatches were lowered for, memory and rows.
struct Setting {
  const std::shared_ptr<vulkan::Device>& device;
  const Capabilities& caps;
  std::span<const TensorPlace> places;
  const ExecuteOptions& options;
};

Result<std::vector<const vulkan::Pipeline*>> pipelines_of(vulkan::Device& device,
                                                          std::span<const Dispatch> dispatches) {
  std::vector<vulkan::PipelineRequest> requests;
  for (const auto& d : dispatches) {
    const auto& code = shader_code(d.shader);
    requests.push_back({code.words, code.word_count, code.name, d.constants});
  }
  return device.pipelines(requests);
}

graph::Cost cost_of(const Dispatch& d) {
  graph::Cost cost{d.cost, 0, 1};
  for (const Operand& o : d.operands)
    if (o.used) cost.bytes += static_cast<double>(o.end - o.begin) * (o.access == graph::Access::read_write ? 2 : 1);
  return cost;
}

// How many dispatches go into one recording, at least one.
size_t count_together(std::span<const Dispatch> dispatches, const ExecuteOptions& options) {
  graph::Cost cost;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    cost += cost_of(dispatches[i]);
    const bool fits = i < options.dispatches_per_submit && options.work.allows(cost.operations, cost.bytes);
    if (i > 0 && !fits) return i;
  }
  return dispatches.size();
}

Result<RecordedDispatches> record_part(const Setting& s, std::span<const Dispatch> dispatches,
                                       std::span<const vulkan::Pipeline* const> pipelines) {
  LAPILLI_TRY(auto sets, vulkan::DescriptorArena::create(s.device, static_cast<uint32_t>(dispatches.size())));
  LAPILLI_TRY(auto recording, vulkan::CommandRecording::create(s.device));
  LAPILLI_CHECK(recording.begin(vulkan::RecordingUse::single));
  bool open = false;
  for (size_t i = 0; i < dispatches.size(); ++i) {
    const auto& d = dispatches[i];
    const uint64_t groups = groups_now(d, s.caps, s.options);
    if (groups == 0) continue;
    LAPILLI_TRY(const auto grid, fold_groups(s.caps, groups));
    LAPILLI_TRY(const auto* set, write_set(sets, d, s.places));
    if (open) recording.barrier();
    for (const auto& o : d.operands)
      vulkan::tell_touch(recording, *s.places[o.tensor].buffer,
                         {nullptr, s.places[o.tensor].offset + o.begin, s.places[o.tensor].offset + o.end,
                          o.access != graph::Access::write, o.access != graph::Access::read, 0});
    recording.bind(pipelines[i], set, std::span(d.push).first(d.push_bytes));
    recording.dispatch(grid[0], grid[1], grid[2]);
    open = true;
  }
  LAPILLI_CHECK(recording.end());
  graph::Cost cost;
  for (const Dispatch& d : dispatches) cost += cost_of(d);
  return RecordedDispatches{std::move(sets), std::move(recording), cost};
}

}  // namespace

Result<std::vector<RecordedDispatches>> record(const std::shared_ptr<vulkan::Device>& device, const Capabilities& caps,
                                               std::span<const Dispatch> dispatches,
                                               std::span<const TensorPlace> places, const ExecuteOptions& options) {
  std::vector<RecordedDispatches> parts;
  LAPILLI_TRY(const auto pipelines, pipelines_of(*device, dispatches));
  for (size_t first = 0, count = 0; first < dispatches.size(); first += count) {
    count = count_together(dispatches.subspan(first), options);
    LAPILLI_TRY(auto part, record_part({device, caps, places, options}, dispatches.subspan(first, count),
                                       std::span(pipelines).subspan(first, count)));
    parts.push_back(std::move(part));
  }
  return parts;
}

Status execute(const std::shared_ptr<vulkan::Device>& device, const Capabilities& caps,
               std::span<const Dispatch> dispatches, std::span<const TensorPlace> places,
               const ExecuteOptions& options) {
  LAPILLI_TRY(const auto parts, record(device, caps, dispatches, places, options));
  for (const RecordedDispatches& part : parts) {
    const vulkan::CommandRecording* list[] = {&part.commands};
    LAPILLI_TRY(const auto ticket, device->submit(list));
    LAPILLI_CHECK(device->wait(ticket));
  }
  return {};
}

namespace {

constexpr uint64_t kGuard = 256;  // bytes on each side
constexpr uint32_t kGuardWord = 0x5ca1ab1e;

// A root tensor's bytes between two guards.
struct Guarded {
  graph::TensorId id = 0;
  bool read = false, written = false;
  std::vector<uint32_t> before, after;  // including guards
  std::optional<vulkan::Buffer> buffer;
};

std::vector<uint32_t> image_of(const graph::Tensor& t, const HostTensor& value) {
  const size_t guard = kGuard / 4;
  std::vector<uint32_t> words(2 * guard + t.elements(), kGuardWord);
  to_words(t, value, std::span(words).subspan(guard, t.elements()));
  return words;
}

std::string find_violation(const graph::Tensor& t, const Guarded& g) {
  const size_t guard = kGuard / 4, n = g.after.size();
  for (size_t i = 0; i < n; ++i) {
    const bool inside = i >= guard && i < n - guard;
    if (inside && g.written) continue;
    if (g.after[i] != g.before[i])
      return format("%s: word %d %s was overwritten", t.name, static_cast<long long>(i) - static_cast<long long>(guard),
                    inside ? "of an operand that is only read" : "outside the tensor");
  }
  return {};
}

Result<std::vector<Guarded>> make_guarded(const std::shared_ptr<vulkan::Device>& device, HostTensors& values) {
  const auto& graph = *values.graph;
  const auto& node = graph.node(0);
  std::vector<Guarded> all;
  for (graph::TensorId id = 0; id < graph.tensors().size(); ++id) {
    Guarded g;
    g.id = id;
    g.read = is_read(graph, node, id);
    g.written = is_written(graph, node, id);
    if (graph.root(id) != id || (!g.read && !g.written)) continue;
    g.before = image_of(graph.tensor(id), values.at(id));
    LAPILLI_TRY(auto buffer, device->make_buffer(g.before.size() * 4, vulkan::MemoryUse::device, "guarded tensor"));
    g.buffer.emplace(std::move(buffer));
    all.push_back(std::move(g));
  }
  return all;
}

}  // namespace

Result<HostRunReport> execute_on_host(const std::shared_ptr<vulkan::Device>& device, const Capabilities& caps,
                                      std::span<const Dispatch> dispatches, HostTensors& values,
                                      const HostRunOptions& options) {
  const auto& graph = *values.graph;
  LAPILLI_TRY(auto guarded, make_guarded(device, values));
  std::vector<TensorPlace> places(graph.tensors().size());
  for (graph::TensorId id = 0; id < places.size(); ++id)
    for (const auto& g : guarded)
      if (g.id == graph.root(id)) places[id] = {&*g.buffer, kGuard};

  HostRunReport report;
  for (uint32_t run = 0; run < std::max(1u, options.runs) && report.violation.empty(); ++run) {
    for (const auto& g : guarded) LAPILLI_CHECK(device->write(*g.buffer, 0, std::as_bytes(std::span(g.before))));
    LAPILLI_CHECK(execute(device, caps, dispatches, places, options.execute));
    for (auto& g : guarded) {
      std::vector<uint32_t> now(g.before.size());
      LAPILLI_CHECK(device->read(*g.buffer, 0, std::as_writable_bytes(std::span(now))));
      if (run > 0 && now != g.after && report.violation.empty())
        report.violation = format("%s: run %u gave other bits than the first", graph.tensor(g.id).name, run + 1);
      g.after = std::move(now);
      if (report.violation.empty()) report.violation = find_violation(graph.tensor(g.id), g);
    }
  }
  for (const auto& g : guarded)
    if (g.written) from_words(std::span(g.after).subspan(kGuard / 4), graph.tensor(g.id), values.at(g.id));
  return report;
}

}  // namespace lapilli::runtime
