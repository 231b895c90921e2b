// An op: one constant OpDef per file in src/ops. It drives the GPU tests over all variants and masks, the benchmark
// entry, the CPU interpreter, node-by-node comparison, the self-test and the graph's labels.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "graph/graph.hpp"
#include "graph/schedule.hpp"
#include "ops/core/push.hpp"
#include "ops/core/shader_id.hpp"
#include "ops/core/work_limit.hpp"
#include "vulkan/caps/capabilities.hpp"

namespace lapilli {

// A part of a tensor at a binding. begin is a multiple of the device's offset alignment (bind_range() ensures this).
struct Operand {
  uint32_t binding = 0;  // see vulkan/caps/bindings.hpp
  graph::TensorId tensor = graph::kNone;
  uint64_t begin = 0, end = 0;  // bytes within the tensor
  graph::Access access = graph::Access::read;
  // If not 0: bound as a whole, but replay t of the plan touches only the t-th row of this many bytes (the log).
  uint64_t step_stride = 0;
  bool used = true;  // false: bound because the shader declares it, but not touched by this dispatch
};

// The quantity that scales a grid: rows, or the tiles of an encode pass (see ops/core/state.hpp).
enum class Follows : uint32_t { rows, tiles };

// One vkCmdDispatch, completely fixed when the plan is made.
struct Dispatch {
  ShaderId shader{};
  std::vector<uint32_t> constants;  // specialization constants 0, 1, ...: never lengths, rows or vocabulary sizes
  std::array<std::byte, 128> push{};
  uint32_t push_bytes = 0;
  const PushMembers* push_members = nullptr;
  std::vector<Operand> operands;
  uint64_t groups = 1;  // linear; the planner folds it into three dimensions
  // If not 0, the grid follows the live rows of a step or an encode pass: groups = groups_per_tile * ceil(live /
  // rows_per_tile), and `groups` is the value for all rows. `follows` selects rows or tiles.
  uint32_t groups_per_tile = 0, rows_per_tile = 0;
  Follows follows = Follows::rows;
  double cost = 0;  // approximate floating-point operations, for segments

