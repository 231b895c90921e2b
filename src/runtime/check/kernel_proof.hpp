// Proves kernels before a tuner times them: each runs cases of its op on the device, as in the self-test, but without
// reporting or refusing anything for other users.
#pragma once

#include "runtime/check/kernel_trials.hpp"

namespace lapilli {

// For each kernel: did a case run it with the reference's result? Waits for the device. A kernel that the driver
// refuses, or that no case runs, is not proven.
Result<std::vector<bool>> prove_kernels(const std::shared_ptr<vulkan::Device>& device,
                                        std::span<const KernelInTest> kernels);

}  // namespace lapilli
