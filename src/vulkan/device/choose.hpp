// Selection of a device: a pure function of the devices' descriptions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

// Higher is better. The kind of device comes first (discrete, integrated, virtual, other, CPU), then memory and
// features; a driver that translates to another API (Dozen) scores less than a native one. `reason` lists the summands.
int64_t score_device(const Capabilities& caps, std::string* reason);

// Fills score, score_reason, chosen, and the refusal of devices passed over. On entry refusal is set for unusable
// devices. Returns the index of the chosen one; an error names every device with its refusal. `select`: empty (the best
// usable one), an index (any whole number), a UUID, or a part of the name in any case.
Result<size_t> choose_device(std::span<DeviceInfo> devices, const std::string& select);

// "name, driver and version", for messages.
std::string describe(const Capabilities& caps);

}  // namespace lapilli::vulkan
