// "matmul": see matmul.hpp.
#include <algorithm>
#include <bit>
#include <optional>

#include "ops/core/lower_util.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/spans.hpp"
#include "ops/core/state.hpp"
#include "ops/core/tuning.hpp"
#include "ops/products/matmul_cases.hpp"
#include "ops/products/matmul_lower.hpp"
#include "ops/products/row_parts.hpp"
#include "ops/rows/activation_math.hpp"
#include "vulkan/caps/bindings.hpp"

namespace lapilli {
namespace matmul_impl {
namespace {

// matmul_rows.comp and matmul_lanes.comp keep their sums in registers, without shared memory or barriers. The first of
// these kernels is the floor.
#define ROWS_KERNEL(rm)                                                                                   \
  {                                                                                                       \
    "rows " #rm, ShaderId::matmul_r##rm, ShaderId::matmul_q_kv_r##rm, ShaderId::matmul_q_kv_step_r##rm,   \
        ShaderId::matmul_kv_r##rm, ShaderId::matmul_kv_step_r##rm, ShaderId::matmul_kv_spans_r##rm, rm, 0 \
  }
// The same with workgroups of one subgroup, whose lanes share their loads of x.
#define LANES_KERNEL(rm)                                                                                               \
  {                                                                                                                    \
    "lanes " #rm, ShaderId::matmul_lanes##rm, ShaderId::matmul_q_kv_lanes##rm, ShaderId::matmul_q_kv_step_lanes##rm,   \
        ShaderId::matmul_kv_lanes##rm, ShaderId::matmul_kv_step_lanes##rm, ShaderId::matmul_kv_spans_lanes##rm, rm, 0, \
        Tuned::matmul_rows, {}, true                                                                                   \
  }
// For few rows: the depth is split among the invocations, with `each` of them on one part; as many add up each row.
// These kernels can gate their rows themselves.
#define SPLIT_KERNEL(name, id, rm, most)                                                                            \
  {                                                                                                                 \
    name, ShaderId::matmul_##id, kAbsent, ShaderId::matmul_q_kv_step_##id, kAbsent, ShaderId::matmul_kv_step_##id,  \
        kAbsent, rm, 0, Tuned::matmul_split##rm, {8 * rm, most, 8}, false, Each::of_workgroup, kAbsent, kAbsent, 0, \
        true                                                                                                        \
  }
// The same, normalizing their rows first.
#define NORM_SPLIT_KERNEL(name, id, rm, most)                                                                      \
  {                                                                                                                \
    name, ShaderId::matmul_##id, kAbsent, ShaderId::matmul_q_kv_step_##id, kAbsent, ShaderId::matmul_kv_step_##id, \
        kAbsent, rm, 0, Tuned::matmul_split##rm, {8 * rm, most, 8}, false, Each::of_workgroup,                     \
        ShaderId::matmul_norm_##id, ShaderId::matmul_norm_q_kv_step_##id, 0, true                                  \
  }
// For CPU drivers: an invocation takes one column group in each of several panels, which it reads as texels or as a
// plain buffer. With one row they exist only in the forms of a step.
#define PANEL_KERNEL(name, texels)                                                                                     \
  {                                                                                                                    \
    name, ShaderId::matmul_panels1, kAbsent, ShaderId::matmul_q_kv_step_panels1, kAbsent,                              \
        ShaderId::matmul_kv_step_panels1, kAbsent, 1, 0, Tuned::matmul_panels, {}, true, Each::of_invocation, kAbsent, \
        kAbsent, 0, false, texels                                                                                      \
  }
#define PANELS_KERNEL(name, rm, texels)                                                                                \
  {                                                                                                                    \
    name, ShaderId::matmul_panels##rm, ShaderId::matmul_q_kv_panels##rm, ShaderId::matmul_q_kv_step_panels##rm,        \
        ShaderId::matmul_kv_panels##rm, ShaderId::matmul_kv_step_panels##rm, ShaderId::matmul_kv_spans_panels##rm, rm, \
        0, Tuned::matmul_panels, {}, true, Each::of_invocation, kAbsent, kAbsent, 0, false, texels                     \
  }
// One tile in shared memory per workgroup; all within the floor's invocations and shared memory.
#define TILED_KERNEL(rm, columns)                                                                                    \
  {                                                                                                                  \
    "tiled " #rm, ShaderId::matmul_tiled##rm, ShaderId::matmul_q_kv_tiled##rm, ShaderId::matmul_q_kv_step_tiled##rm, \
        ShaderId::matmul_kv_tiled##rm, ShaderId::matmul_kv_step_tiled##rm, ShaderId::matmul_kv_spans_tiled##rm, rm,  \
        columns / 4, Tuned::matmul_tiled, {                                                                          \
      64, 64                                                                                                         \
    }                                                                                                                \
  }
// The same with cooperative matrices, for fp16 weights: as many columns as rows, by four subgroups.
#define COOP_KERNEL(rm)                                                                                          \
  {                                                                                                              \
    "coop " #rm, ShaderId::matmul_coop##rm, ShaderId::matmul_q_kv_coop##rm, ShaderId::matmul_q_kv_step_coop##rm, \
        ShaderId::matmul_kv_coop##rm, ShaderId::matmul_kv_step_coop##rm, ShaderId::matmul_kv_spans_coop##rm, rm, \
        rm / 4, Tuned::matmul_tiled, {}, false, Each::none, kAbsent, kAbsent, 4                                  \
  }
constexpr ShaderId kAbsent = MatmulKernel::kAbsent;
constexpr MatmulKernel kKernels[] = {ROWS_KERNEL(1),
                                     ROWS_KERNEL(4),
                                     ROWS_KERNEL(8),
                                     ROWS_KERNEL(16),
                                     LANES_KERNEL(1),
                                     LANES_KERNEL(4),
                                     LANES_KERNEL(8),
                                     LANES_KERNEL(16),
                                     SPLIT_KERNEL("split 1", split1, 1, 256),
                                     SPLIT_KERNEL("split 4", split4, 4, 64),
                                     SPLIT_KERNEL("deep split 4", deep_split4, 4, 256),
                                     NORM_SPLIT_KERNEL("norm split 1", split1, 1, 128),
                                     NORM_SPLIT_KERNEL("norm split 4", split4, 4, 64),
                                     NORM_SPLIT_KERNEL("deep norm split 4", deep_split4, 4, 256),
                                     PANEL_KERNEL("panels 1", false),
                                     PANELS_KERNEL("panels 4", 4, false),
                                     PANELS_KERNEL("panels 8", 8, false),
                                     PANEL_KERNEL("texels 1", true),
                                     PANELS_KERNEL("texels 4", 4, true),
                                     PANELS_KERNEL("texels 8", 8, true),
                                     PANELS_KERNEL("texels 16", 16, true),
                                     TILED_KERNEL(64, 64),
                                     TILED_KERNEL(32, 64),
                                     TILED_KERNEL(16, 32),
                                     COOP_KERNEL(64),
                                     COOP_KERNEL(32)};
#undef ROWS_KERNEL
#undef LANES_KERNEL
#undef SPLIT_KERNEL
#undef NORM_SPLIT_KERNEL
#undef PANEL_KERNEL
#undef PANELS_KERNEL
#undef TILED_KERNEL
#undef COOP_KERNEL
enum KernelId : uint32_t {
  kRows1,
  kRows4,
  kRows8,
  kRows16,
  kLanes1,
  kLanes4,
  kLanes8,
  kLanes16,
  kSplit1,
  kSplit4,
  kDeepSplit4,
  kNormSplit1,
  kNormSplit4,
  kDeepNormSplit4,
  kPanels1,
  kPanels4,
  kPanels8,
  kTexels1,
  kTexels4,
  kTexels8,
  kTexels16,
  kTiled64,
  kTiled32,
  kTiled16,
  kCoop64,
  kCoop32
};

Status infer_split(const graph::Graph& g, const graph::Node& node, const MatmulAttributes& a) {
  const auto& kv = a.kv;
  if (a.activation != Activation::none || operand(node.inputs, 2) != graph::kNone)
    return node_error(node, "the split form has no activation and no residual");
  if (kv.heads == 0 || kv.head_dim == 0 || kv.slots == 0 || kv.positions == 0 || kv.rows_per_slot == 0 ||
      a.q_columns > a.n || uint64_t{kv.heads} * 2 * kv.head_dim != a.n - a.q_columns)
    return node_error(node, "%u columns behind %u are not %u heads of 2 x %u", a.n, a.q_columns, kv.heads, kv.head_dim);
  const auto& x = g.tensor(node.inputs[0]);
  if (a.q_columns > 0) {
    LAPILLI_CHECK(expect_output(g, node, 0, {"q", x.rows, a.q_columns}));
    if (g.tensor(node.outputs[0]).ld != round_up<uint64_t>(a.q_columns, 4))
      return node_error(node, "q is not padded to vec4");
  }
  LAPILLI_CHECK(expect_kv(g, node, operand(node.outputs, 1), kv, kv.layout != RowLayout::batch));
  if (kv_format_of(g.tensor(node.outputs[1]).dtype) == KvFormat::fp16 && a.q_columns % 2 != 0)
    return node_error(node, "%u columns in front of keys and values whose neighbours share a word", a.q_columns);
  if (kv.layout == RowLayout::step) {
    LAPILLI_CHECK(expect_words(g, node, operand(node.inputs, 3), "step", state::STEP_QUEUE));
    if (x.rows > state::MAX_ROWS) return node_error(node, "a step has at most %u rows", state::MAX_ROWS);
    return {};
  }
  if (kv.layout == RowLayout::spans) {
    if (a.q_columns > 0) return node_error(node, "the rows of a pass give keys and values alone");
    return expect_words(g, node, operand(node.inputs, 3), "spans", state::SPAN_WORDS);
  }
  if (kv.rows_per_slot > kv.positions || div_up<uint64_t>(x.rows, kv.rows_per_slot) > kv.slots)
    return node_error(node, "%u rows, %u a slot, do not fit %u slots of %u positions", x.rows, kv.rows_per_slot,
                      kv.slots, kv.positions);
  return {};
}

// Other workgroups may still be reading x when one writes.
Status expect_apart(const graph::Graph& g, const graph::Node& node, graph::TensorId x, graph::TensorId multiplied) {
  for (const auto id : node.outputs) {
    if (id == graph::kNone) continue;
    const bool over = g.root(id) == g.root(x) || (id != multiplied && g.root(id) == g.root(multiplied));
    if (over) return node_error(node, "x, or what is multiplied of it, is written over");
  }
  return {};
}

Status infer_norm(const graph::Graph& g, const graph::Node& node) {
  const auto norm = norm_of(node);
  const auto& x = g.tensor(norm.x);
  LAPILLI_CHECK(expect_words(g, node, norm.weight, "weight of the normalization", norm_words(norm.how, x.cols)));
  LAPILLI_CHECK(expect_output(g, node, kMultipliedOutput, {"normalized rows", x.rows, x.cols}));
  if (g.tensor(norm.y).ld != x.ld) return node_error(node, "the normalized rows are not as far apart as those of x");
  return expect_apart(g, node, norm.x, norm.y);
}

Status infer_gate(const graph::Graph& g, const graph::Node& node, const MatmulAttributes& a) {
  if (a.split || a.norm != NormFirst::none) return node_error(node, "a gate in front of what has none");
  if (a.gate > kLastActivation) return node_error(node, "gates of products have the activations of products");
  if (node.outputs.size() <= kMultipliedOutput) return node_error(node, "the gated rows are missing");
  const auto gate = gate_of(node);
  LAPILLI_CHECK(infer_row_gate(g, node, gate));
  LAPILLI_CHECK(expect_output(g, node, kMultipliedOutput, {"gated rows", 0, a.k}));
  if (!g.tensor(gate.y).scratch) return node_error(node, "nobody writes the gated rows");
  return expect_apart(g, node, gate.x, gate.y);
}

Status infer_rows(const graph::Graph& g, const graph::Node& node, const MatmulAttributes& a) {
  if (a.gated) return infer_gate(g, node, a);
  LAPILLI_CHECK(expect_input(g, node, 0, {"x", 0, a.k}));
  const auto& x = g.tensor(node.inputs[0]);
  if (x.ld != packed::depth(a.k)) return node_error(node, "x (%s) is not padded to vec4", x.name);
  return {};
}

Status infer(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<MatmulAttributes>();
  if (a.n == 0 || a.k == 0) return node_error(node, "%u x %u weight", a.k, a.n);
  LAPILLI_CHECK(infer_rows(g, node, a));
  const auto& x = g.tensor(node.inputs[0]);
  LAPILLI_CHECK(expect_weight(g, node, operand(node.inputs, 1), "weight", a.n, a.k));
  if (a.norm > NormFirst::rms) return node_error(node, "no such normalization");
  if (a.norm != NormFirst::none) {
    if (node.inputs.size() <= kNormWeightInput || node.outputs.size() <= kMultipliedOutput)
      return node_error(node, "operands of the normalization are missing");
    LAPILLI_CHECK(infer_norm(g, node));
  }
  if (a.split) return infer_split(g, node, a);
  LAPILLI_CHECK(expect_output(g, node, 0, {"y", x.rows, a.n}));
  if (g.tensor(node.outputs[0]).ld != round_up<uint64_t>(a.n, 4)) return node_error(node, "y is not padded to vec4");
  const auto residual = operand(node.inputs, 2);
  if (residual != graph::kNone) {
    if (a.activation != Activation::none) return node_error(node, "a residual goes without an activation");
    if (g.root(residual) != g.root(node.outputs[0])) return node_error(node, "the residual is not updated in place");
  }
  return {};
}

// Initial panels per invocation for products of several rows: with more panels a CPU driver takes longer to compile the
// kernel, and a run needs more multiplications to recoup that; sums are limited to kMostSums vec4s
// (docs/decisions/texels-on-cpu-drivers.md).
constexpr uint32_t kMostSums = 32;
uint32_t panels_of_rows(uint32_t rows, uint64_t work) {
  const uint32_t panels = work < uint64_t{1} << 20 ? 1 : work < uint64_t{1} << 22 ? 2 : 4;
  return std::min(panels, kMostSums / rows);
}

struct Size {
  uint64_t rows;
  uint32_t columns, depth;
  [[nodiscard]] uint64_t work() const { return rows * columns * depth; }
};

uint64_t groups_with(const MatmulKernel& kernel, const Numbers& numbers, const Size& size) {
  return div_up<uint64_t>(size.rows, kernel.rows) * div_up(size.columns, 4 * numbers.each);
}

// Invocations that share the depth of one row on large devices: fewer if there are enough columns to fill them, more if
// each would wait for several loads of a weight in sequence.
uint32_t split_local(const Capabilities& caps, const MatmulKernel& kernel, const Numbers& numbers, const Size& size) {
  if (groups_with(kernel, numbers, size) >= uint64_t{4} * least_groups(caps)) return numbers.local / 2;
  const uint32_t most = std::min({kernel.sizes.most, caps.max_invocations, caps.max_group_size[0]});
  return size.depth >= 1024 && most >= 2 * numbers.local ? 2 * numbers.local : numbers.local;
}

// True if a large device holds all the invocations at once, which have several rows each. Otherwise a second round
// waits for the first (docs/decisions/few-rows-on-large-gpus.md).
bool is_held(const MatmulKernel& kernel, const Numbers& numbers, const Size& size) {
  constexpr uint64_t kHeld = 96 * 1024;
  return groups_with(kernel, numbers, size) * numbers.local <= kHeld;
}

// Numbers for several rows on large devices: as many invocations as a workgroup may have, and as few columns as the
// device can hold, so that many invocations share the depth, but with at least two turns each; then fewer invocations.
// If even the fewest are not held: four column groups, whose reads of x are adjacent.
Numbers split_rows(const Capabilities& caps, const MatmulKernel& kernel, const Size& size) {
  constexpr uint32_t kMostEach = 8, kLeastLocal = 64;
  Numbers numbers{std::bit_floor(std::min({kernel.sizes.most, caps.max_invocations, caps.max_group_size[0]})), 1};
  const auto turns = [&] { return size.depth / (4 * (numbers.local / numbers.each)); };
  while (numbers.each < kMostEach && (turns() < 2 || !is_held(kernel, numbers, size))) numbers.each *= 2;
  while (numbers.local > kLeastLocal && (turns() < 1 || !is_held(kernel, numbers, size))) numbers.local /= 2;
  if (!is_held(kernel, numbers, size)) numbers.each = 4;
  return numbers;
}

// The fewer columns a workgroup takes, the more workgroups there are.
Numbers numbers_of(const Capabilities& caps, const MatmulKernel& kernel, const Size& size) {
  const bool panels = kernel.each == Each::of_invocation, split = kernel.each == Each::of_workgroup;
  const bool large = device_traits(caps).wide;
  if (kernel.subgroup && !panels) return {caps.subgroup_size};
  if (kernel.subgroups != 0) return {kernel.subgroups * cooperative_subgroup(caps)};
  if (split && large && kernel.rows > 1) return split_rows(caps, kernel, size);
  Numbers numbers = default_numbers(caps, kernel.tuned);
  if (panels) numbers.local = caps.subgroup_size;
  if (panels && kernel.rows > 1) numbers.each = panels_of_rows(kernel.rows, size.work());
  const uint64_t tiles = panels ? div_up<uint64_t>(size.rows, kernel.rows) : 1;
  const auto groups = [&] { return tiles * div_up(size.columns, 4 * column_groups(kernel, numbers)); };
  if (split && large) numbers.local = split_local(caps, kernel, numbers, size);
  while (numbers.each > least_each(kernel) && groups() < least_groups(caps)) numbers.each /= 2;
  return numbers;
}

uint64_t groups_of(const Capabilities& caps, const MatmulKernel& kernel, const Size& size) {
  const uint32_t columns = 4 * column_groups(kernel, numbers_of(caps, kernel, size));
  return div_up<uint64_t>(size.rows, kernel.rows) * div_up<uint64_t>(size.columns, columns);
}

// True if the device runs all workgroups at once, so that it waits for their rows only once.
bool runs_at_once(const Capabilities& caps, const MatmulKernel& kernel, const Size& size) {
  if (device_traits(caps).wide && kernel.rows > 1) return is_held(kernel, numbers_of(caps, kernel, size), size);
  return groups_of(caps, kernel, size) <= groups_at_once(caps);
}

// Tiles for this many rows, from largest to smallest: none that would be half empty, and none with sixteen sums per
// invocation on small devices, since phone compilers crash on such private arrays.
std::vector<uint32_t> possible_tiles(const Capabilities& caps, uint64_t rows) {
  std::vector<uint32_t> tiles;
  for (const uint32_t id : {kTiled64, kTiled32, kTiled16})
    if (2 * rows > kKernels[id].rows && (id != kTiled64 || device_traits(caps).private_arrays)) tiles.push_back(id);
  return tiles;
}

// The largest tile that gives the device enough workgroups comes first, or else the smallest.
std::vector<uint32_t> tiles_for(const Capabilities& caps, const Size& size) {
  auto tiles = possible_tiles(caps, size.rows);
  const auto fills = [&](uint32_t id) { return groups_of(caps, kKernels[id], size) >= least_groups(caps); };
  auto best = std::find_if(tiles.begin(), tiles.end(), fills);
  if (best == tiles.end()) --best;
  std::rotate(tiles.begin(), best, best + 1);
  return tiles;
}

// Its shared memory and its workgroups of four subgroups may exceed the minimum limits.
bool has_coop_kernel(const Capabilities& caps, uint32_t id) {
  const uint32_t shared_bytes = id == kCoop64 ? 24 * 1024 : 30 * 1024;
  const uint32_t subgroup = cooperative_subgroup(caps), local = kKernels[id].subgroups * subgroup;
  return has_cooperative_matrix(caps) && subgroup >= 8 && subgroup <= 128 && caps.shared_memory >= shared_bytes &&
         local <= caps.max_invocations && local <= caps.max_group_size[0];
}
// Matrix units do in one step what lanes do in several: half as many workgroups keep the device as busy.
bool fills_with_matrices(const Capabilities& caps, const Size& size) {
  return 2 * groups_of(caps, kKernels[kCoop64], size) >= least_groups(caps);
}
// The cooperative kernel that comes before all others, if any: the small one on large devices that the large one leaves
// mostly idle, if there are more than 32 rows or it fills the device itself.
std::optional<uint32_t> first_coop(const Capabilities& caps, const Size& size, bool has_large, bool has_small) {
  if (has_large && fills_with_matrices(caps, size)) return kCoop64;
  const bool many = size.rows > 32 || groups_of(caps, kKernels[kCoop32], size) >= least_groups(caps);
  return has_small && many && device_traits(caps).wide ? std::optional(kCoop32) : std::nullopt;
}

// For more than sixteen rows: gives four times as many workgroups as tiles of sixteen, and each invocation waits for
// only a part of the depth. This is faster until a large device is full.
bool splits_rows(const Capabilities& caps, const Size& size) {
  constexpr uint32_t kWide = 32;  // maximum columns per workgroup
  if (size.rows <= 16 || size.rows > 64 || !device_traits(caps).wide) return false;
  return div_up<uint64_t>(size.rows, 4) * div_up(size.columns, kWide) <= 2 * least_groups(caps);
}
// Kernels of a product with their ranks: the order in which they are tried, where the first one serves unless a tuning
// names another.
enum class Rank : uint8_t {
  norm_first,
  texels,
  shared,
  rows,
  lanes,
  rows_last,
  shared_last,
  fragile,
  panels,
  norm_last,
  floor
};

class Choice {
 public:
  Choice(const Capabilities& caps, const graph::Graph& g, const graph::Node& node)
      : caps_(caps),
        a_(node.attributes.as<MatmulAttributes>()),
        rows_(g.tensor(node.inputs[0]).rows),
        size_{rows_, a_.n, a_.k},
        fp16_(format_of(g.tensor(node.inputs[1]).dtype) == WeightFormat::fp16),
        batch_(a_.split && a_.kv.layout != RowLayout::step) {}