  template <class P>
  void set_push(const P& p) {
    static_assert(std::is_trivially_copyable_v<P> && sizeof(P) <= 128 && sizeof(P) % 4 == 0);
    std::memcpy(push.data(), &p, sizeof(P));
    push_bytes = sizeof(P);
    push_members = &P::members;  // see LAPILLI_PUSH
  }
};

struct LowerContext {
  const graph::Graph& graph;
  const Capabilities& caps;
  WorkLimit work = WorkLimit::of(caps);
};

// Tuning parameters: specialization beyond the shape of the node. They change a kernel's speed and where its sums are
// cut, never what it computes: any values that the kernel supports are correct (ops/core/tuning.hpp). 0: the kernel has
// no such number.
struct Numbers {
  uint32_t local = 0;  // invocations per workgroup
  uint32_t each = 0;   // elements per invocation (vec4s, words or rows of depth, depending on the kernel)
  friend bool operator==(const Numbers&, const Numbers&) = default;
};

// A way to run a node; only the op interprets `id`. The same variant may be lowered with other numbers than those from
// OpDef::variants.
struct Variant {
  uint32_t id = 0;
  const char* name = "floor";
  // Every sum has the same order in all such variants; the floor is one, except where it splits operands that fit no
  // binding.
  bool sums_in_order = true;
  Numbers numbers;
  bool tuned = false;  // found on the device, with these numbers (runtime/plan/tunings.hpp)
};

// Values of a tensor on the host: f32 as doubles, u32 as words; rows * ld elements.
struct HostTensor {
  std::vector<double> f;
  std::vector<uint32_t> u;
};
// All tensors of a graph by TensorId; aliases share their root's entry (use at()).
struct HostTensors {
  const graph::Graph* graph = nullptr;
  std::vector<HostTensor> values;
  HostTensor& at(graph::TensorId id) { return values[graph->root(id)]; }
};

// A test case: a graph with one node, and the values of its inputs (by root TensorId; others are zero).
struct OpCase {
  std::string name;
  graph::Graph graph;
  std::vector<std::pair<graph::TensorId, HostTensor>> inputs;
  double tolerance = 1e-5;  // for f32 outputs: |a - b| <= tolerance * max(1, |b|); u32 outputs must be equal
  bool slow = false;        // large
  // Rows of the arena outputs to compare; later rows are not computed where the grid follows the live rows.
  uint64_t live_rows = ~uint64_t{0};
  uint64_t live_tiles = ~uint64_t{0};  // likewise, for grids that follow tiles
  // Creates large inputs, to keep listing cases cheap; called once before `inputs` is used. Empty: nothing to do.
  std::function<void(OpCase&)> prepare;
  // Words of u32 outputs that hold floats, or of f16 caches with inexact sums: compared with the tolerance, and halves
  // with one extra step. (tensor, word) -> is float; empty: none.
  std::function<bool(graph::TensorId, uint64_t)> float_word;
};

// How an op's nodes are tuned (runtime/tune/tuner.hpp): by trying its variants with other numbers.
struct TuningRule {
  // Nodes with equal keys share their fastest variant. Null: they are not tuned.
  std::string (*key)(const graph::Graph&, const graph::Node&) = nullptr;
  // The order of a sum depends only on the variant, not on its numbers.
  bool numbers_keep_order = false;
};

struct OpDef {
  const char* name;
  // Checks shapes and attributes; errors name node and tensor.
  Status (*infer)(const graph::Graph&, const graph::Node&);
  // Eligible variants, fastest first, with the numbers for this class of device; the last one is the floor and is
  // always eligible.
  std::vector<Variant> (*variants)(const Capabilities&, const graph::Graph&, const graph::Node&);
  // Emits one dispatch, or several slices where limits require it. Depends only on the variant's numbers and the
  // limits, not on the class of device; numbers that the kernel or the device does not support are an error.
  Status (*lower)(const LowerContext&, const graph::Node&, Variant, std::vector<Dispatch>&);
  // Computes exactly what the kernels do, padding included, in double precision.
  void (*reference)(const graph::Graph&, const graph::Node&, HostTensors&);
  std::vector<OpCase> (*cases)();
  TuningRule tuning = {};
};

// Fails, with advice, on devices whose driver fails at fp16 matrices and caches, which are words of two halves.
Status check_halves(const Capabilities& caps);
// The lower() of the node's op, if this device can run the node at all.
Status lower_node(const LowerContext& context, const graph::Node& node, Variant variant, std::vector<Dispatch>& out);

// Every op, in the order of the documentation (src/ops/core/list.inc; one line per op, no self-registration).
std::span<const OpDef* const> all_ops();

// ---- helpers for lower() ----------------------------------------------------------------------------------------

// An operand over [begin, end) bytes of a tensor with begin rounded down to the alignment; `delta` receives the
// distance in elements (4 bytes) from the bound start to `begin`, which the kernel adds to its indices.
struct ByteSpan {
  graph::TensorId tensor = graph::kNone;
  uint64_t begin = 0, end = 0;
  graph::Access access = graph::Access::read;
};
Operand bind_range(const LowerContext& context, uint32_t binding, const ByteSpan& bytes, uint32_t& delta);
// Binds the last operand as texels as well, for kernels with a constant that selects one of the two: `used`.
void bind_as_texels(Dispatch& d, bool used);
// Binds the whole tensor; fails, naming it, if it exceeds the device's range for such a binding.
Result<Operand> bind_whole(const LowerContext& context, uint32_t binding, graph::TensorId tensor, graph::Access access);
// Binds its first `bytes`, or all if it has fewer; fails likewise.
Result<Operand> bind_first(const LowerContext& context, uint32_t binding, graph::TensorId tensor, uint64_t bytes,
                           graph::Access access);

// Folds a linear count of groups into three dimensions within the limits, or fails.
Result<std::array<uint32_t, 3>> fold_groups(const Capabilities& caps, uint64_t groups);
// The most groups a single dispatch can have.
uint64_t max_groups(const Capabilities& caps);

}  // namespace lapilli
