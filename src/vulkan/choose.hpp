// Which device to take: a pure function of what the devices are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vulkan/device.hpp"

namespace lapilli::vulkan {

// Higher is better. Kind of device first (discrete, integrated, virtual, other, CPU), then memory and features; a
// driver that translates to another API (Dozen) counts less than a native one. `reason` lists the summands.
int64_t score_device(const Capabilities& caps, std::string* reason);

// Fills score, score_reason, chosen, and refusal of those passed over. Comes with refusal set for devices that cannot
// be used. Returns the position of the chosen one; an error names every device with its refusal. `select`: empty (the
// best usable one), an index (as every whole number is), a UUID, or a part of the name in any case.
Result<size_t> choose_device(std::span<DeviceInfo> devices, const std::string& select);

// "name, driver and its version", for messages.
std::string describe(const Capabilities& caps);

}  // namespace lapilli::vulkan
