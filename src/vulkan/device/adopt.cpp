// Devices that a host made and owns: requirements for making them, and adopting them.
#include <algorithm>

#include "base/log.hpp"
#include "vulkan/device/device_impl.hpp"
#include "vulkan/device/enables.hpp"

namespace lapilli::vulkan {
namespace {

std::string joined(const std::vector<std::string>& reasons) {
  std::string all;
  for (const std::string& reason : reasons) all += (all.empty() ? "" : "; ") + reason;
  return all;
}

// Errors in the host's description itself.
std::vector<std::string> faults_of(const AdoptedDevice& host) {
  std::vector<std::string> faults;
  const auto check = [&](bool good, const char* fault) {
    if (!good) faults.emplace_back(fault);
  };
  check(host.get_instance_proc_addr, "vkGetInstanceProcAddr is missing");
  check(host.instance, "the VkInstance is missing");
  check(host.physical_device, "the VkPhysicalDevice is missing");
  check(host.device, "the VkDevice is missing");
  check(host.queue || host.submit || host.append, "the VkQueue is missing (or a submit callback, or append)");
  check(!host.lock_queue == !host.unlock_queue, "both queue callbacks are needed, lock and unlock, or none");
  check(!host.submit || !host.lock_queue, "there is a submit callback, so that the queue is not locked by others");
  check(!host.append || (!host.submit && !host.lock_queue), "with append nothing is submitted: no queue callback");
  return faults;
}

// A feature that the host claims to have enabled.
struct Enabled {
  const char* feature;
  bool enabled, offered;
  uint32_t core;  // version in which it is core, without an extension
  const char* extension;
};

bool is_enabled(const AdoptedDevice& host, const char* extension) {
  const auto& names = host.device_extensions;
  return std::find(names.begin(), names.end(), extension) != names.end();
}

// The reason why the claim cannot be true; empty if it can.
std::string doubt_of(const Enabled& e, const AdoptedDevice& host, const Snapshot& s) {
  if (!e.enabled) return {};
  if (!e.offered) return format("%s is said to be enabled, but the device does not offer it", e.feature);
  if (s.caps.api_version >= e.core || is_enabled(host, e.extension)) return {};
  return format("%s needs %s or Vulkan %u.%u of instance and device", e.feature, e.extension,
                VK_API_VERSION_MAJOR(e.core), VK_API_VERSION_MINOR(e.core));
}

// Quirks may have cleared support for the last three although the host enabled them: taken as offered.
std::vector<std::string> doubts_of(const AdoptedDevice& host, const Snapshot& s) {
  const Capabilities& c = s.caps;
  const uint32_t v12 = VK_API_VERSION_1_2, v13 = VK_API_VERSION_1_3;
  const Enabled all[] = {
      {"timelineSemaphore", host.timeline_semaphore, c.timeline_semaphore, v12,
       VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME},
      {"storageBuffer16BitAccess", host.storage_16bit, c.storage_16bit, VK_API_VERSION_1_1, ""},
      {"storageBuffer8BitAccess", host.storage_8bit, c.storage_8bit, v12, VK_KHR_8BIT_STORAGE_EXTENSION_NAME},
      {"shaderInt8", host.arithmetic_int8, c.arithmetic_int8, v12, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME},
      {"shaderFloat16", host.arithmetic_fp16, true, v12, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME},
      {"shaderIntegerDotProduct", host.integer_dot, true, v13, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME},
      {"subgroupSizeControl", host.subgroup_size_control, true, v13, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME},
  };
  std::vector<std::string> doubts;
  for (const Enabled& e : all)
    if (std::string doubt = doubt_of(e, host, s); !doubt.empty()) doubts.push_back(std::move(doubt));
  constexpr const char* kSubset = "VK_KHR_portability_subset";
  if (s.has(kSubset) && !is_enabled(host, kSubset))
    doubts.push_back(format("%s is offered, so that it must be enabled", kSubset));
  return doubts;
}

// Supported is not enabled: only features that the host enabled count.
void keep_enabled(const AdoptedDevice& host, Capabilities& c) {
  c.timeline_semaphore &= host.timeline_semaphore;
  c.storage_16bit &= host.storage_16bit;
  c.arithmetic_fp16 &= host.arithmetic_fp16;
  c.storage_8bit &= host.storage_8bit;
  c.arithmetic_int8 &= host.arithmetic_int8;
  c.integer_dot &= host.integer_dot;
  c.subgroup_size_control &= host.subgroup_size_control;
  c.cooperative_matrix = {};  // a host has no way to say that it enabled them
  c.memory_budget &= is_enabled(host, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
}

Result<Snapshot> look_at(const AdoptedDevice& host, const Instance& instance, const DeviceOptions& options) {
  Snapshot s = take_snapshot(instance, static_cast<VkPhysicalDevice>(host.physical_device), host.queue_family);
  std::vector<std::string> reasons;
  for (const std::string& refusal : {s.refusal, refused_cpu(options, s.caps)})
    if (!refusal.empty()) reasons.push_back(refusal);
  if (reasons.empty()) reasons = doubts_of(host, s);
  if (reasons.empty()) return s;
  return fail(ErrorCode::no_device, "device '%s' cannot be adopted: %s", s.caps.device_name, joined(reasons));
}

Status check_host(const AdoptedDevice& host) {
  const std::vector<std::string> faults = faults_of(host);
  if (!faults.empty())
    return fail(ErrorCode::invalid_argument, "the host's device cannot be adopted: %s", joined(faults));
  const uint32_t version = host.api_version ? host.api_version : VK_API_VERSION_1_0;
  if (version >= VK_API_VERSION_1_1) return {};
  return fail(ErrorCode::no_device,
              "the host's instance was made for Vulkan %u.%u; 1.1 is needed (apiVersion of VkApplicationInfo)",
              VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
}

}  // namespace

Result<std::shared_ptr<Device>> Device::adopt(const AdoptedDevice& host, const DeviceOptions& options) {
  const LogScope scope(options.log);
  LAPILLI_CHECK(check_options(options));
  LAPILLI_CHECK(check_host(host));
  LAPILLI_TRY(auto instance, borrow_instance(reinterpret_cast<PFN_vkGetInstanceProcAddr>(host.get_instance_proc_addr),
                                             static_cast<VkInstance>(host.instance), host.api_version));
  instance->debug_utils = options.debug_names || options.validation;  // the functions are null if it is not enabled
  LAPILLI_TRY(Snapshot s, look_at(host, *instance, options));
  keep_enabled(host, s.caps);
  std::shared_ptr<Device> device(new Device);
  device->impl_ = std::make_unique<Impl>();
  device->impl_->log = options.log;
  device->impl_->timeline = options.timeline;
  Context& c = device->impl_->context;
  LAPILLI_TRY(c.caps, apply_mask(s.caps, mask_of(options)));
  c.instance = std::move(instance);
  c.name = c.caps.device_name;
  c.secondary = host.append;
  c.device = static_cast<VkDevice>(host.device);
  c.queue = static_cast<VkQueue>(host.queue);
  LAPILLI_CHECK(start_device(*device->impl_, s, options,
                             {.lock = host.lock_queue,
                              .unlock = host.unlock_queue,
                              .timeout_s = timeout_of(options, s.caps),
                              .submit = host.submit,
                              .append = host.append}));
  return device;
}

// Assumes an instance for Vulkan 1.1, whatever its version: each feature then comes with its extension, which newer
// instances may enable, too.
Result<HostRequirements> host_requirements(void* get_instance_proc_addr, void* instance, void* physical_device) {
  if (!get_instance_proc_addr || !instance || !physical_device) {
    return fail(ErrorCode::invalid_argument,
                "the requirements need vkGetInstanceProcAddr, a VkInstance and a VkPhysicalDevice");
  }
  LAPILLI_TRY(const auto borrowed, borrow_instance(reinterpret_cast<PFN_vkGetInstanceProcAddr>(get_instance_proc_addr),
                                                   static_cast<VkInstance>(instance), VK_API_VERSION_1_1));
  Snapshot s = take_snapshot(*borrowed, static_cast<VkPhysicalDevice>(physical_device));
  s.caps.cooperative_matrix = {};
  HostRequirements out;
  out.refusal = s.refusal;
  out.api_version = VK_API_VERSION_1_1;
  out.queue_family = s.queue_family;
  if (!s.refusal.empty()) return out;
  const Enables enables(s, s.caps);
  out.extensions.assign(enables.extensions.begin(), enables.extensions.end());
  out.timeline_semaphore = s.caps.timeline_semaphore;
  out.storage_16bit = s.caps.storage_16bit;
  out.arithmetic_fp16 = s.caps.arithmetic_fp16;
  out.storage_8bit = s.caps.storage_8bit;
  out.arithmetic_int8 = s.caps.arithmetic_int8;
  out.integer_dot = s.caps.integer_dot;
  out.subgroup_size_control = s.caps.subgroup_size_control;
  return out;
}

}  // namespace lapilli::vulkan
