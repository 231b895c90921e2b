// Kernels before a tuner times them: each runs cases of its op on the device, like the self-test's, but nobody is told
// and nothing is refused to anybody else.
#pragma once

#include "runtime/check/kernel_trials.hpp"

namespace lapilli {

// Which of them a case ran that came out like the reference; waits for the device. Of a kernel that the driver refuses,
// or that no case runs, nothing is proven.
Result<std::vector<bool>> prove_kernels(const std::shared_ptr<vulkan::Device>& device,
                                        std::span<const KernelInTest> kernels);

}  // namespace lapilli
