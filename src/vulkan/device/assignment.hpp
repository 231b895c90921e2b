// The GPUs that the environment assigns to this process. Schedulers and vendors' runtimes name them by variables, which
// Vulkan ignores, in an order that is not Vulkan's.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

// Variables by name. One that is missing and an empty one differ: the latter assigns no GPU.
using Environment = std::map<std::string, std::string>;
// Those of the process that assigned_devices reads.
Environment process_environment();

struct Assignment {
  bool given = false;           // a variable says which GPUs this process has
  std::vector<size_t> devices;  // their places in the list of devices, in the assigned order; empty with `given`: none
  size_t own = 0;               // place in `devices` of the one that this task of several with one list takes
  std::string why;              // the variable and its value, for messages
};

// A pure function. An error if a GPU is assigned and none of Vulkan's devices is that one: no other may take its place.
//
// CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES with HIP_VISIBLE_DEVICES, and ZE_AFFINITY_MASK count the GPUs of their
// vendor that the process can see, so that they hold in a cgroup and outside of one. _CONDOR_AssignedGPUs comes next.
// SLURM_STEP_GPUS and SLURM_JOB_GPUS count those of the node: in a cgroup, where fewer can be seen, only their number
// says anything.
Result<Assignment> assigned_devices(std::span<const DeviceInfo> devices, const Environment& environment);

}  // namespace lapilli::vulkan
