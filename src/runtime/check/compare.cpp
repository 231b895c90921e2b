#include "runtime/check/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/half.hpp"
#include "base/worst.hpp"
#include "ops/core/kv_layout.hpp"

namespace lapilli {

namespace {

constexpr double kWordTolerance = 1e-3;  // for floats in u32 tensors: scores that the search sums

bool close_floats(uint32_t a, uint32_t b) {
  const float x = std::bit_cast<float>(a), y = std::bit_cast<float>(b);
  // Integers look like tiny floats: they must be equal as words.
  if (!std::isnormal(x) || !std::isnormal(y) || std::abs(x) < 1e-30f || std::abs(y) < 1e-30f) return false;
  return std::abs(x - y) <= kWordTolerance * std::max(1.0f, std::abs(y));
}

double half(uint32_t bits) { return static_cast<double>(half_to_float(static_cast<uint16_t>(bits))); }

double float_deviation(std::span<const uint32_t> words, const std::vector<double>& expected) {
  double scale = 1, worst = 0;
  for (size_t i = 0; i < words.size(); ++i)
    scale = std::max(scale, std::abs(expected[i]) < 1e29 ? std::abs(expected[i]) : 0);
  for (size_t i = 0; i < words.size(); ++i) {
    const double d = std::abs(std::bit_cast<float>(words[i]) - expected[i]) / (expected[i] <= -1e29 ? 1e30 : scale);
    worst = worse(worst, d);
  }
  return worst;
}

uint64_t words_that_differ(std::span<const uint32_t> words, const std::vector<uint32_t>& expected) {
  uint64_t count = 0;
  for (size_t i = 0; i < words.size(); ++i)
    if (words[i] != expected[i] && !close_floats(words[i], expected[i])) ++count;
  return count;
}

// A sum on the boundary between two halves may round to either.
double half_deviation(std::span<const uint32_t> words, const std::vector<uint32_t>& expected) {
  double scale = 1, worst = 0;
  for (size_t i = 0; i < words.size(); ++i)
    for (const uint32_t shift : {0u, 16u}) {
      const double a = half(words[i] >> shift), b = half(expected[i] >> shift);
      scale = std::max(scale, std::abs(b));
      worst = worse(worst, std::max(0.0, std::abs(a - b) - half_step(b)));
    }
  return worst / scale;
}

class Comparer {
 public:
  Comparer(vulkan::Device& device, const Plan& plan, const MemoryMap& memory, Interpreter& interpreter)
      : device_(device), plan_(plan), memory_(memory), interpreter_(interpreter) {}

  Result<NodeDeviation> compare(graph::NodeId id) {
    const auto& node = plan_.graph.node(id);
    NodeDeviation result{id, node.label, plan_.variants[id].name};
    for (const graph::TensorId output : node.outputs)
      if (output != graph::kNone && !plan_.graph.tensor(output).scratch) LAPILLI_CHECK(compare_tensor(output, result));
    return result;
  }

 private:
  Status compare_tensor(graph::TensorId id, NodeDeviation& result) {
    const auto root = plan_.graph.root(id);
    const auto& t = plan_.graph.tensor(root);
    const BufferRef ref = memory_(t.space, t.id);
    if (!ref.buffer) return fail(ErrorCode::internal, "tensor %s has no buffer", t.name);
    const uint64_t offset = ref.offset + (t.space == graph::Space::arena ? plan_.placement.offset[root] : 0);
    words_.resize(t.elements());
    LAPILLI_CHECK(device_.read(*ref.buffer, offset, std::as_writable_bytes(std::span(words_))));
    HostTensor& expected = interpreter_.tensor(root);
    const TensorDeviation d = deviation_of(t, words_, expected);
    result.deviation = worse(result.deviation, d.deviation);
    result.words_that_differ += d.words_that_differ;
    // The interpreter continues with the device's halves, so that later values differ only by fp32 rounding.
    if (t.dtype == graph::DType::f16) std::copy(words_.begin(), words_.end(), expected.u.begin());
    return {};
  }

  vulkan::Device& device_;
  const Plan& plan_;
  const MemoryMap& memory_;
  Interpreter& interpreter_;
  std::vector<uint32_t> words_;
};

}  // namespace

TensorDeviation deviation_of(const graph::Tensor& t, std::span<const uint32_t> words, const HostTensor& expected) {
  if (t.dtype == graph::DType::f32) return {float_deviation(words, expected.f), 0};
  if (t.dtype == graph::DType::f16) return {half_deviation(words, expected.u), 0};
  return {0, words_that_differ(words, expected.u)};
}

Result<std::vector<NodeDeviation>> run_compared(const std::shared_ptr<vulkan::Device>& device,
                                                const std::shared_ptr<const Plan>& plan, const MemoryMap& memory,
                                                Interpreter& interpreter) {
  const auto& s = plan->schedule;
  if (s.segments.size() != s.levels.size())
    return fail(ErrorCode::invalid_argument, "the plan was not compiled with a segment per level");
  LAPILLI_TRY(const auto bound, BoundPlan::bind(device, plan, memory, {.use = vulkan::RecordingUse::single}));
  std::vector<uint32_t> left(plan->graph.nodes().size(), 0);
  for (const auto& d : plan->dispatches) ++left[d.node];
  interpreter.begin(plan->graph);
  Comparer comparer(*device, *plan, memory, interpreter);
  std::vector<NodeDeviation> all;
  const auto recordings = bound.recordings();
  for (size_t level = 0; level < recordings.size(); ++level) {
    LAPILLI_TRY(const auto ticket, device->submit(std::span(recordings).subspan(level, 1)));
    LAPILLI_CHECK(device->wait(ticket));
    std::vector<graph::NodeId> complete;
    for (uint32_t i = s.levels[level].begin; i < s.levels[level].end; ++i) {
      const graph::NodeId node = plan->dispatches[s.order[i]].node;
      if (--left[node] == 0) complete.push_back(node);
    }
    std::sort(complete.begin(), complete.end());
    for (const graph::NodeId node : complete) {
      interpreter.run_node(node);
      LAPILLI_TRY(auto deviation, comparer.compare(node));
      all.push_back(std::move(deviation));
    }
  }
  interpreter.end();
  return all;
}

}  // namespace lapilli
