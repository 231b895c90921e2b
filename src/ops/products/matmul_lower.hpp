// Lowers a product to dispatches: slices by rows, by panels of the weight, by depth, and by heads or slots of a KV
// tensor, so that every binding stays within the device's limit.
#pragma once

#include <vector>

#include "ops/core/op.hpp"
#include "ops/core/tuning.hpp"
#include "ops/products/matmul.hpp"
#include "ops/rows/layer_norm.hpp"

namespace lapilli {

// The meaning of Numbers::each for a product's kernel: groups of four columns, each in a different panel, per
// invocation; or per workgroup, whose invocations share the depth.
enum class Each { none, of_invocation, of_workgroup };

// The kernels of one variant, and the shape of their workgroups.
struct MatmulKernel {
  static constexpr ShaderId kAbsent = ShaderId::count;  // a form that the kernel does not have

  const char* name = "";
  ShaderId plain{}, q_kv{}, q_kv_step{}, kv{}, kv_step{}, kv_spans{};
  uint32_t rows = 1;           // rows per workgroup
  uint32_t column_groups = 0;  // groups of four columns per workgroup; 0: as many as it has invocations
  Tuned tuned = Tuned::matmul_rows;
  LocalSizes sizes;
  bool subgroup = false;  // a workgroup is a subgroup, whatever `tuned` and `sizes` say
  Each each = Each::none;
  // Kernels that normalize the rows of x themselves, used where the product is one piece in depth and, in the split
  // form, altogether; otherwise a separate dispatch normalizes first, as for other kernels.
  ShaderId norm_plain = kAbsent, norm_q_kv_step = kAbsent;
  uint32_t subgroups = 0;  // per workgroup, for kernels whose subgroups multiply cooperative matrices
  bool gates = false;      // its plain form can gate the rows of x itself
  bool texels = false;     // W is read through its texel binding
};

// Groups of four columns per workgroup.
uint32_t column_groups(const MatmulKernel& kernel, const Numbers& numbers);
// The initial minimum of Numbers::each: two adjacent groups read 32 bytes, which some devices fetch at once; the next
// workgroup, which runs at the same time, reads the rest of a longer cache line.
constexpr uint32_t least_each(const MatmulKernel& kernel) { return kernel.each == Each::of_workgroup ? 2 : 1; }

Status lower_matmul(const LowerContext& context, const graph::Node& node, const MatmulKernel& kernel,
                    const Numbers& numbers, std::vector<Dispatch>& out);

}  // namespace lapilli
