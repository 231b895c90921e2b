#include "ops/products/matmul_variants.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "ops/core/tuning.hpp"
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
// Each kernel with its id.
#define KERNELS(K)                                                                \
  K(kRows1, ROWS_KERNEL(1))                                                       \
  K(kRows4, ROWS_KERNEL(4))                                                       \
  K(kRows8, ROWS_KERNEL(8))                                                       \
  K(kRows16, ROWS_KERNEL(16))                                                     \
  K(kLanes1, LANES_KERNEL(1))                                                     \
  K(kLanes4, LANES_KERNEL(4))                                                     \
  K(kLanes8, LANES_KERNEL(8))                                                     \
  K(kLanes16, LANES_KERNEL(16))                                                   \
  K(kSplit1, SPLIT_KERNEL("split 1", split1, 1, 256))                             \
  K(kSplit4, SPLIT_KERNEL("split 4", split4, 4, 64))                              \
  K(kDeepSplit4, SPLIT_KERNEL("deep split 4", deep_split4, 4, 256))               \
  K(kNormSplit1, NORM_SPLIT_KERNEL("norm split 1", split1, 1, 128))               \
  K(kNormSplit4, NORM_SPLIT_KERNEL("norm split 4", split4, 4, 64))                \
  K(kDeepNormSplit4, NORM_SPLIT_KERNEL("deep norm split 4", deep_split4, 4, 256)) \
  K(kPanels1, PANEL_KERNEL("panels 1", false))                                    \
  K(kPanels4, PANELS_KERNEL("panels 4", 4, false))                                \
  K(kPanels8, PANELS_KERNEL("panels 8", 8, false))                                \
  K(kTexels1, PANEL_KERNEL("texels 1", true))                                     \
  K(kTexels4, PANELS_KERNEL("texels 4", 4, true))                                 \
  K(kTexels8, PANELS_KERNEL("texels 8", 8, true))                                 \
  K(kTexels16, PANELS_KERNEL("texels 16", 16, true))                              \
  K(kTiled64, TILED_KERNEL(64, 64))                                               \
  K(kTiled32, TILED_KERNEL(32, 64))                                               \
  K(kTiled16, TILED_KERNEL(16, 32))                                               \
  K(kCoop64, COOP_KERNEL(64))                                                     \
  K(kCoop32, COOP_KERNEL(32))
#define KERNEL_ID(id, kernel) id,
#define KERNEL(id, kernel) kernel,
enum KernelId : uint32_t { KERNELS(KERNEL_ID) };
constexpr MatmulKernel kKernels[] = {KERNELS(KERNEL)};
#undef KERNELS
#undef KERNEL_ID
#undef KERNEL
#undef ROWS_KERNEL
#undef LANES_KERNEL
#undef SPLIT_KERNEL
#undef NORM_SPLIT_KERNEL
#undef PANEL_KERNEL
#undef PANELS_KERNEL
#undef TILED_KERNEL
#undef COOP_KERNEL

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

}  // namespace
}  // namespace matmul_impl

std::vector<Variant> matmul_variants(const Capabilities& caps, const graph::Graph& g, const graph::Node& node) {
  return matmul_impl::Choice(caps, g, node).run();
}

const MatmulKernel* matmul_kernel(uint32_t variant) {
  return variant < std::size(matmul_impl::kKernels) ? &matmul_impl::kKernels[variant] : nullptr;
}

}  // namespace lapilli
