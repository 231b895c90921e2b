#include "vulkan/device.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"
#include "base/path.hpp"
#include "vulkan/choose.hpp"
#include "vulkan/device_impl.hpp"

namespace lapilli::vulkan {
namespace {

std::string mask_of(const DeviceOptions& options) {
  if (!options.mask.empty()) return options.mask;
  return environment("LAPILLI_CAPS");
}

// Everything that is known before a device is made.
struct Survey {
  std::shared_ptr<Instance> instance;
  std::vector<Snapshot> snapshots;
  std::vector<DeviceInfo> infos;  // masked capabilities, same order
};

Result<Survey> survey(const DeviceOptions& options) {
  Survey s;
  InstanceOptions io;
  io.validation = options.validation;
  io.get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(options.get_instance_proc_addr);
  LAPILLI_TRY(s.instance, create_instance(io));
  LAPILLI_TRY(const auto devices, physical_devices(*s.instance));
  const std::string mask = mask_of(options);
  for (const VkPhysicalDevice d : devices) {
    s.snapshots.push_back(take_snapshot(*s.instance, d));
    DeviceInfo info;
    info.index = static_cast<uint32_t>(s.infos.size());
    LAPILLI_TRY(info.caps, apply_mask(s.snapshots.back().caps, mask));
    info.refusal = s.snapshots.back().refusal;
    s.infos.push_back(std::move(info));
  }
  return s;
}

// Switches on exactly what the masked capabilities use, so that validation finds a variant that uses more.
struct Enables {
  VkPhysicalDevice16BitStorageFeatures storage16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDevice8BitStorageFeatures storage8{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features small{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  VkPhysicalDeviceSubgroupSizeControlFeatures size{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  std::vector<const char*> extensions;

  Enables(const Snapshot& s, const Capabilities& caps) {
    const uint32_t version = s.caps.api_version;
    const auto extension = [&](const char* name) {
      if (s.has(name)) extensions.push_back(name);
    };
    const auto feature = [&](auto& next, uint32_t core, const char* name) {
      next.pNext = features.pNext;
      features.pNext = &next;
      if (version < core) extension(name);
    };
    extension("VK_KHR_portability_subset");  // must be enabled where it is offered
    if (caps.memory_budget) extension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
    if (caps.storage_16bit) {
      storage16.storageBuffer16BitAccess = VK_TRUE;
      feature(storage16, VK_API_VERSION_1_1, "");
    }
    if (caps.storage_8bit) {
      storage8.storageBuffer8BitAccess = VK_TRUE;
      feature(storage8, VK_API_VERSION_1_2, VK_KHR_8BIT_STORAGE_EXTENSION_NAME);
    }
    if (caps.arithmetic_fp16 || caps.arithmetic_int8) {
      small.shaderFloat16 = caps.arithmetic_fp16;
      small.shaderInt8 = caps.arithmetic_int8;
      feature(small, VK_API_VERSION_1_2, VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
    }
    if (caps.timeline_semaphore) {
      timeline.timelineSemaphore = VK_TRUE;
      feature(timeline, VK_API_VERSION_1_2, VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME);
    }
    if (caps.integer_dot) {
      dot.shaderIntegerDotProduct = VK_TRUE;
      feature(dot, VK_API_VERSION_1_3, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
    }
    if (caps.subgroup_size_control) {
      size.subgroupSizeControl = VK_TRUE;
      feature(size, VK_API_VERSION_1_3, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    }
  }
  Enables(const Enables&) = delete;
  Enables& operator=(const Enables&) = delete;
};

Status make_logical_device(Context& c, const Snapshot& s) {
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = s.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  const Enables enables(s, c.caps);
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &enables.features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(enables.extensions.size());
  info.ppEnabledExtensionNames = enables.extensions.data();
  VkDevice device = VK_NULL_HANDLE;
  const VkResult r = c.instance->vk.CreateDevice(s.handle, &info, nullptr, &device);
  if (r != VK_SUCCESS || !device) {
    return vk_error(r == VK_SUCCESS ? VK_ERROR_INITIALIZATION_FAILED : r, "making a Vulkan device of " + c.name);
  }
  c.device = device;
  c.owned = true;
  return {};
}

// The rest is alike for made and adopted devices.
Status start(Device::Impl& impl, const Snapshot& s, Submitter::Options queue) {
  Context& c = impl.context;
  c.physical = s.handle;
  c.timestamp_bits = s.timestamp_bits;
  c.main_heap = s.main_heap;
  c.memory = s.memory;
  auto table = load_device_table(c.instance->vk.GetDeviceProcAddr, c.device);
  if (!table) {
    // Nothing but the device itself can be destroyed.
    if (c.owned) {
      const auto destroy =
          reinterpret_cast<PFN_vkDestroyDevice>(c.instance->vk.GetDeviceProcAddr(c.device, "vkDestroyDevice"));
      if (destroy) destroy(c.device, nullptr);
      c.device = VK_NULL_HANDLE;
    }
    return std::move(table).error().in(c.name);
  }
  c.vk = *table;
  if (!c.vk.WaitSemaphores || !c.vk.GetSemaphoreCounterValue) c.caps.timeline_semaphore = false;
  if (!c.instance->debug_utils) c.vk.CmdInsertDebugUtilsLabelEXT = nullptr, c.vk.SetDebugUtilsObjectNameEXT = nullptr;
  if (!c.queue) c.vk.GetDeviceQueue(c.device, s.queue_family, 0, &c.queue);
  if (!c.queue) return fail(ErrorCode::no_device, "%s gave no queue", c.name.c_str());
  c.queue_family = s.queue_family;
  impl.memory = std::make_unique<MemoryPool>(c);
  impl.pipelines = std::make_unique<PipelineStore>(c);
  impl.queue = std::make_unique<Submitter>(c);
  impl.staging = std::make_unique<Staging>(c, *impl.memory, *impl.queue);
  LAPILLI_CHECK(impl.queue->init(std::move(queue)));
  return impl.pipelines->init();
}

// `caps` before any mask: a CPU driver stays slow under all of them.
double timeout_of(const DeviceOptions& options, const Capabilities& caps) {
  if (options.wait_timeout_s > 0) return options.wait_timeout_s;
  return caps.type == DeviceType::cpu ? 600 : 30;
}

}  // namespace

Result<std::vector<DeviceInfo>> list_devices(const DeviceOptions& options) {
  LAPILLI_TRY(Survey s, survey(options));
  const auto chosen = choose_device(s.infos, options.select);
  // Nothing usable, or nothing of that name, is still a list worth showing.
  if (!chosen && chosen.error().code != ErrorCode::no_device) return chosen.error();
  return std::move(s.infos);
}

Result<std::shared_ptr<Device>> Device::create(const DeviceOptions& options) {
  LAPILLI_TRY(Survey s, survey(options));
  std::vector<DeviceInfo> infos = s.infos;
  while (true) {
    LAPILLI_TRY(const size_t i, choose_device(infos, options.select));
    std::shared_ptr<Device> device(new Device);
    device->impl_ = std::make_unique<Impl>();
    Context& c = device->impl_->context;
    c.instance = s.instance;
    c.caps = s.infos[i].caps;
    c.name = c.caps.device_name;
    Status status = make_logical_device(c, s.snapshots[i]);
    if (status) status = start(*device->impl_, s.snapshots[i], {.timeout_s = timeout_of(options, s.snapshots[i].caps)});
    if (status) {
      if (s.snapshots[i].caps.type == DeviceType::cpu && options.select.empty()) {
        log(LogLevel::note,
            "no GPU with Vulkan was found: running on the CPU through " + describe(c.caps) + "; right, but slower");
      }
      return device;
    }
    if (!options.select.empty()) return std::move(status).error();
    // A driver that fails to start is passed over like one that is not there.
    s.infos[i].refusal = status.error().message;
    infos = s.infos;
    const bool more = std::any_of(infos.begin(), infos.end(), [](const DeviceInfo& d) { return d.refusal.empty(); });
    if (!more) return std::move(status).error();
    log(LogLevel::warning, status.error().message + "; trying the next device");
  }
}

Result<std::shared_ptr<Device>> Device::adopt(const AdoptedDevice& host, const DeviceOptions& options) {
  if (!host.get_instance_proc_addr || !host.instance || !host.physical_device || !host.device || !host.queue) {
    return fail(ErrorCode::invalid_argument,
                "adopting a device needs vkGetInstanceProcAddr, instance, physical device, device and queue");
  }
  if (!host.lock_queue != !host.unlock_queue) {
    return fail(ErrorCode::invalid_argument, "adopting a device needs both queue callbacks or none");
  }
  const uint32_t version = host.api_version ? host.api_version : VK_API_VERSION_1_0;
  if (version < VK_API_VERSION_1_1) {
    return fail(ErrorCode::no_device,
                "the host's instance was made for Vulkan %u.%u; 1.1 is needed (apiVersion of "
                "VkApplicationInfo)",
                VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  }
  LAPILLI_TRY(auto instance, borrow_instance(reinterpret_cast<PFN_vkGetInstanceProcAddr>(host.get_instance_proc_addr),
                                             static_cast<VkInstance>(host.instance), version));
  Snapshot s = take_snapshot(*instance, static_cast<VkPhysicalDevice>(host.physical_device), host.queue_family);
  if (!s.refusal.empty()) {
    return fail(ErrorCode::no_device, "device '%s' cannot be adopted: %s", s.caps.device_name.c_str(),
                s.refusal.c_str());
  }
  // Supported is not enabled: only what the host says counts.
  const auto enabled = [&](const char* name) {
    return std::find(host.device_extensions.begin(), host.device_extensions.end(), name) !=
           host.device_extensions.end();
  };
  s.caps.timeline_semaphore &= host.timeline_semaphore;
  s.caps.storage_16bit &= host.storage_16bit;
  s.caps.arithmetic_fp16 &= host.arithmetic_fp16;
  s.caps.storage_8bit &= host.storage_8bit;
  s.caps.arithmetic_int8 &= host.arithmetic_int8;
  s.caps.integer_dot &= host.integer_dot;
  s.caps.memory_budget &= enabled(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  s.caps.subgroup_size_control = false;
  std::shared_ptr<Device> device(new Device);
  device->impl_ = std::make_unique<Impl>();
  Context& c = device->impl_->context;
  LAPILLI_TRY(c.caps, apply_mask(s.caps, mask_of(options)));
  c.instance = std::move(instance);
  c.name = c.caps.device_name;
  c.device = static_cast<VkDevice>(host.device);
  c.queue = static_cast<VkQueue>(host.queue);
  LAPILLI_CHECK(
      start(*device->impl_, s,
            {.lock = host.lock_queue, .unlock = host.unlock_queue, .timeout_s = timeout_of(options, s.caps)}));
  return device;
}

// Hung devices, for good: a list that is never freed. Allocates nothing, as destructors must not.
void Device::park(std::unique_ptr<Impl> impl) noexcept {
  static std::mutex mutex;
  static Impl* parked = nullptr;
  const std::lock_guard lock(mutex);
  impl->next_parked.reset(parked);
  parked = impl.release();
}

Device::~Device() {
  if (!impl_) return;
  Context& c = impl_->context;
  if (!c.device) return;
  if (impl_->queue && !impl_->queue->drain(impl_->queue->timeout_s())) {
    try {
      log(LogLevel::warning, c.name + " is still at work: its memory is kept, as freeing it could crash");
    } catch (...) {  // no memory for the message
    }
    park(std::move(impl_));
    return;
  }
  c.completed = c.submitted.load();
  c.collect();
  impl_->staging.reset();
  impl_->pipelines.reset();
  impl_->queue.reset();
  impl_->memory.reset();
  if (c.owned && c.vk.DestroyDevice) c.vk.DestroyDevice(c.device, nullptr);
}

const Capabilities& Device::caps() const { return impl_->context.caps; }
Status Device::health() const { return impl_->context.health(); }

Result<Buffer> Device::make_buffer(uint64_t bytes, MemoryUse use, const char* label) {
  LAPILLI_CHECK(health());
  if (impl_->context.completed < impl_->context.submitted) {
    LAPILLI_CHECK(impl_->queue->poll());  // gives back what was freed meanwhile
  }
  Buffer buffer;
  LAPILLI_TRY(buffer.impl_, make_buffer_impl(impl_->context, *impl_->memory, bytes, use, label ? label : ""));
  buffer.impl_->keep = shared_from_this();
  return buffer;
}

namespace {

Status check_range(const Buffer& buffer, uint64_t offset, uint64_t bytes, const char* what) {
  if (!buffer) return fail(ErrorCode::invalid_argument, "%s: an empty Buffer", what);
  if (offset <= buffer.size() && bytes <= buffer.size() - offset) return {};
  return fail(ErrorCode::invalid_argument, "%s: bytes %llu + %llu leave a buffer of %llu", what,
              static_cast<unsigned long long>(offset), static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(buffer.size()));
}

}  // namespace

// Mapped memory is touched after what was submitted before is done, as a staged copy would be.
Status Device::write(const Buffer& buffer, uint64_t offset, std::span<const std::byte> bytes,
                     std::optional<Ticket> after) {
  LAPILLI_CHECK(health());
  LAPILLI_CHECK(check_range(buffer, offset, bytes.size(), "write"));
  if (bytes.empty()) return {};
  if (!buffer.mapped()) return impl_->staging->write(*buffer.impl(), offset, bytes);
  LAPILLI_CHECK(impl_->queue->wait(after.value_or(impl_->queue->last())));
  std::memcpy(buffer.mapped() + offset, bytes.data(), bytes.size());
  return buffer.flush(offset, bytes.size());
}

Status Device::read(const Buffer& buffer, uint64_t offset, std::span<std::byte> bytes, std::optional<Ticket> after) {
  LAPILLI_CHECK(health());
  LAPILLI_CHECK(check_range(buffer, offset, bytes.size(), "read"));
  if (bytes.empty()) return {};
  if (!buffer.mapped()) return impl_->staging->read(*buffer.impl(), offset, bytes);
  LAPILLI_CHECK(impl_->queue->wait(after.value_or(impl_->queue->last())));
  LAPILLI_CHECK(buffer.invalidate(offset, bytes.size()));
  std::memcpy(bytes.data(), buffer.mapped() + offset, bytes.size());
  return {};
}

Status Device::zero(const Buffer& buffer) {
  LAPILLI_CHECK(health());
  LAPILLI_CHECK(check_range(buffer, 0, 0, "zero"));
  if (!buffer.mapped()) return impl_->staging->zero(*buffer.impl());
  LAPILLI_CHECK(impl_->queue->wait(impl_->queue->last()));
  std::memset(buffer.mapped(), 0, buffer.size());
  impl_->context.filled_bytes += buffer.size();
  return buffer.flush(0, buffer.size());
}

Result<std::vector<const Pipeline*>> Device::pipelines(std::span<const PipelineRequest> requests) {
  return impl_->pipelines->get(requests);
}

namespace {

// Vulkan leaves it undefined what a recording for single use does that is submitted while it is pending.
Status check_idle(Submitter& queue, const CommandRecording::Impl& recording, std::span<const VkCommandBuffer> before) {
  LAPILLI_TRY(const bool idle, queue.done(recording.ticket.load(std::memory_order_relaxed)));
  if (idle && std::find(before.begin(), before.end(), recording.commands) == before.end()) return {};
  return fail(ErrorCode::internal, "submit: a recording for single use is still in flight: wait for its ticket");
}

std::vector<std::shared_ptr<const TracedRecording>> traced_of(std::span<const CommandRecording* const> recordings) {
  std::vector<std::shared_ptr<const TracedRecording>> traced;
  for (const CommandRecording* r : recordings)
    if (r->impl()->trace) traced.push_back(r->impl()->trace->commands);
  return traced;
}

}  // namespace

Result<Ticket> Device::submit(std::span<const CommandRecording* const> recordings) {
  std::vector<VkCommandBuffer> buffers;
  buffers.reserve(recordings.size());
  for (const CommandRecording* r : recordings) {
    if (!r || !r->impl() || !r->impl()->complete || r->impl()->context != &impl_->context) {
      return fail(ErrorCode::invalid_argument, "submit: a recording of this device that was ended is needed");
    }
    if (!r->impl()->replayed) LAPILLI_CHECK(check_idle(*impl_->queue, *r->impl(), buffers));
    buffers.push_back(r->impl()->commands);
  }
  Trace* const trace = impl_->context.trace.get();
  const auto order = Trace::hold(trace);
  LAPILLI_TRY(const Ticket ticket, impl_->queue->submit(buffers));
  if (trace) trace->submitted_held(ticket, traced_of(recordings));
  for (const CommandRecording* r : recordings) r->impl()->ticket.store(ticket, std::memory_order_relaxed);
  return ticket;
}

Result<bool> Device::done(Ticket ticket) { return impl_->queue->done(ticket); }
Status Device::wait(Ticket ticket) { return impl_->queue->wait(ticket); }
bool Device::settle() { return impl_->queue->settle(); }

uint64_t Device::memory_left() const { return impl_->memory->memory_left(); }

std::shared_ptr<void> Device::companion(const std::function<std::shared_ptr<void>()>& make) {
  std::lock_guard lock(impl_->companion_mutex);
  if (!impl_->companion) impl_->companion = make();
  return impl_->companion;
}

DeviceCounters Device::counters() const {
  const Context& c = impl_->context;
  DeviceCounters n;
  n.pipelines_created = c.pipelines_created;
  n.submissions = c.submissions;
  n.waits = c.waits;
  n.buffers = c.buffers;
  n.allocations = c.allocations;
  n.device_bytes = impl_->memory->bytes();
  n.device_bytes_peak = impl_->memory->peak();
  n.staged_bytes = c.staged_bytes;
  n.filled_bytes = c.filled_bytes;
  return n;
}

}  // namespace lapilli::vulkan
