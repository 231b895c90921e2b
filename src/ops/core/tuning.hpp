// Initial numbers of kernels: the one place in src/ops that knows classes of devices. `lapilli tune` tries others for a
// node (runtime/plan/tuning_space.hpp); lowering refuses those that a kernel or a device does not support.
#pragma once

#include <algorithm>
#include <vector>

#include "ops/core/kv_layout.hpp"
#include "ops/core/op.hpp"
#include "ops/core/weight_layout.hpp"

namespace lapilli {

// The properties of a device that matter beyond its limits.
struct DeviceTraits {
  // Invocations run at the same time. CPU drivers run them one after the other, and a barrier costs more than it saves:
  // they want few invocations with much work each, and round alike in all kernels.
  bool parallel = true;
  bool wide = false;            // a discrete GPU: has room for very many invocations, each of which waits for memory
  bool private_arrays = false;  // its compiler can handle private arrays of more than sixteen vectors; phones' crash
};
DeviceTraits device_traits(const Capabilities& caps);

// The default weight format for a device of this class. CPU drivers turn bf16 into a float by a shift; GPUs convert
// fp16, which is eight times as precise, as they load it.
WeightFormat default_format(const Capabilities& caps);
// Checks that the device supports these formats for weights and for keys and values; the error says which it supports.
Status check_formats(const Capabilities& caps, WeightFormat weights, KvFormat kv);

// Ways of sharing values between invocations that beat registers on a device: kernels that use them come before the
// others, or, for lanes, are otherwise not used at all.
struct SharingWays {
  bool lanes = true;     // from lane to lane of a subgroup
  bool shared = true;    // through shared memory
  bool uniform = false;  // the compiler loads once what all lanes read alike: rows in registers come before lanes
  bool texels = false;   // vec4s of words take fewer instructions as texels: panels read this way come before both
};
SharingWays sharing_ways(const Capabilities& caps);

// True if the device can run kernels with shuffles whose workgroup is one subgroup: this requires a single subgroup
// size.
bool has_lanes(const Capabilities& caps);

// Kernels with free numbers; each has a line of the table in tuning.cpp.
enum class Tuned : uint8_t {
  argmax,
  attention,
  attention_step,
  choose,
  convert,
  copy,
  elementwise,
  embed,
  log_softmax,
  matmul_panels,
  matmul_rows,
  matmul_split1,  // by rows
  matmul_split4,
  matmul_tiled,
  pack,
  processors,
  row_sums,  // layer_norm, softmax
  top_k,
  transpose,
  unfold,
  warp,
  windows,
};
Numbers default_numbers(const Capabilities& caps, Tuned kernel);

// A variant's name, as an argument of only_variant().
template <size_t N>
struct VariantName {
  constexpr VariantName(const char (&name)[N]) { std::copy_n(name, N, text); }  // NOLINT: implicit on purpose
  char text[N];
};
// OpDef::variants of an op with one kernel, whose sums are in order.
template <Tuned kernel, VariantName name>
std::vector<Variant> only_variant(const Capabilities& caps, const graph::Graph&, const graph::Node&) {
  return {{0, name.text, true, default_numbers(caps, kernel)}};
}

// The number of workgroups that fills a device of this class; Vulkan does not report the number of cores.
uint32_t least_groups(const Capabilities& caps);

// True if a dispatch costs this device more than repeating work in several workgroups.
bool wants_few_dispatches(const Capabilities& caps);

// True if a step's attention with this many rows and heads processes the chunks of its keys in parallel: if there are
// several, and rows and heads alone do not fill the device. CPU drivers have few cores, and the second dispatch costs
// them.
constexpr uint64_t kManyPositions = 256;
bool shares_out_keys(const Capabilities& caps, uint64_t rows_and_heads, uint64_t positions);

// The most workgroups of a product with which each should normalize or gate its rows itself, because all that work
// takes less than a separate dispatch with its barrier. 0: never.
uint32_t groups_at_once(const Capabilities& caps);

// Rough throughput of a device of this class per cycle, to rule out hopeless ways to run a node. Not measured: only
// ratios count, and they need only be right within a factor of a few.
struct CycleModel {
  double lanes = 1;     // multiply-adds
  double bytes = 1;     // bytes of memory
  double dispatch = 0;  // cycles per dispatch with its barrier
};
CycleModel cycle_model(const Capabilities& caps);

// Rounds a count up to a power of two; equal results count as alike in keys of tuned nodes (TuningRule).
uint64_t tuning_class(uint64_t count);
// "512 columns, rows 8": the key of a node that processes its first input, or output, row by row.
std::string input_tuning_key(const graph::Graph& g, const graph::Node& node);
std::string output_tuning_key(const graph::Graph& g, const graph::Node& node);

// A shader's constraints on the size of its workgroup.
struct LocalSizes {
  uint32_t least = 1, most = 1024;
  uint32_t multiple_of = 1;
  bool power_of_two = false;
};
// For reductions by halves in shared arrays of 128.
constexpr LocalSizes kHalving{1, 128, 1, true};
// Checks that the numbers meet these constraints and the device allows them. `uses_each`: the kernel has Numbers::each.
Status check_numbers(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                     const LocalSizes& sizes, bool uses_each = false);
// For kernels whose workgroups are subgroups.
Status check_subgroup(const LowerContext& context, const graph::Node& node, const Numbers& numbers);

}  // namespace lapilli
