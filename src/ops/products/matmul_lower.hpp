// How a product becomes dispatches: slices by rows, by panels of the weight, by depth, and by heads or slots of a KV
// tensor, so that every binding stays within the device's limit.
#pragma once

#include <vector>

#include "ops/core/op.hpp"
#include "ops/core/tuning.hpp"
#include "ops/products/matmul.hpp"
#include "ops/rows/layer_norm.hpp"

namespace lapilli {

// What Numbers::each of a product's kernel counts: groups of four columns, each of another panel, that an invocation
// takes; or those that a workgroup takes, whose invocations share the depth.
enum class Each { none, of_invocation, of_workgroup };

// The kernels of one variant, and the shape of their workgroups.
struct MatmulKernel {
  static constexpr ShaderId kAbsent = ShaderId::count;  // a form that the kernel does not have

  const char* name = "";
  ShaderId plain{}, q_kv{}, q_kv_step{}, kv{}, kv_step{}, kv_spans{};
  uint32_t rows = 1;           // rows a workgroup computes
  uint32_t column_groups = 0;  // groups of four columns a workgroup computes; 0: as many as it has invocations
  Tuned tuned = Tuned::matmul_rows;
  LocalSizes sizes;
  bool subgroup = false;  // a workgroup is a subgroup, whatever `tuned` and `sizes` say
  Each each = Each::none;
  // Of those that normalize the rows of x themselves, where the product is one piece in depth and, in the split form,
  // in all; of what is not they leave the normalization to a dispatch in front, as the others do.
  ShaderId norm_plain = kAbsent, norm_q_kv_step = kAbsent;
  uint32_t subgroups = 0;  // of a workgroup whose subgroups multiply cooperative matrices
  bool gates = false;      // its plain form may gate the rows of x itself
  bool texels = false;     // W is read from where it is bound as texels
};

// Groups of four columns that a workgroup takes.
uint32_t column_groups(const MatmulKernel& kernel, const Numbers& numbers);
// The least that Numbers::each begins with: of two groups side by side 32 bytes are read, which some devices fetch as
// one; the rest of a longer cache line is read by the next workgroup, which runs at the same time.
constexpr uint32_t least_each(const MatmulKernel& kernel) { return kernel.each == Each::of_workgroup ? 2 : 1; }

Status lower_matmul(const LowerContext& context, const graph::Node& node, const MatmulKernel& kernel,
                    const Numbers& numbers, std::vector<Dispatch>& out);

}  // namespace lapilli
