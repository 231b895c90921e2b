// Examines a device: every variant of every op, many times, against the op's reference in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "vulkan/device.hpp"

namespace lapilli {

struct DoctorOptions {
  uint32_t runs = 100;  // of each case: the first is compared with the reference, the others with its bits
  uint32_t cases = 2;   // of each variant, the largest of the small ones
};

// What a variant does wrongly in a case.
struct KernelFinding {
  std::string op, variant, test, problem;
  bool floor = false;    // nothing is left to fall back to
  bool refused = false;  // the driver makes no pipeline of it, or its work fails
};
struct KernelReport {
  uint32_t ops = 0, variants = 0, cases = 0;
  uint64_t runs = 0;
  std::vector<KernelFinding> findings;  // one a variant: the first
  // Variants that ran in no small case of this device.
  std::vector<std::string> not_tried;
};

// `go_on` is asked before every op; false ends with ErrorCode::cancelled. An error if the device is lost, or has no
// memory; what a kernel does is no error.
Result<KernelReport> examine_kernels(const std::shared_ptr<vulkan::Device>& device, const DoctorOptions& options = {},
                                     const std::function<bool(uint32_t done, uint32_t total)>& go_on = {});

}  // namespace lapilli
