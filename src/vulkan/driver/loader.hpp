// Opens the Vulkan loader at run time.
#pragma once

#include "base/result.hpp"
#include "vulkan/driver/api.hpp"

namespace lapilli::vulkan {

// Uses `get` instead of a library if given; otherwise the library named by LAPILLI_VULKAN_LIBRARY (unless the
// environment is ignored), or the system's. The library stays open for the process: drivers do not unload well, and
// opening it again is cheap.
Result<LoaderTable> open_loader(PFN_vkGetInstanceProcAddr get, bool ignore_environment = false);

}  // namespace lapilli::vulkan
