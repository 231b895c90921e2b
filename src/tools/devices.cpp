// Output of `lapilli devices`.
#include <nlohmann/json.hpp>

#include "ops/core/work_limit.hpp"
#include "tools/guard.hpp"
#include "tools/tools.hpp"
#include "vulkan/caps/capabilities_json.hpp"
#include "vulkan/device/choose.hpp"
#include "vulkan/device/device.hpp"
#include "vulkan/driver/driver_files.hpp"

namespace lapilli::tools {

namespace {

std::string hex_uuid(const std::array<uint8_t, 16>& uuid) {
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += format("%02x", uuid[i]);
  }
  return text;
}

std::string api_version(uint32_t v) { return format("%u.%u.%u", (v >> 22) & 0x7f, (v >> 12) & 0x3ff, v & 0xfff); }

const char* type_name(DeviceType type) {
  switch (type) {
    case DeviceType::integrated: return "integrated GPU";
    case DeviceType::discrete: return "discrete GPU";
    case DeviceType::virtual_gpu: return "virtual GPU";
    case DeviceType::cpu: return "CPU driver";
    case DeviceType::other: break;
  }
  return "other";
}

std::string bytes_text(uint64_t bytes) {
  if (bytes >= uint64_t{1} << 30) return format("%.1f GiB", static_cast<double>(bytes) / (1u << 30));
  return format("%.0f MiB", static_cast<double>(bytes) / (1u << 20));
}

// The device's capabilities beyond the minimum, in the words of the masks.
std::string extras(const Capabilities& caps) {
  std::string text;
  auto add = [&text](bool has, const std::string& name) {
    if (has) text += (text.empty() ? "" : ", ") + name;
  };
  add(caps.subgroup_size > 1, format("subgroups of %u", caps.subgroup_size));
  add(caps.arithmetic_fp16 || caps.storage_16bit, caps.arithmetic_fp16 ? "fp16" : "fp16 storage");
  add(caps.arithmetic_int8 || caps.storage_8bit, caps.arithmetic_int8 ? "int8" : "int8 storage");
  add(caps.integer_dot, "integer dot products");
  const auto& shape = caps.cooperative_matrix;
  add(has_cooperative_matrix(caps), format("cooperative matrices of %u x %u x %u", shape[0], shape[1], shape[2]));
  add(caps.timeline_semaphore, "timeline semaphores");
  add(caps.unified_memory, "unified memory");
  return text.empty() ? "the floor" : text;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string describe(const vulkan::DeviceInfo& device) {
  const Capabilities& caps = device.caps;
  std::string text = format("%s %u  %s\n", device.chosen ? "*" : " ", device.index, caps.device_name);
  auto line = [&text](const char* what, const std::string& value) {
    if (!value.empty()) text += format("      %-10s %s\n", what, value);
  };
  line("type", format("%s, Vulkan %s, %s memory", type_name(caps.type), api_version(caps.api_version),
                      bytes_text(caps.heap_bytes)));
  line("driver", caps.driver_name + (caps.driver_info.empty() ? "" : " " + caps.driver_info));
  line("uuid", hex_uuid(caps.uuid));
  line("pci", device.pci);
  line("has", extras(caps));
  line("quirks", join(caps.quirks));
  line("masks", join(caps.masks));
  line("score", format("%d", device.score) + (device.score_reason.empty() ? "" : ": " + device.score_reason));
  line(device.chosen ? "chosen" : "not taken", device.chosen ? "this one is used" : device.refusal);
  return text;
}

// The variables by which a scheduler chose; nothing if none did.
std::string assigned_by(std::vector<vulkan::DeviceInfo> devices, const std::string& select) {
  const auto choice = vulkan::choose_devices(devices, select, vulkan::process_environment());
  return choice && !choice->why.empty() ? "chosen by " + choice->why + "\n" : "";
}

// As where one device is opened: a driver may be installed where the loader does not look.
Result<vulkan::DeviceChoice> choose(std::vector<vulkan::DeviceInfo>& devices, const std::string& select) {
  auto found = vulkan::choose_devices(devices, select, vulkan::process_environment());
  if (found || found.error().code != ErrorCode::no_device) return found;
  return fail(ErrorCode::no_device, "%s; %s", found.error().message, vulkan::driver_files_text());
}

}  // namespace

std::string devices_json(const std::vector<vulkan::DeviceInfo>& devices) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const vulkan::DeviceInfo& device : devices) {
    nlohmann::ordered_json entry;
    entry["index"] = device.index;
    entry["name"] = device.caps.device_name;
    entry["uuid"] = hex_uuid(device.caps.uuid);
    entry["pci"] = device.pci;
    entry["chosen"] = device.chosen;
    entry["score"] = device.score;
    entry["score_reason"] = device.score_reason;
    entry["refusal"] = device.refusal;
    entry["work_limit"] = static_cast<uint64_t>(WorkLimit::of(device.caps).operations());
    entry["capabilities"] = nlohmann::ordered_json::parse(to_json(device.caps));
    list.push_back(std::move(entry));
  }
  // Names come from drivers and may hold any bytes.
  return list.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Outcome devices_table(const std::string& select, const std::string& caps) {
  return guarded("devices", [&]() -> Result<std::string> {
    vulkan::DeviceOptions options;
    options.select = select;
    options.mask = caps;
    LAPILLI_TRY(const auto devices, vulkan::list_devices(options));
    std::string text;
    for (const vulkan::DeviceInfo& device : devices) text += describe(device);
    return text + assigned_by(devices, select);
  });
}

FoundDevices find_devices(const std::string& select, const std::string& caps) {
  FoundDevices chosen;
  const Outcome outcome = guarded("devices", [&]() -> Result<std::string> {
    vulkan::DeviceOptions options;
    options.mask = caps;
    LAPILLI_TRY(auto devices, vulkan::survey_devices(options));
    LAPILLI_TRY(const auto choice, choose(devices, select));
    std::string names;
    for (const size_t i : choice.devices) {
      chosen.selects.push_back(std::to_string(devices[i].index));
      names += (names.empty() ? "" : ", ") + format("%u (%s)", devices[i].index, devices[i].caps.device_name);
    }
    return choice.why.empty() ? names : names + " by " + choice.why;
  });
  chosen.status = outcome.status;
  chosen.text = outcome.text;
  return chosen;
}

Outcome device_choice(const std::string& select, const std::string& caps) {
  return guarded("devices", [&]() -> Result<std::string> {
    vulkan::DeviceOptions options;
    options.select = select;
    options.mask = caps;
    LAPILLI_TRY(auto devices, vulkan::list_devices(options));
    LAPILLI_TRY(const auto chosen, choose(devices, select));
    return devices[chosen.devices.front()].caps.device_name;
  });
}

}  // namespace lapilli::tools
