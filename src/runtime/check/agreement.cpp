#include "runtime/check/agreement.hpp"

#include <algorithm>

#include "ops/core/case_util.hpp"
#include "runtime/check/compare.hpp"

namespace lapilli {

namespace {

constexpr double kTolerance = 1e-3;  // relative to the largest value of a tensor

bool tensor_agrees(const Plan& plan, graph::TensorId root, const std::vector<uint32_t>& values,
                   const std::vector<uint32_t>& expected) {
  const graph::Tensor& t = plan.graph.tensor(root);
  const uint64_t at = plan.placement.offset[root] / 4;
  if (at + t.elements() > std::min(values.size(), expected.size())) return false;
  HostTensor want;
  want.f.resize(t.dtype == graph::DType::f32 ? t.elements() : 0);
  want.u.resize(t.dtype == graph::DType::f32 ? 0 : t.elements());
  from_words(std::span(expected).subspan(at, t.elements()), t, want);
  const auto d = deviation_of(t, std::span(values).subspan(at, t.elements()), want);
  return d.deviation <= kTolerance && d.words_that_differ == 0;
}

}  // namespace

Result<std::vector<uint32_t>> run_for_values(const std::shared_ptr<vulkan::Device>& device,
                                             const std::shared_ptr<const Plan>& plan, const MemoryMap& memory) {
  const uint64_t bytes = std::max<uint64_t>(plan->arena_bytes(), 256);
  LAPILLI_TRY(const auto arena, device->make_buffer(bytes, vulkan::MemoryUse::device, "values of a plan"));
  LAPILLI_CHECK(device->zero(arena));
  const MemoryMap with_arena = [&](graph::Space space, uint32_t id) {
    return space == graph::Space::arena ? BufferRef{&arena, 0, arena.size()} : memory(space, id);
  };
  LAPILLI_TRY(const auto bound,
              BoundPlan::bind(device, plan, with_arena, {.use = vulkan::RecordingUse::single, .name = "values"}));
  LAPILLI_CHECK(bound.run());
  std::vector<uint32_t> values(bytes / 4);
  LAPILLI_CHECK(device->read(arena, 0, std::as_writable_bytes(std::span(values))));
  return values;
}

bool values_agree(const Plan& plan, const std::vector<uint32_t>& values, const std::vector<uint32_t>& expected) {
  for (const graph::Node& node : plan.graph.nodes())
    for (const graph::TensorId output : node.outputs) {
      if (output == graph::kNone) continue;
      const auto root = plan.graph.root(output);
      const graph::Tensor& t = plan.graph.tensor(root);
      if (t.space != graph::Space::arena || plan.graph.tensor(output).scratch) continue;
      if (!tensor_agrees(plan, root, values, expected)) return false;
    }
  return true;
}

}  // namespace lapilli
