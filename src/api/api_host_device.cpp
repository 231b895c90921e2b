// The C interface: a host's device, its requirements, and how work reaches it.
#include "api/handles.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;

namespace {

// The last result of lapilli_device_requirements on this thread.
struct KeptRequirements {
  lapilli::vulkan::HostRequirements asked;
  std::vector<const char*> extensions;
};
KeptRequirements& kept_requirements() {
  static thread_local KeptRequirements kept;
  return kept;
}

lapilli_requirements prompt_out(const KeptRequirements& kept) {
  const lapilli::vulkan::HostRequirements& asked = kept.asked;
  lapilli_requirements out{};
  out.usable = asked.refusal.empty();
  out.api_version = asked.api_version;
  out.queue_family = asked.queue_family;
  out.timeline_semaphore = asked.timeline_semaphore;
  out.storage_16bit = asked.storage_16bit;
  out.shader_float16 = asked.arithmetic_fp16;
  out.storage_8bit = asked.storage_8bit;
  out.shader_int8 = asked.arithmetic_int8;
  out.integer_dot_product = asked.integer_dot;
  out.subgroup_size_control = asked.subgroup_size_control;
  out.refusal = asked.refusal.empty() ? nullptr : asked.refusal.c_str();
  out.extensions = kept.extensions.data();
  out.extension_count = kept.extensions.size();
  return out;
}

Status read_extensions(const lapilli_host_device& given, std::vector<std::string>& out) {
  if (given.extension_count > 0 && !given.extensions) {
    return fail(ErrorCode::invalid_argument, "lapilli_host_device: %u extensions at a null pointer",
                given.extension_count);
  }
  for (size_t i = 0; i < given.extension_count; ++i) {
    if (!given.extensions[i]) {
      return fail(ErrorCode::invalid_argument, "lapilli_host_device: extension %u is null", i);
    }
    out.emplace_back(given.extensions[i]);
  }
  return {};
}

// Wraps the host's functions for the device.
void wire_callbacks(const lapilli_host_device& given, lapilli::vulkan::AdoptedDevice& out) {
  void* const user = given.user;
  if (const auto lock = given.lock_queue) out.lock_queue = [lock, user] { lock(user); };
  if (const auto unlock = given.unlock_queue) out.unlock_queue = [unlock, user] { unlock(user); };
  const auto submit = given.submit;
  if (!submit) return;
  out.submit = [submit, user](const lapilli::vulkan::SubmitRequest& request) {
    lapilli_submit_info info{};
    info.struct_size = sizeof info;
    info.fence = request.fence;
    info.submit_info = request.info;
    info.submission = reinterpret_cast<lapilli_submission*>(request.submission);
    submit(user, &info);
  };
}

Result<lapilli::vulkan::AdoptedDevice> read_host(const lapilli_host_device* host) {
  if (!host) return fail(ErrorCode::invalid_argument, "lapilli_device_adopt: host is null");
  lapilli_host_device given{};
  LAPILLI_CHECK(lapilli::api::read_struct(host, given, "lapilli_host_device"));
  lapilli::vulkan::AdoptedDevice out;
  LAPILLI_CHECK(read_extensions(given, out.device_extensions));
  out.get_instance_proc_addr = given.get_instance_proc_addr;
  out.instance = given.instance;
  out.physical_device = given.physical_device;
  out.device = given.device;
  out.queue = given.queue;
  out.queue_family = given.queue_family;
  out.api_version = given.api_version;
  out.timeline_semaphore = given.timeline_semaphore != 0;
  out.storage_16bit = given.storage_16bit != 0;
  out.arithmetic_fp16 = given.shader_float16 != 0;
  out.storage_8bit = given.storage_8bit != 0;
  out.arithmetic_int8 = given.shader_int8 != 0;
  out.integer_dot = given.integer_dot_product != 0;
  out.subgroup_size_control = given.subgroup_size_control != 0;
  out.append = given.append != 0;
  wire_callbacks(given, out);
  return out;
}

Status check_device(const lapilli_device* device, const char* where) {
  if (device) return {};
  return fail(ErrorCode::invalid_argument, "%s: device is null; adopt one first", where);
}

}  // namespace

extern "C" {

lapilli_status lapilli_device_requirements(void* get_instance_proc_addr, void* instance, void* physical_device,
                                           lapilli_requirements* requirements) {
  return guarded([&]() -> Status {
    KeptRequirements& kept = kept_requirements();
    LAPILLI_TRY(kept.asked, lapilli::vulkan::host_requirements(get_instance_proc_addr, instance, physical_device));
    kept.extensions.clear();
    for (const std::string& name : kept.asked.extensions) kept.extensions.push_back(name.c_str());
    return lapilli::api::write_struct(prompt_out(kept), requirements, "lapilli_requirements");
  });
}

lapilli_status lapilli_device_adopt(const lapilli_host_device* host, const lapilli_device_options* options,
                                    lapilli_device** device) {
  if (device) *device = nullptr;
  return guarded([&]() -> Status {
    if (!device) return fail(ErrorCode::invalid_argument, "lapilli_device_adopt: device is null");
    LAPILLI_TRY(const auto adopted, read_host(host));
    LAPILLI_TRY(const auto device_options, lapilli::api::read_opening_options(options));
    auto handle = std::make_unique<lapilli_device>();
    LAPILLI_TRY(auto made, lapilli::vulkan::Device::adopt(adopted, device_options));
    handle->place = std::make_shared<lapilli::api::ReplaceableDevice>(std::move(made), std::nullopt);
    *device = handle.release();
    return {};
  });
}

void lapilli_submission_done(lapilli_submission* submission, int32_t vk_result) {
  lapilli::vulkan::submission_done(reinterpret_cast<lapilli::vulkan::HostSubmission*>(submission), vk_result);
}

lapilli_status lapilli_device_append(lapilli_device* device, void* command_buffer, uint64_t budget_us,
                                     lapilli_appended* appended) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_device(device, "lapilli_device_append"));
    // Checks `appended` before appending anything, so that no serial is lost.
    lapilli_appended out{};
    LAPILLI_CHECK(lapilli::api::write_struct(out, appended, "lapilli_appended"));
    LAPILLI_TRY(const auto got, device->device()->append(command_buffer, budget_us));
    out.pieces = got.submissions;
    out.waiting = got.waiting;
    out.serial = got.serial;
    out.expected_us = static_cast<uint64_t>(got.expected_us);
    return lapilli::api::write_struct(out, appended, "lapilli_appended");
  });
}

lapilli_status lapilli_device_completed(lapilli_device* device, uint64_t serial) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_device(device, "lapilli_device_completed"));
    return device->device()->completed(serial);
  });
}

lapilli_status lapilli_device_dropped(lapilli_device* device, uint64_t serial) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check_device(device, "lapilli_device_dropped"));
    return device->device()->dropped(serial);
  });
}

}  // extern "C"