  std::vector<Variant> run() {
    norm_splits();
    panels();
    shared();
    if (has_lanes(caps_)) registers(Rank::lanes, {kLanes1, kLanes4, kLanes8, kLanes16});
    registers(ways_.uniform && rows_ > 1 ? Rank::rows : Rank::rows_last, {kRows1, kRows4, kRows8, kRows16});
    add(Rank::floor, {kRows1});
    std::ranges::stable_sort(ranked_, {}, &Ranked::rank);
    std::vector<Variant> list;
    for (const Ranked& r : ranked_) list.push_back(variant(r.id));
    return list;
  }

 private:
  struct Ranked {
    Rank rank;
    uint32_t id;
  };
  struct Registers {
    uint32_t one, four, eight, sixteen;
  };

  void add(Rank rank, std::initializer_list<uint32_t> ids) {
    for (const uint32_t id : ids) ranked_.push_back({rank, id});
  }

  // Split kernels sum parts of the depth, and the order in a cooperative matrix is up to the device; all others process
  // the depth from its first to its last four. But GPU compilers fuse multiplications in some kernels and not in
  // others, so there only a single kernel for all row counts gives the same bits.
  [[nodiscard]] Variant variant(uint32_t id) const {
    const MatmulKernel& kernel = kKernels[id];
    const bool in_order =
        traits_.parallel ? id == kRows1 || id == kLanes1 : kernel.each != Each::of_workgroup && kernel.subgroups == 0;
    return {id, kernel.name, in_order, numbers_of(caps_, kernel, size_)};
  }

