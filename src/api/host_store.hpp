// The host's store for a device's data between runs, and the threads it lends.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "base/store.hpp"
#include "lapilli/lapilli.h"
#include "vulkan/device/device.hpp"

namespace lapilli::api {

// Null if these options name none. The callbacks are copied; `user` must outlive the store.
Result<std::shared_ptr<Store>> store_of(const lapilli_device_options& options);
Result<vulkan::Workers> workers_of(const lapilli_device_options& options);

}  // namespace lapilli::api
