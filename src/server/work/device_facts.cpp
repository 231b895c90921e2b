#include "server/work/device_facts.hpp"

#include <nlohmann/json.hpp>

namespace lapilli::server {

namespace {

using DeviceJson = nlohmann::json;

std::string text_of(const DeviceJson& object, const char* name) {
  const auto it = object.find(name);
  return it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

DeviceFacts facts_of_chosen(const DeviceJson& device) {
  DeviceFacts facts;
  facts.name = text_of(device, "name");
  const DeviceJson can = device.value("capabilities", DeviceJson::object());
  if (!can.is_object()) return facts;
  facts.driver = text_of(can, "driver_name") + " " + text_of(can, "driver_info");
  facts.type = text_of(can, "type");
  const auto heap = can.find("heap_bytes");
  if (heap != can.end() && heap->is_number_unsigned()) facts.heap_bytes = heap->get<uint64_t>();
  return facts;
}

}  // namespace

DeviceFacts read_device_facts(const DeviceOptions& options) {
  const lapilli_device_options c = detail::c_options(options);
  const char* told = nullptr;
  if (lapilli_devices_json(&c, &told) != LAPILLI_OK) return {};
  const DeviceJson all = DeviceJson::parse(told, nullptr, false);
  if (!all.is_array()) return {};
  for (const DeviceJson& device : all)
    if (device.is_object() && device.value("chosen", false)) return facts_of_chosen(device);
  return {};
}

}  // namespace lapilli::server