  // With several rows the deep kernel comes first if it has more invocations.
  void splits(Rank rank, uint32_t one, uint32_t four, uint32_t deep) {
    if (rows_ == 1) return add(rank, {one});
    const bool deep_first = numbers_of(caps_, kKernels[deep], size_).local > kKernels[four].sizes.most;
    add(rank, {deep_first ? deep : four, deep_first ? four : deep});
  }

  // Kernels that normalize their rows come first where that pays, otherwise last.
  void norm_splits() {
    if (a_.norm == NormFirst::none || rows_ > 16 || batch_ || !has_most_bindings(caps_)) return;
    splits(Rank::norm_last, kNormSplit1, kNormSplit4, kDeepNormSplit4);
    if (!ways_.shared || !runs_at_once(caps_, kKernels[ranked_.front().id], size_)) return;
    for (Ranked& r : ranked_) r.rank = Rank::norm_first;
  }

  // Panels are for CPU drivers only: phone compilers cannot handle private arrays of that many vectors. They come first
  // where texels take fewer instructions, otherwise last.
  void panels() {
    if (!has_lanes(caps_) || !caps_.texels || (rows_ == 1 && batch_)) return;
    const Rank rank = ways_.texels ? Rank::texels : Rank::panels;
    const bool even = rows_ > 64 || div_up<uint64_t>(rows_, 8) % 2 == 0;
    if (even) add(rank, {kTexels16});
    if (rows_ > 4) add(rank, {kTexels8});
    if (rows_ > 8 && !even) add(rank, {kTexels16});
    add(rank, {rows_ > 1 ? kTexels4 : kTexels1});
    if (rows_ > 4) add(rank, {kPanels8});
    add(rank, {rows_ > 1 ? kPanels4 : kPanels1});
  }

