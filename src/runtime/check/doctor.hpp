// Examines a device: every variant of every op, many times, against the op's reference in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

struct DoctorOptions {
  uint32_t runs = 100;  // per case: the first is compared with the reference, the others with the first's bits
  uint32_t cases = 2;   // per variant, the largest of the small ones
};

// A variant's failure in a case.
struct KernelFinding {
  std::string op, variant, test, problem;
  bool floor = false;    // there is nothing to fall back to
  bool refused = false;  // the driver refuses its pipeline, or its work fails
};
struct KernelReport {
  uint32_t ops = 0, variants = 0, cases = 0;
  uint64_t runs = 0;
  std::vector<KernelFinding> findings;  // one per variant: the first
  // Variants that none of this device's small cases ran.
  std::vector<std::string> not_tried;
};

// Calls `go_on` before every op; false ends with ErrorCode::cancelled. Fails if the device is lost or out of memory; a
// wrong kernel is not an error.
Result<KernelReport> examine_kernels(const std::shared_ptr<vulkan::Device>& device, const DoctorOptions& options = {},
                                     const std::function<bool(uint32_t done, uint32_t total)>& go_on = {});

}  // namespace lapilli
