// Selection of a device: a pure function of the devices' descriptions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vulkan/device/assignment.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

// Higher is better. The kind of device comes first (discrete, integrated, virtual, other, CPU), then memory and
// features; a driver that translates to another API (Dozen) scores less than a native one. `reason` lists the summands.
int64_t score_device(const Capabilities& caps, std::string* reason);

// True if two drivers show one GPU: by its UUID, or by its address where they make UUIDs of their own.
bool same_gpu(const DeviceInfo& a, const DeviceInfo& b);
// 32 hexadecimal digits.
std::string uuid_digits(const Capabilities& caps);
// A line for each device, for messages.
std::string table_of(std::span<const DeviceInfo> devices);

// Fills score, score_reason, chosen, and the refusal of devices passed over. On entry refusal is set for unusable
// devices. Returns the index of the chosen one; an error names every device with its refusal. `select`: empty (the best
// usable one), an index (any whole number), a UUID, a PCI address, or a part of the name in any case.
Result<size_t> choose_device(std::span<DeviceInfo> devices, const std::string& select);

struct DeviceChoice {
  std::vector<size_t> devices;  // their places, at least one
  std::string why;              // what the environment says, for messages; empty: it was not asked, or says nothing
  bool free = false;            // nothing names the device: another may take its place
};

// Does the same for these as well: "assigned" (the device of `environment`, else the best), "all" (those of
// `environment`, else every GPU, else the best), and several of choose_device's words with commas between them.
Result<DeviceChoice> choose_devices(std::span<DeviceInfo> devices, const std::string& select,
                                    const Environment& environment);

// "name, driver and version", for messages.
std::string describe(const Capabilities& caps);

}  // namespace lapilli::vulkan
