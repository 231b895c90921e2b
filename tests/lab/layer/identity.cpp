#include "identity.hpp"

#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>

#include "config.hpp"

namespace lapilli::lab {

namespace {

// The value of the device at this place, of several with '/' between them; "" if there is none.
std::string value_at(const char* key, size_t place) {
  std::stringstream values(Config::get().text(key));
  std::string value;
  for (size_t i = 0; i <= place; ++i)
    if (!std::getline(values, value, '/')) return "";
  return value;
}

// Hexadecimal digits; those that are missing are 0.
void read_uuid(const std::string& digits, uint8_t (&uuid)[VK_UUID_SIZE]) {
  for (size_t i = 0; i < VK_UUID_SIZE; ++i) {
    unsigned byte = 0;
    if (2 * i < digits.size()) std::sscanf(digits.substr(2 * i, 2).c_str(), "%x", &byte);
    uuid[i] = static_cast<uint8_t>(byte);
  }
}

void read_address(const std::string& address, VkPhysicalDevicePCIBusInfoPropertiesEXT& to) {
  std::sscanf(address.c_str(), "%x:%x:%x.%x", &to.pciDomain, &to.pciBus, &to.pciDevice, &to.pciFunction);
}

}  // namespace

bool offers_addresses() { return Config::get().has("addresses"); }

bool pretends_identity() { return offers_addresses() || Config::get().has("uuids"); }

void pretend_identity(void* chain, size_t place) {
  const std::string uuid = value_at("uuids", place), address = value_at("addresses", place);
  for (auto* s = static_cast<VkBaseOutStructure*>(chain); s; s = s->pNext) {
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES && !uuid.empty())
      read_uuid(uuid, reinterpret_cast<VkPhysicalDeviceIDProperties*>(s)->deviceUUID);
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES && !uuid.empty())
      read_uuid(uuid, reinterpret_cast<VkPhysicalDeviceVulkan11Properties*>(s)->deviceUUID);
    if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT && !address.empty())
      read_address(address, *reinterpret_cast<VkPhysicalDevicePCIBusInfoPropertiesEXT*>(s));
  }
}

}  // namespace lapilli::lab