  // Sixteen rows mean private arrays of more than sixteen vectors, which crash some phone compilers.
  void registers(Rank rank, const Registers& ids) {
    if (rows_ > 8) add(traits_.private_arrays ? rank : Rank::fragile, {ids.sixteen});
    if (rows_ > 4) add(rank, {ids.eight});
    if (rows_ > 1) add(rank, {ids.four});
    if (ids.one != kRows1) add(rank, {ids.one});
  }

  [[nodiscard]] bool has_coop(uint32_t id) const {
    return ways_.shared && fp16_ && has_coop_kernel(caps_, id) && 2 * rows_ > kKernels[id].rows;
  }

  // For more than sixteen rows, splits give more workgroups than tiles, but they read W more often.
  void shared() {
    const Rank rank = ways_.shared ? Rank::shared : Rank::shared_last;
    const bool split_first = rows_ <= 16 || splits_rows(caps_, size_);
    const auto coop_first = first_coop(caps_, size_, has_coop(kCoop64), has_coop(kCoop32));
    if (split_first && !batch_) splits(rank, kSplit1, kSplit4, kDeepSplit4);
    if (coop_first) add(rank, {*coop_first});
    if (rows_ >= 16)
      for (const uint32_t tile : tiles_for(caps_, size_)) add(rank, {tile});
    for (const uint32_t id : {kCoop64, kCoop32})
      if (has_coop(id) && coop_first != id) add(rank, {id});
    if (!split_first && rows_ <= 32 && !batch_) splits(rank, kSplit1, kSplit4, kDeepSplit4);
  }

