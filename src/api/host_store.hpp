// What the host gives a device to keep things between runs, and threads to make them with.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "base/store.hpp"
#include "lapilli/lapilli.h"
#include "vulkan/device.hpp"

namespace lapilli::api {

// Null if these options name none. The callbacks are copied; what `user` is must outlive the store.
Result<std::shared_ptr<Store>> store_of(const lapilli_device_options& options);
Result<vulkan::Workers> workers_of(const lapilli_device_options& options);

}  // namespace lapilli::api
