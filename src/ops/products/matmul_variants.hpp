// The kernels of "matmul", and the order in which devices try them.
#pragma once

#include <vector>

#include "ops/products/matmul_lower.hpp"

namespace lapilli {

std::vector<Variant> matmul_variants(const Capabilities& caps, const graph::Graph& g, const graph::Node& node);
// The kernel of a variant; null if there is no such variant.
const MatmulKernel* matmul_kernel(uint32_t variant);

}  // namespace lapilli
