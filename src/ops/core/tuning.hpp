// Which numbers kernels begin with: the one place in src/ops that knows classes of devices. `lapilli tune` tries others
// for a node (runtime/plan/tuning_space.hpp), of which lowering refuses those that a kernel or a device cannot do.
#pragma once

#include "ops/core/kv_layout.hpp"
#include "ops/core/op.hpp"
#include "ops/core/weight_layout.hpp"

namespace lapilli {

// What matters about a device beside its limits. CPU drivers run one invocation after the other, and a barrier costs
// them more than it saves: few invocations with much work each. `small`: GPUs that are not discrete, phones among them.
enum class DeviceClass : uint8_t { cpu, small, large };
DeviceClass device_class(const Capabilities& caps);

// The format of weights that a device of this class is given if nobody says which. CPU drivers make a float of bf16 by
// a shift; GPUs convert fp16, which is eight times as exact, as they load it.
WeightFormat default_format(const Capabilities& caps);
// Weights, and keys and values, can be in these formats on such a device; else what can be.
Status check_formats(const Capabilities& caps, WeightFormat weights, KvFormat kv);

// Which ways of sharing values between invocations beat registers on a device: kernels that use them come before those
// that do not, or, for lanes, are not used at all.
struct SharingWays {
  bool lanes = true;     // from lane to lane of a subgroup
  bool shared = true;    // through shared memory
  bool uniform = false;  // the compiler reads once what all lanes read alike: rows in registers come before lanes
  bool texels = false;   // vec4 of words are read in fewer instructions as texels: panels of these come before both
};
SharingWays sharing_ways(const Capabilities& caps);

// Whether kernels whose workgroup is one subgroup, of shuffled values, are for this device: workgroups of exactly one
// subgroup are certain only where there is one size.
bool has_lanes(const Capabilities& caps);

// A kernel whose numbers are free; a line of the table in tuning.cpp each.
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
  matmul_split1,  // by its rows
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

// Workgroups from which on a dispatch fills a device of this class; how many cores it has Vulkan does not say.
uint32_t least_groups(const Capabilities& caps);

// A dispatch costs this device more than what a workgroup does twice because others do it as well.
bool wants_few_dispatches(const Capabilities& caps);

// Whether a step's attention, of so many rows and heads, takes the chunks of its keys side by side: where there are
// several, and rows and heads alone do not fill the device. CPU drivers have few cores and pay for the second dispatch.
constexpr uint64_t kManyPositions = 256;
bool shares_out_keys(const Capabilities& caps, uint64_t rows_and_heads, uint64_t positions);

// Workgroups of a product up to which each of them had better normalize its rows itself, or gate them: all of it
// together takes less than a dispatch for it and its barrier. 0: never.
uint32_t groups_at_once(const Capabilities& caps);

// About what a device of this class does in a cycle, to tell ways to run a node that are hopeless from others. Measured
// nowhere: only ratios count, and they need be right within a factor of a few.
struct CycleModel {
  double lanes = 1;     // multiplications and additions
  double bytes = 1;     // of memory
  double dispatch = 0;  // cycles of a dispatch with its barrier
};
CycleModel cycle_model(const Capabilities& caps);

// Counts that are taken for alike in keys of tuned nodes (TuningRule): rounded up to a power of two.
uint64_t tuning_class(uint64_t count);
// "512 columns, rows 8": the key of what goes through its first input, or output, row by row.
std::string input_tuning_key(const graph::Graph& g, const graph::Node& node);
std::string output_tuning_key(const graph::Graph& g, const graph::Node& node);

// What a shader asks of the size of its workgroup.
struct LocalSizes {
  uint32_t least = 1, most = 1024;
  uint32_t multiple_of = 1;
  bool power_of_two = false;
};
// Reductions by halves in shared arrays of 128.
constexpr LocalSizes kHalving{1, 128, 1, true};
// The numbers are such, and the device allows them. `uses_each`: the kernel has Numbers::each.
Status check_numbers(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                     const LocalSizes& sizes, bool uses_each = false);

}  // namespace lapilli