  const Capabilities& caps_;
  const MatmulAttributes a_;
  const uint64_t rows_;
  const Size size_;
  const bool fp16_, batch_;
  const DeviceTraits traits_ = device_traits(caps_);
  const SharingWays ways_ = sharing_ways(caps_);
  std::vector<Ranked> ranked_;
};

std::vector<Variant> variants(const Capabilities& caps, const graph::Graph& g, const graph::Node& node) {
  return Choice(caps, g, node).run();
}

Status lower(const LowerContext& context, const graph::Node& node, Variant variant, std::vector<Dispatch>& out) {
  if (variant.id >= std::size(kKernels)) return node_error(node, "no variant %u", variant.id);
  return lower_matmul(context, node, kKernels[variant.id], variant.numbers, out);
}

// Row r of x W + b, before activation, into y[n]; w in fp32's layout.
void product_row(const MatmulAttributes& a, const double* x, const std::vector<double>& w, std::vector<double>& y) {
  const WeightLayout layout(a.n, a.k);
  y.assign(packed::panels(a.n) * packed::kPanel, 0.0);
  for (uint64_t panel = 0; panel < packed::panels(a.n); ++panel) {
    double* out = y.data() + panel * packed::kPanel;
    for (uint64_t k = 0; k < a.k; ++k) {
      const double* row = w.data() + layout.word(panel * packed::kPanel, k);
      for (uint64_t c = 0; c < packed::kPanel; ++c) out[c] += x[k] * row[c];
    }
  }
  for (uint64_t n = 0; n < a.n; ++n) y[n] += w[layout.bias_word(n)];
}

// Destinations of the rows of the split form: slot and position of row r; false: it writes nothing.
class HostCells {
 public:
  HostCells(const graph::Node& node, const KvShape& kv, HostTensors& values) : kv_(kv) {
    if (kv.layout != RowLayout::batch) words_ = &values.at(node.inputs[3]).u;
    if (kv.layout != RowLayout::spans) return;
    for (const Span& s : spans_of(*words_))
      for (uint32_t i = 0; i < s.ids; ++i) rows_.emplace_back(s.slot, i);
  }
  bool find(uint64_t r, uint64_t& slot, uint64_t& position) const {
    switch (kv_.layout) {
      case RowLayout::step:
        if (r >= (*words_)[state::STEP_LIVE]) return false;
        slot = state::beam_slot_of((*words_)[state::STEP_ROWS + r]);
        position = state::position_of((*words_)[state::STEP_ROWS + r]);
        return true;
      case RowLayout::spans:
        if (r >= rows_.size()) return false;
        slot = rows_[r].first;
        position = rows_[r].second;
        return true;
      case RowLayout::batch: break;
    }
    slot = r / kv_.rows_per_slot;
    position = r % kv_.rows_per_slot;
    return true;
  }

