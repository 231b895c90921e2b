// What an op is: one constant OpDef per file in src/ops. From it come the GPU tests over all variants and masks, the
// benchmark entry, the CPU interpreter, node-by-node comparison, the self-test and the graph's labels.
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
#include "vulkan/capabilities.hpp"

namespace lapilli {

// A part of a tensor at a binding. begin is a multiple of the device's offset alignment (bind_range() sees to it).
struct Operand {
  uint32_t binding = 0;  // see vulkan/bindings.hpp
  graph::TensorId tensor = graph::kNone;
  uint64_t begin = 0, end = 0;  // bytes within the tensor
  graph::Access access = graph::Access::read;
  // Not 0: bound as a whole, but replay t of the plan touches only the t-th row of so many bytes (the log).
  uint64_t step_stride = 0;
  bool used = true;  // false: bound because the shader names it, but this dispatch does not touch it
};

// What a grid goes by: rows, or the tiles of an encode pass (see ops/core/state.hpp).
enum class Follows : uint32_t { rows, tiles };

// One vkCmdDispatch. Everything in it is fixed when the plan is made.
struct Dispatch {
  ShaderId shader{};
  std::vector<uint32_t> constants;  // specialization constants 0, 1, ...: never lengths, rows or vocabulary sizes
  std::array<std::byte, 128> push{};
  uint32_t push_bytes = 0;
  const PushMembers* push_members = nullptr;
  std::vector<Operand> operands;
  uint64_t groups = 1;  // linear; the planner folds it into three dimensions
  // If not 0, the grid follows the live rows of a step or an encode pass: groups = groups_per_tile * ceil(live /
  // rows_per_tile). `groups` is then its value for all rows. `follows` says what is counted.
  uint32_t groups_per_tile = 0, rows_per_tile = 0;
  Follows follows = Follows::rows;
  double cost = 0;  // about floating-point operations, for segments

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

// What a kernel is specialized with beside the shape of its node (its tuning parameters). They change how fast it is
// and where its sums are cut, never what it computes: any that the kernel can do are right (ops/core/tuning.hpp). 0: it
// has no such number.
struct Numbers {
  uint32_t local = 0;  // invocations in a workgroup
  uint32_t each = 0;   // elements (vec4, words, rows of depth: the kernel says) that an invocation takes
  friend bool operator==(const Numbers&, const Numbers&) = default;
};

// A way to run a node; `id` means something to the op alone. The same variant may be lowered with other numbers than
// those that OpDef::variants begins with.
struct Variant {
  uint32_t id = 0;
  const char* name = "floor";
  // Every sum in one order, whatever the variant; the floor does, but where it takes apart what fits no binding.
  bool sums_in_order = true;
  Numbers numbers;
  bool tuned = false;  // it was found on the device, with these numbers (runtime/plan/tunings.hpp)
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

// A test case: a graph with one node, and the values of what it reads (by root TensorId; others are zero).
struct OpCase {
  std::string name;
  graph::Graph graph;
  std::vector<std::pair<graph::TensorId, HostTensor>> inputs;
  double tolerance = 1e-5;  // of an f32 output: |a - b| <= tolerance * max(1, |b|); u32 outputs must be equal
  bool slow = false;        // large
  // Rows of the arena outputs that count: those at or beyond are not computed where the grid follows the live rows.
  uint64_t live_rows = ~uint64_t{0};
  uint64_t live_tiles = ~uint64_t{0};  // likewise, of grids that follow tiles
  // Makes inputs that are large, so that listing cases costs little; called (once) before `inputs` is used. Empty:
  // nothing to do.
  std::function<void(OpCase&)> prepare;
  // Words of u32 outputs that hold floats, or of f16 caches whose sums are not exact: compared with the tolerance,
  // halves with a step of theirs beside it. (tensor, word) -> is float; empty: none.
  std::function<bool(graph::TensorId, uint64_t)> float_word;
};

// How nodes of an op are tuned (runtime/tune/tuner.hpp): by trying its variants with other numbers.
struct TuningRule {
  // What makes nodes alike: what is the fastest way to run one of them is that of all. Null: they are not tuned.
  std::string (*key)(const graph::Graph&, const graph::Node&) = nullptr;
  // The order of a sum is by the variant alone, whatever its numbers.
  bool numbers_keep_order = false;
};

struct OpDef {
  const char* name;
  // Shapes and attributes make sense; names node and tensor if not.
  Status (*infer)(const graph::Graph&, const graph::Node&);
  // Eligible variants, fastest first, with the numbers for this class of device; the last one is the floor and is
  // always eligible.
  std::vector<Variant> (*variants)(const Capabilities&, const graph::Graph&, const graph::Node&);
  // One dispatch, or several where limits ask for slices. By the variant's numbers and the limits alone, whatever class
  // of device it is; numbers that the kernel or the device cannot do are an error.
  Status (*lower)(const LowerContext&, const graph::Node&, Variant, std::vector<Dispatch>&);
  // In double precision, exactly what the kernels compute, padding included.
  void (*reference)(const graph::Graph&, const graph::Node&, HostTensors&);
  std::vector<OpCase> (*cases)();
  TuningRule tuning = {};
};

// Matrices and caches in fp16 are words of two halves. A device whose driver fails at them has advice instead.
Status check_halves(const Capabilities& caps);
// The node's op's lower(), where this device can run the node at all.
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
// Binds the last operand as texels as well, for kernels that have a constant for which of the two they read: `used`.
void bind_as_texels(Dispatch& d, bool used);
// The whole tensor. Fails, naming it, if it exceeds the device's range for such a binding.
Result<Operand> bind_whole(const LowerContext& context, uint32_t binding, graph::TensorId tensor, graph::Access access);
// The first `bytes` of it, or all if it has fewer. Fails likewise.
Result<Operand> bind_first(const LowerContext& context, uint32_t binding, graph::TensorId tensor, uint64_t bytes,
                           graph::Access access);

// Folds a linear count of groups into three dimensions within the limits; an error if it cannot be.
Result<std::array<uint32_t, 3>> fold_groups(const Capabilities& caps, uint64_t groups);
// The most groups one dispatch can have.
uint64_t max_groups(const Capabilities& caps);

}  // namespace lapilli
