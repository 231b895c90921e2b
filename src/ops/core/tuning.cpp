#include "ops/core/tuning.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "ops/core/lower_util.hpp"

namespace lapilli {
namespace {

struct Line {
  Tuned kernel;
  Numbers cpu, gpu;
};
constexpr Line kTable[] = {
    {Tuned::argmax, {8}, {128}},
    {Tuned::attention, {8}, {32}},  // more for wide heads
    {Tuned::attention_step, {8}, {64}},
    {Tuned::choose, {64}, {128}},
    {Tuned::convert, {32, 64}, {64, 8}},
    {Tuned::copy, {64, 16}, {64, 4}},
    {Tuned::elementwise, {64, 8}, {64, 2}},
    {Tuned::embed, {8}, {64}},
    {Tuned::log_softmax, {8}, {128}},
    {Tuned::matmul_panels, {8, 8}, {8, 8}},  // for workgroups of one subgroup
    {Tuned::matmul_rows, {8}, {64}},
    {Tuned::matmul_split1, {64, 8}, {128, 8}},
    {Tuned::matmul_split4, {64, 8}, {64, 8}},
    {Tuned::matmul_tiled, {64}, {64}},
    {Tuned::pack, {32, 64}, {64, 8}},
    {Tuned::processors, {16}, {64}},
    {Tuned::row_sums, {8}, {64}},
    {Tuned::top_k, {32}, {128}},
    {Tuned::transpose, {32}, {128}},
    {Tuned::unfold, {8}, {64}},
    {Tuned::warp, {8}, {512}},
    {Tuned::windows, {8}, {64}},
};
static_assert(std::size(kTable) == static_cast<size_t>(Tuned::windows) + 1);

struct VendorWays {
  uint32_t vendor;
  SharingWays ways;
};
constexpr VendorWays kVendorWays[] = {
    // Arm: a thread has 64 registers, but parts of x, sums and columns need 80 and more, so the lanes kernels spill by
    // the hundred and dominate the compile time of a first search. Shared memory is ordinary memory there.
    {0x13b5, {false, false}},
    // Imagination: not measured.
    {0x1010, {true, false}},
    // AMD's compilers load x, which is uniform, into scalar registers; passed from lane to lane it would fill vector
    // registers and reduce occupancy.
    {0x1002, {false, true}},
};

// Bounds loops over an invocation's elements; llvmpipe's limit is 65,535 (docs/inside/adding-an-op.md).
constexpr uint32_t kMostEach = 1024;

// As measured (docs/decisions/lanes-or-rows.md): Mesa's llvmpipe does so from 26.2 on, but not in 25.0, which reports
// version 1.
bool reads_uniformly(const Capabilities& caps) {
  constexpr uint32_t kMesa26_2 = 26u << 22 | 2u << 12;
  return caps.driver_name == "llvmpipe" && caps.driver_version >= kMesa26_2;
}

std::string matrix_key(const graph::Tensor& matrix) {
  return format("%u columns, rows %u", matrix.cols, tuning_class(matrix.rows));
}

// `small`: GPUs that are not discrete, phones among them.
enum class DeviceClass : uint8_t { cpu, small, large };
DeviceClass device_class(const Capabilities& caps) {
  if (caps.type == DeviceType::cpu) return DeviceClass::cpu;
  return caps.type == DeviceType::discrete ? DeviceClass::large : DeviceClass::small;
}

}  // namespace

DeviceTraits device_traits(const Capabilities& caps) {
  const DeviceClass c = device_class(caps);
  return {c != DeviceClass::cpu, c == DeviceClass::large, c != DeviceClass::small};
}

WeightFormat default_format(const Capabilities& caps) {
  const bool bf16 = device_class(caps) == DeviceClass::cpu || !caps.packed_halves;
  return bf16 ? WeightFormat::bf16 : WeightFormat::fp16;
}

Status check_formats(const Capabilities& caps, WeightFormat weights, KvFormat kv) {
  return weights == WeightFormat::fp16 || kv == KvFormat::fp16 ? check_halves(caps) : Status();
}

// CPU drivers run invocations sequentially: a barrier costs more than it saves.
SharingWays sharing_ways(const Capabilities& caps) {
  SharingWays ways;
  for (const VendorWays& v : kVendorWays)
    if (v.vendor == caps.vendor_id) ways = v.ways;
  if (device_class(caps) == DeviceClass::cpu) ways.shared = false;
  ways.uniform = reads_uniformly(caps);
  ways.texels = caps.texels && caps.driver_name == "llvmpipe";
  return ways;
}

bool has_lanes(const Capabilities& caps) {
  return sharing_ways(caps).lanes && caps.subgroup_shuffle && caps.subgroup_size >= 4 && caps.subgroup_size <= 128 &&
         caps.min_subgroup_size == caps.subgroup_size && caps.max_subgroup_size == caps.subgroup_size;
}

Numbers default_numbers(const Capabilities& caps, Tuned kernel) {
  const auto is = [&](const Line& l) { return l.kernel == kernel; };
  const Line& line = *std::find_if(std::begin(kTable), std::end(kTable), is);
  return device_class(caps) == DeviceClass::cpu ? line.cpu : line.gpu;
}

// Four workgroups for each of 2, 8 or 64 cores.
uint32_t least_groups(const Capabilities& caps) {
  switch (device_class(caps)) {
    case DeviceClass::cpu: return 8;
    case DeviceClass::small: return 32;
    case DeviceClass::large: return 256;
  }
  return 1;
}

bool wants_few_dispatches(const Capabilities& caps) { return device_class(caps) != DeviceClass::cpu; }

bool shares_out_keys(const Capabilities& caps, uint64_t rows_and_heads, uint64_t positions) {
  return device_class(caps) != DeviceClass::cpu && positions >= kManyPositions && rows_and_heads < least_groups(caps);
}

// Roughly what these devices hold at once: every further round would wait for its rows again. CPU drivers run
// workgroups sequentially, and a dispatch costs them almost nothing.
uint32_t groups_at_once(const Capabilities& caps) {
  switch (device_class(caps)) {
    case DeviceClass::cpu: return 0;
    case DeviceClass::small: return 256;
    case DeviceClass::large: return 1024;
  }
  return 0;
}

// Lanes of the cores that least_groups() assumes.
CycleModel cycle_model(const Capabilities& caps) {
  switch (device_class(caps)) {
    case DeviceClass::cpu: return {16, 8, 2000};
    case DeviceClass::small: return {512, 32, 10000};
    case DeviceClass::large: return {8192, 512, 5000};
  }
  return {};
}

uint64_t tuning_class(uint64_t count) { return std::bit_ceil(std::max<uint64_t>(1, count)); }

std::string input_tuning_key(const graph::Graph& g, const graph::Node& node) {
  return matrix_key(g.tensor(node.inputs[0]));
}
std::string output_tuning_key(const graph::Graph& g, const graph::Node& node) {
  return matrix_key(g.tensor(node.outputs[0]));
}

Status check_numbers(const LowerContext& context, const graph::Node& node, const Numbers& numbers,
                     const LocalSizes& sizes, bool uses_each) {
  const uint32_t most = std::min({sizes.most, context.caps.max_invocations, context.caps.max_group_size[0]});
  if (numbers.local < sizes.least || numbers.local > most || numbers.local % sizes.multiple_of != 0 ||
      (sizes.power_of_two && !std::has_single_bit(numbers.local)))
    return node_error(node, "workgroups of %u invocations; %u to %u are possible here, in multiples of %u%s",
                      numbers.local, sizes.least, most, sizes.multiple_of, sizes.power_of_two ? ", powers of two" : "");
  if (uses_each ? numbers.each == 0 || numbers.each > kMostEach : numbers.each != 0)
    return node_error(node, "%u elements an invocation; %u to %u are possible", numbers.each, uses_each ? 1u : 0u,
                      uses_each ? kMostEach : 0u);
  return {};
}

Status check_subgroup(const LowerContext& context, const graph::Node& node, const Numbers& numbers) {
  LAPILLI_CHECK(check_numbers(context, node, numbers, {4, 128, 1, true}));
  if (numbers.local == context.caps.subgroup_size) return {};
  return node_error(node, "workgroups of %u invocations; this kernel's are subgroups, of %u", numbers.local,
                    context.caps.subgroup_size);
}

}  // namespace lapilli