 private:
  KvShape kv_;
  const std::vector<uint32_t>* words_ = nullptr;
  std::vector<std::pair<uint32_t, uint32_t>> rows_;  // of a pass: slot and position
};

// The multiplied rows: x, or its normalization or gated form, computed first.
graph::TensorId reference_rows(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<MatmulAttributes>();
  if (a.gated) {
    row_gate_reference(g, gate_of(node), values);
    return gate_of(node).y;
  }
  if (a.norm == NormFirst::none) return node.inputs[0];
  const RowNorm norm = norm_of(node);
  row_norm_reference(g, norm, values);
  return norm.y;
}

void reference_split(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<MatmulAttributes>();
  const auto from = reference_rows(g, node, values);
  const auto& x = g.tensor(from);
  HostKv kv(g, node.outputs[1], values);
  const HostCells cells(node, a.kv, values);
  const HostWeight w(g, node.inputs[1], a.n, a.k, values);
  std::vector<double> y;
  for (uint64_t r = 0; r < x.rows; ++r) {
    product_row(a, values.at(from).f.data() + r * x.ld, w.values(), y);
    if (a.q_columns > 0) {
      const auto& q = g.tensor(node.outputs[0]);
      auto& out = values.at(node.outputs[0]).f;
      for (uint64_t c = 0; c < q.ld; ++c) out[r * q.ld + c] = c < a.q_columns ? y[c] : 0.0;
    }
    uint64_t slot = 0, position = 0;
    if (!cells.find(r, slot, position)) continue;
    for (uint64_t h = 0; h < a.kv.heads; ++h)
      for (uint64_t i = 0; i < 2 * a.kv.head_dim; ++i)
        kv.set(a.kv.number(h, slot, position) + i, y[a.q_columns + h * 2 * a.kv.head_dim + i]);
  }
}

void reference(const graph::Graph& g, const graph::Node& node, HostTensors& values) {
  const auto a = node.attributes.as<MatmulAttributes>();
  if (a.split) return reference_split(g, node, values);
  const auto from = reference_rows(g, node, values);
  const auto &x = g.tensor(from), &out = g.tensor(node.outputs[0]);
  const bool residual = operand(node.inputs, 2) != graph::kNone;
  const HostWeight w(g, node.inputs[1], a.n, a.k, values);
  std::vector<double> y;
  for (uint64_t r = 0; r < x.rows; ++r) {
    product_row(a, values.at(from).f.data() + r * x.ld, w.values(), y);
    double* to = values.at(node.outputs[0]).f.data() + r * out.ld;
    for (uint64_t c = 0; c < out.ld; ++c) {
      const double v = c < a.n ? activate(a.activation, y[c]) : 0.0;
      to[c] = residual ? to[c] + v : v;
    }
  }
}

// The epilogue of a sum costs almost nothing, so keys do not distinguish it.
std::string tuning_key(const graph::Graph& g, const graph::Node& node) {
  const auto a = node.attributes.as<MatmulAttributes>();
  constexpr const char* kLayouts[] = {", kv of a batch", ", kv of a step", ", kv of a pass"};
  return format("%u x %u %s, rows %u%s%s%s%s", a.k, a.n, graph::name(g.tensor(node.inputs[1]).dtype),
                tuning_class(g.tensor(node.inputs[0]).rows), a.split && a.q_columns > 0 ? ", q" : "",
                a.split ? kLayouts[static_cast<size_t>(a.kv.layout)] : "",
                a.norm == NormFirst::none ? "" : ", normalized", a.gated ? ", gated" : "");
}

constexpr OpDef op{"matmul", infer, variants, lower, reference, matmul_cases, {tuning_key, true}};

}  // namespace
}  // namespace matmul_impl

constinit const OpDef matmul_op = matmul_impl::op;

graph::TensorId ops::linear(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                            uint32_t n, Activation activation) {
  MatmulAttributes a;
  a.n = n;
  a.k = static_cast<uint32_t>(g.tensor(x).cols);
  a.activation = activation;
  const auto y = g.rows_like(label, x, n);
  g.add_node({&matmul_op, label, {x, weight, graph::kNone, graph::kNone}, {y}, graph::Attributes(a)});
  return y;
}

graph::TensorId ops::linear_add(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                                graph::TensorId residual) {
  MatmulAttributes a;
  a.n = static_cast<uint32_t>(g.tensor(residual).cols);
  a.k = static_cast<uint32_t>(g.tensor(x).cols);
  const auto y = g.updated(label, residual);
  g.add_node({&matmul_op, label, {x, weight, residual, graph::kNone}, {y}, graph::Attributes(a)});
  return y;
}

graph::TensorId ops::linear_kv(graph::Graph& g, const std::string& label, graph::TensorId x, graph::TensorId weight,
                               const KvTarget& to) {
  MatmulAttributes a;
  a.n = to.q_columns + to.shape.heads * 2 * to.shape.head_dim;
  a.k = static_cast<uint32_t>(g.tensor(x).cols);
  a.split = 1;
  a.q_columns = to.q_columns;
  a.kv = to.shape;
  const auto q = to.q_columns > 0 ? g.rows_like(label, x, to.q_columns) : graph::kNone;
  g.add_node({&matmul_op, label, {x, weight, graph::kNone, to.step_or_spans}, {q, to.kv}, graph::Attributes(a)});
  return q;
}

}  // namespace lapilli
