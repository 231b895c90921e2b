// The C interface: memory held by a device, data kept between runs, and pauses.
#include "api/handles.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Status;
using lapilli::api::guarded;

namespace {

// Calls `body` with the device, routing messages to the device's log.
template <class Body>
lapilli_status with_device(const lapilli_device* device, const char* where, Body&& body) {
  return guarded([&]() -> Status {
    if (!device) return fail(ErrorCode::invalid_argument, "%s: device is null", where);
    const auto used = device->device();
    const lapilli::LogScope log(used->log_sink());
    return body(*used);
  });
}

// Success if all submissions are done; otherwise an error that says why not.
Status settled(lapilli::vulkan::Device& device) {
  if (device.settle()) return {};
  LAPILLI_CHECK(device.health());
  return fail(ErrorCode::timeout, "%s is still at work for what was submitted before", device.caps().device_name);
}

}  // namespace

extern "C" {

lapilli_status lapilli_device_get_usage(const lapilli_device* device, lapilli_device_usage* usage) {
  return with_device(device, "lapilli_device_get_usage", [&](const lapilli::vulkan::Device& used) {
    const lapilli::vulkan::MemoryUsage from = used.memory_usage();
    lapilli_device_usage to{};
    to.paused = used.is_paused() ? 1 : 0;
    to.held_bytes = from.held;
    to.weight_bytes = from.weights;
    to.session_bytes = from.sessions;
    to.transfer_bytes = from.transfers;
    to.peak_bytes = from.peak;
    to.left_bytes = from.left;
    return lapilli::api::write_struct(to, usage, "lapilli_device_usage");
  });
}

lapilli_status lapilli_device_store_cache(lapilli_device* device) {
  return with_device(device, "lapilli_device_store_cache", [](lapilli::vulkan::Device& used) -> Status {
    lapilli::api::keep(used);
    return {};
  });
}

lapilli_status lapilli_device_write_trace(lapilli_device* device) {
  return with_device(device, "lapilli_device_write_trace", [](lapilli::vulkan::Device& used) -> Status {
    if (lapilli::Timeline* const timeline = used.timeline()) return timeline->write();
    return fail(ErrorCode::invalid_argument, "lapilli_device_write_trace: the device was opened without a trace_file");
  });
}

lapilli_status lapilli_device_trim(lapilli_device* device) {
  return with_device(device, "lapilli_device_trim", [](lapilli::vulkan::Device& used) -> Status {
    used.trim();
    return used.health();
  });
}

lapilli_status lapilli_model_trim(lapilli_model* model) {
  return guarded([&]() -> Status {
    if (!model) return fail(ErrorCode::invalid_argument, "lapilli_model_trim: model is null");
    const auto used = model->model();
    const lapilli::LogScope log(used->device()->log_sink());
    used->give_back();
    used->device()->give_back_free();
    return used->device()->health();
  });
}

lapilli_status lapilli_device_pause(lapilli_device* device) {
  return with_device(device, "lapilli_device_pause",
                     [&](lapilli::vulkan::Device&) { return settled(*device->place->pause()); });
}

lapilli_status lapilli_device_resume(lapilli_device* device) {
  return with_device(device, "lapilli_device_resume", [&](lapilli::vulkan::Device&) {
    device->place->resume();
    return Status();
  });
}

}  // extern "C"
