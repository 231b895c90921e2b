// Opens the Vulkan loader at run time.
#pragma once

#include "base/result.hpp"
#include "vulkan/api.hpp"

namespace lapilli::vulkan {

// With `get` the given function is used instead of a library. Else the library named by LAPILLI_VULKAN_LIBRARY (unless
// the environment is to be ignored), or the system's. The library stays open for the process: drivers do not like being
// unloaded, and opening it again is cheap.
Result<LoaderTable> open_loader(PFN_vkGetInstanceProcAddr get, bool ignore_environment = false);

}  // namespace lapilli::vulkan
