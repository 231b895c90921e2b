// Two ways to run a plan on the very values that it is timed with: small cases do not show what goes wrong at a size
// alone, such as a driver that leaves long loops.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/run/bind.hpp"

namespace lapilli {

// What one run leaves in an arena of its own. The plan was compiled with reuse_memory off, so that it is every value.
Result<std::vector<uint32_t>> run_for_values(const std::shared_ptr<vulkan::Device>& device,
                                             const std::shared_ptr<const Plan>& plan, const MemoryMap& memory);
// But for rounding, of plans of one graph.
bool values_agree(const Plan& plan, const std::vector<uint32_t>& values, const std::vector<uint32_t>& expected);

}  // namespace lapilli
