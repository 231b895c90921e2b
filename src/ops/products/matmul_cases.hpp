// Cases of "matmul", and helpers for other ops' cases with packed weights.
#pragma once

#include <vector>

#include "ops/core/case_util.hpp"
#include "ops/products/matmul.hpp"

namespace lapilli {

// All formats but fp32; each has its own kernels, and hence its own cases.
constexpr WeightFormat kNarrowFormats[] = {WeightFormat::bf16, WeightFormat::fp16, WeightFormat::int8,
                                           WeightFormat::int4};

// A tensor for a packed weight of this layout, and values for it in +-scale, with bias; `grid`: applies on_grid()
// before packing.
graph::TensorId add_packed(graph::Graph& g, const std::string& name, const WeightLayout& layout);
HostTensor packed_values(const WeightLayout& layout, CaseRandom& random, double scale, bool grid = false);
std::vector<OpCase> matmul_cases();

}  // namespace lapilli
