// Compares two ways to run a plan on the very values that it is timed with: small cases miss errors that occur only at
// full size, such as a driver that leaves long loops.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/run/bind.hpp"

namespace lapilli {

// Returns the contents of a separate arena after one run. The plan was compiled with reuse_memory off, so that the
// arena holds every value.
Result<std::vector<uint32_t>> run_for_values(const std::shared_ptr<vulkan::Device>& device,
                                             const std::shared_ptr<const Plan>& plan, const MemoryMap& memory);
// Compares values of plans of one graph, up to rounding.
bool values_agree(const Plan& plan, const std::vector<uint32_t>& values, const std::vector<uint32_t>& expected);

}  // namespace lapilli
