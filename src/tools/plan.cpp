// Output of `lapilli plan`: one plan of a model as a picture or as data.
#include "runtime/plan/plan.hpp"

#include "generate/published.hpp"
#include "generate/verbs.hpp"
#include "graph/print.hpp"
#include "ops/core/shader_table.hpp"
#include "ops/core/tuning.hpp"
#include "runtime/plan/tunings.hpp"
#include "search/search_graph.hpp"
#include "tools/guard.hpp"
#include "tools/locate.hpp"
#include "tools/tools.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::tools {

namespace {

Result<Capabilities> device_capabilities(const PlanRequest& request) {
  vulkan::DeviceOptions options;
  options.select = request.select;
  options.mask = request.caps;
  auto devices = vulkan::list_devices(options);
  if (devices)
    for (const auto& d : *devices)
      if (d.chosen) return apply_mask(d.caps, request.caps);
  if (!request.select.empty() && request.select != "assigned")
    return devices ? fail(ErrorCode::no_device, "no usable device matches %s", request.select)
                   : std::move(devices).failure();
  return apply_mask(Capabilities{}, request.caps);  // no device: the minimum that every device has
}

// Tuning results for the plan's device; null if none are asked for. Opens the device.
Result<std::shared_ptr<const Tunings>> device_tunings(const PlanRequest& request) {
  if (request.cache.empty()) return std::shared_ptr<const Tunings>();
  vulkan::DeviceOptions options;
  options.select = request.select;
  options.mask = request.caps;
  options.keep = {folder_store(request.cache), shaders_checksum()};
  LAPILLI_TRY(const auto device, vulkan::Device::create(options));
  return tunings_on(*device);
}

// "matmul (rows 4)", "matmul (rows 4, tuned)".
std::string name_of(const Plan& plan, graph::NodeId id) {
  const Variant& v = plan.variants[id];
  return format("%s (%s%s)", plan.graph.node(id).op->name, v.name, v.tuned ? ", tuned" : "");
}

Result<std::string> plan_text(const PlanRequest& request) {
  std::string model = request.model;
  if (model.empty()) {
    LAPILLI_TRY(model, default_model_directory());
  }
  LAPILLI_TRY(const auto caps, device_capabilities(request));
  LAPILLI_TRY(const auto dtype, parse_format(request.dtype));
  LAPILLI_TRY(const auto kv_dtype, parse_kv_format(request.kv_dtype));
  LAPILLI_TRY(const auto network, read_network(model, dtype.value_or(default_format(caps)), kv_dtype));
  LAPILLI_CHECK(check_writes_text(network.config));  // the graphs are those of a search
  // Checks each first: the product of two large ones would wrap.
  if (request.batch == 0 || request.beams == 0 || request.batch > state::MAX_ROWS || request.beams > state::MAX_BEAMS ||
      request.batch * request.beams > state::MAX_ROWS)
    return fail(ErrorCode::invalid_argument,
                "batch %u with %u beams is out of range; together at most %u rows, and at most %u beams", request.batch,
                request.beams, state::MAX_ROWS, state::MAX_BEAMS);
  constexpr unsigned kMost = 1u << 16;
  if (request.source == 0 || request.target == 0 || request.source > kMost || request.target > kMost)
    return fail(ErrorCode::invalid_argument, "%u source and %u target positions; each is between 1 and %u",
                request.source, request.target, kMost);
  WorkspaceKey key = plain_key(request.batch, request.beams, request.source, request.target);
  key.prompt_rows = request.batch;
  graph::Graph g;
  if (request.graph == "admit")
    g = admit_graph(network, key.shape);
  else if (request.graph == "encode")
    g = encode_graph(network, key);
  else if (request.graph == "given")
    g = prompt_graph(network, key);
  else if (request.graph == "step")
    g = step_graph(network, key).graph;
  else
    return fail(ErrorCode::invalid_argument, "graph %s is not known; there are admit, encode, given and step",
                request.graph);
  LAPILLI_TRY(const auto tunings, device_tunings(request));
  CompileOptions options;
  options.tunings = tunings.get();
  LAPILLI_TRY(const auto p, compile(std::move(g), caps, options));
  const graph::PlanPicture picture{
      p->graph,
      p->placement,
      p->commands,
      p->schedule,
      format("%s %s, batch %u, beams %u, source %u, target %u, %s", model, request.graph, request.batch, request.beams,
             request.source, request.target, caps.device_name),
      [&](graph::NodeId id) { return name_of(*p, id); },
      [&](uint32_t i) { return std::string(shader_code(p->pipelines[p->dispatches[i].pipeline].shader).name); },
      [&](uint32_t i) {
        const auto& d = p->dispatches[i];
        return graph::CommandShape{uint64_t{d.groups[0]} * d.groups[1] * d.groups[2],
                                   p->pipelines[d.pipeline].constants};
      }};
  return request.json ? graph::to_json(picture) : graph::to_dot(picture);
}

}  // namespace

Outcome plan(const PlanRequest& request) {
  return guarded("plan", [&]() -> Result<std::string> {
    LAPILLI_TRY(std::string text, plan_text(request));
    if (text.empty() || text.back() != '\n') text += '\n';
    return text;
  });
}

}  // namespace lapilli::tools
