#include "vulkan/device/device.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "base/log_once.hpp"
#include "base/path.hpp"
#include "vulkan/device/choose.hpp"
#include "vulkan/device/device_impl.hpp"
#include "vulkan/device/enables.hpp"
#include "vulkan/driver/driver_files.hpp"

namespace lapilli::vulkan {
namespace {

// Everything known before a device is made.
struct Survey {
  std::shared_ptr<Instance> instance;
  std::vector<Snapshot> snapshots;
  std::vector<DeviceInfo> infos;  // masked capabilities, same order
};

// NVIDIA's driver (580.159) was no longer found after about ten unloads and loads.
bool must_stay_loaded(const Capabilities& caps) { return caps.driver_name == "NVIDIA"; }

// AMD's variables name GPUs by a number that only the kernel's driver tells.
std::string serial_of(const Capabilities& caps, const std::string& pci) {
  constexpr uint32_t kAmd = 0x1002;
  if (caps.vendor_id != kAmd || pci.empty()) return "";
  std::FILE* file = open_stream("/sys/bus/pci/devices/" + pci + "/unique_id", "rb");
  if (!file) return "";
  char text[33] = {};
  const size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  return std::string(text, std::min(length, std::strcspn(text, " \r\n")));
}

Result<Survey> survey(const DeviceOptions& options) {
  Survey s;
  InstanceOptions io;
  io.validation = options.validation;
  io.debug_names = options.debug_names;
  io.ignore_environment = options.ignore_environment;
  io.get = reinterpret_cast<PFN_vkGetInstanceProcAddr>(options.get_instance_proc_addr);
  LAPILLI_TRY(s.instance, create_instance(io));
  LAPILLI_TRY(const auto devices, physical_devices(*s.instance));
  const std::string mask = mask_of(options);
  for (const VkPhysicalDevice d : devices) {
    s.snapshots.push_back(take_snapshot(*s.instance, d));
    if (must_stay_loaded(s.snapshots.back().caps)) s.instance->stays = true;
    DeviceInfo info;
    info.index = static_cast<uint32_t>(s.infos.size());
    LAPILLI_TRY(info.caps, apply_mask(s.snapshots.back().caps, mask));
    info.refusal = s.snapshots.back().refusal;
    info.pci = s.snapshots.back().pci;
    info.serial = serial_of(info.caps, info.pci);
    if (info.refusal.empty()) info.refusal = refused_cpu(options, s.snapshots.back().caps);
    s.infos.push_back(std::move(info));
  }
  return s;
}

// Requests a priority below the system's other queues if `priority_extension` is not null.
VkResult create_device(const Instance& instance, const Snapshot& s, const Enables& enables,
                       const char* priority_extension, VkDevice& device) {
  const float among_its_own = 1.0f;
  VkDeviceQueueGlobalPriorityCreateInfoKHR low{VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR};
  low.globalPriority = VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.pNext = priority_extension ? &low : nullptr;
  queue.queueFamilyIndex = s.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &among_its_own;
  std::vector<const char*> extensions = enables.extensions;
  if (priority_extension) extensions.push_back(priority_extension);
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &enables.features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  return instance.vk.CreateDevice(s.handle, &info, nullptr, &device);
}

const char* priority_extension_of(const Snapshot& s) {
  for (const char* name : {VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME, VK_EXT_GLOBAL_PRIORITY_EXTENSION_NAME})
    if (s.has(name)) return name;
  return nullptr;
}

Status make_logical_device(Context& c, const Snapshot& s, const DeviceOptions& options) {
  const Enables enables(s, c.caps);
  const char* const priority = options.low_priority ? priority_extension_of(s) : nullptr;
  VkDevice device = VK_NULL_HANDLE;
  VkResult r = create_device(*c.instance, s, enables, priority, device);
  // Systems may grant no priority at all, and drivers report that in several ways.
  if (priority && (r != VK_SUCCESS || !device)) {
    log(LogLevel::verbose, c.name + " grants no low priority (" + result_name(r) + ")");
    r = create_device(*c.instance, s, enables, nullptr, device);
  }
  if (r != VK_SUCCESS || !device) {
    return vk_error(r == VK_SUCCESS ? VK_ERROR_INITIALIZATION_FAILED : r, "making a Vulkan device of " + c.name);
  }
  c.device = device;
  c.owned = true;
  return {};
}

// Identity of the device that pipelines and verdicts belong to.
StoredIdentity stored_identity(const Context& c, uint64_t shaders) {
  StoredIdentity identity = identity_of(c.caps, shaders);
  // From the driver itself: a mask may pretend another device.
  VkPhysicalDeviceProperties own{};
  c.instance->vk.GetPhysicalDeviceProperties(c.physical, &own);
  identity.vendor_id = own.vendorID;
  identity.device_id = own.deviceID;
  identity.driver_version = own.driverVersion;
  std::copy_n(own.pipelineCacheUUID, identity.cache_uuid.size(), identity.cache_uuid.begin());
  VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
  VkPhysicalDeviceProperties2 p{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  p.pNext = &id;
  c.instance->vk.GetPhysicalDeviceProperties2(c.physical, &p);
  std::copy_n(id.driverUUID, identity.driver_uuid.size(), identity.driver_uuid.begin());
  return identity;
}

// True for integrated GPUs of vendors of phone GPUs: phones kill work that would only delay a desktop.
bool is_phone(const Capabilities& caps) {
  constexpr std::array<uint32_t, 6> kMobileVendors{0x5143 /* Qualcomm */, 0x13b5 /* ARM */,   0x1010 /* Imagination */,
                                                   0x144d /* Samsung */,  0x106b /* Apple */, 0x19e5 /* Huawei */};
  return caps.type == DeviceType::integrated &&
         std::find(kMobileVendors.begin(), kMobileVendors.end(), caps.vendor_id) != kMobileVendors.end();
}

// Nothing kills work on a CPU, where a single step may take longer than a GPU's submission should.
double max_submit_us_of(const DeviceOptions& options, const Capabilities& caps) {
  if (options.max_submit_us > 0) return options.max_submit_us;
  return caps.type == DeviceType::cpu ? 200'000 : is_phone(caps) ? 16'000 : 50'000;
}

}  // namespace

Status check_options(const DeviceOptions& options) {
  constexpr uint32_t kLongestGapUs = 1'000'000;
  if (options.gap_us <= kLongestGapUs) return {};
  return fail(ErrorCode::invalid_argument,
              "gap_us is %u; a gap between submissions is at most %u microseconds, a few thousand let others in",
              options.gap_us, kLongestGapUs);
}

// Common to made and adopted devices.
Status start_device(Device::Impl& impl, const Snapshot& s, const DeviceOptions& options, Submitter::Options queue) {
  Context& c = impl.context;
  c.physical = s.handle;
  c.timestamp_bits = s.timestamp_bits;
  c.main_heap = s.main_heap;
  c.memory = s.memory;
  auto table = load_device_table(c.instance->vk.GetDeviceProcAddr, c.device);
  if (!table) {
    // Only the device itself can be destroyed here.
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
  if (!c.queue && c.owned) c.vk.GetDeviceQueue(c.device, s.queue_family, 0, &c.queue);
  if (!c.queue && c.owned) return fail(ErrorCode::no_device, "%s gave no queue", c.name);
  c.queue_family = s.queue_family;
  impl.max_submit_us = max_submit_us_of(options, c.caps);
  impl.memory = std::make_unique<MemoryPool>(c);
  impl.ledger = MemoryLedger::of_device(options.memory_limit, [&impl] {
    for (const auto& keeper : impl.living_keepers()) keeper->make_room();
  });
  if (options.keep.store)
    impl.persistent_cache =
        std::make_unique<PersistentCache>(options.keep.store, stored_identity(c, options.keep.shaders));
  impl.threads = std::make_unique<LentThreads>(options.workers);
  impl.pipelines = std::make_unique<PipelineStore>(c, impl.persistent_cache.get(), *impl.threads);
  impl.queue = std::make_unique<Submitter>(c);
  impl.timer = std::make_unique<SubmissionTimer>(c);
  impl.staging = std::make_unique<Staging>(c, *impl.memory, *impl.queue);
  queue.gap_us = options.gap_us;
  queue.time = options.gap_time;
  LAPILLI_CHECK(impl.queue->init(std::move(queue)));
  LAPILLI_CHECK(impl.timer->init());
  return impl.pipelines->init();
}

std::string mask_of(const DeviceOptions& options) {
  if (!options.mask.empty() || options.ignore_environment) return options.mask;
  return environment("LAPILLI_CAPS");
}

double timeout_of(const DeviceOptions& options, const Capabilities& caps) {
  if (options.wait_timeout_s > 0) return options.wait_timeout_s;
  return caps.type == DeviceType::cpu ? 600 : 30;
}

std::string refused_cpu(const DeviceOptions& options, const Capabilities& caps) {
  if (!options.refuse_cpu || caps.type != DeviceType::cpu) return {};
  return "it is a CPU driver, and these are refused (refuse_cpu, --require-gpu)";
}

Result<std::vector<DeviceInfo>> list_devices(const DeviceOptions& options) {
  LAPILLI_TRY(Survey s, survey(options));
  const auto chosen = choose_devices(s.infos, options.select, process_environment());
  // A list in which no device is usable, or has that name, is still worth showing.
  if (!chosen && chosen.error().code != ErrorCode::no_device) return chosen.error();
  return std::move(s.infos);
}

Result<std::vector<DeviceInfo>> survey_devices(const DeviceOptions& options) {
  LAPILLI_TRY(Survey s, survey(options));
  return std::move(s.infos);
}

namespace {

Result<DeviceChoice> choose_one(std::vector<DeviceInfo>& infos, const std::string& select) {
  LAPILLI_TRY(auto choice, choose_devices(infos, select, process_environment()));
  if (choice.devices.size() == 1) return choice;
  return fail(ErrorCode::invalid_argument, "'%s' names %u devices; each is opened by itself: name one", select,
              choice.devices.size());
}

// Where a GPU is required and missing, its driver may be installed where the loader does not look.
Error with_driver_files(Error error, const DeviceOptions& options) {
  const bool required = options.refuse_cpu || options.select == "assigned";
  if (error.code == ErrorCode::no_device && required) error.message += "; " + driver_files_text();
  return error;
}

void tell_choice(const DeviceChoice& choice, const DeviceInfo& device, DeviceType type) {
  if (!choice.why.empty()) {
    const std::string place = device.pci.empty() ? "" : ", " + device.pci;
    log_once(LogLevel::note, "device choice",
             format("device %u (%s%s) by %s", device.index, describe(device.caps), place, choice.why));
  } else if (choice.free && type == DeviceType::cpu) {
    log_once(
        LogLevel::note, "no GPU",
        "no GPU with Vulkan was found: running on the CPU through " + describe(device.caps) + "; right, but slower");
  }
}

}  // namespace

Result<std::shared_ptr<Device>> Device::create(const DeviceOptions& options) {
  const LogScope scope(options.log);
  LAPILLI_CHECK(check_options(options));
  auto surveyed = survey(options);
  if (!surveyed) return with_driver_files(std::move(surveyed).error(), options);
  Survey& s = *surveyed;
  std::vector<DeviceInfo> infos = s.infos;
  while (true) {
    auto choice = choose_one(infos, options.select);
    if (!choice) return with_driver_files(std::move(choice).error(), options);
    const size_t i = choice->devices.front();
    std::shared_ptr<Device> device(new Device);
    device->impl_ = std::make_unique<Impl>();
    device->impl_->log = options.log;
    device->impl_->timeline = options.timeline;
    Context& c = device->impl_->context;
    c.instance = s.instance;
    c.caps = s.infos[i].caps;
    c.name = c.caps.device_name;
    Status status = make_logical_device(c, s.snapshots[i], options);
    if (status)
      status = start_device(*device->impl_, s.snapshots[i], options,
                            {.timeout_s = timeout_of(options, s.snapshots[i].caps)});
    if (status) {
      tell_choice(*choice, infos[i], s.snapshots[i].caps.type);
      return device;
    }
    if (!choice->free) return std::move(status).failure();
    // A driver that fails to start is passed over as if it were missing.
    s.infos[i].refusal = status.error().message;
    infos = s.infos;
    const bool more = std::any_of(infos.begin(), infos.end(), [](const DeviceInfo& d) { return d.refusal.empty(); });
    if (!more) return std::move(status).failure();
    log(LogLevel::warning, status.error().message + "; trying the next device");
  }
}

// Keeps hung devices forever, in a list that is never freed. Allocates nothing, as destructors must not.
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
  const LogScope scope(impl_->log);
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
  impl_->timer.reset();
  impl_->pipelines.reset();
  impl_->queue.reset();
  impl_->memory.reset();
  if (c.owned && c.vk.DestroyDevice) c.vk.DestroyDevice(c.device, nullptr);
}

const Capabilities& Device::caps() const { return *impl_->caps.load(std::memory_order_acquire); }

// Publishes a copy: others may be reading the present capabilities.
void Device::do_without_indirect_dispatch() {
  std::call_once(impl_->reduced, [&] {
    impl_->reduced_caps = impl_->context.caps;
    impl_->reduced_caps.indirect_dispatch = false;
    impl_->caps.store(&impl_->reduced_caps, std::memory_order_release);
  });
}
Status Device::health() const { return impl_->context.health(); }

Result<Buffer> Device::make_buffer(uint64_t bytes, MemoryUse use, const char* label) {
  LAPILLI_CHECK(health());
  if (impl_->context.completed < impl_->context.submitted) {
    LAPILLI_CHECK(impl_->queue->poll());  // frees what was released meanwhile
  }
  Buffer buffer;
  LAPILLI_TRY(buffer.impl_, make_buffer_impl(impl_->context, *impl_->memory, bytes, use, label ? label : ""));
  buffer.impl_->keep = shared_from_this();
  return buffer;
}

namespace {

// Reading uncached memory is slower for the host than a copy to cached memory by the device.
constexpr size_t kFewBytes = 4096;
bool slow_to_read(const Buffer& buffer, size_t bytes) {
  return !buffer.mapped() || (bytes > kFewBytes && !buffer.impl()->range.block->cached);
}

Status check_range(const Buffer& buffer, uint64_t offset, uint64_t bytes, const char* what) {
  if (!buffer) return fail(ErrorCode::invalid_argument, "%s: an empty Buffer", what);
  if (offset <= buffer.size() && bytes <= buffer.size() - offset) return {};
  return fail(ErrorCode::invalid_argument, "%s: bytes %u + %u leave a buffer of %u", what, offset, bytes,
              buffer.size());
}

}  // namespace

// Mapped memory is accessed only after earlier submissions are done, as with a staged copy.
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
  if (slow_to_read(buffer, bytes.size())) return impl_->staging->read(*buffer.impl(), offset, bytes);
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
  TimelineScope scope(timeline(), "make pipelines");
  const uint64_t before = impl_->context.pipelines_created;
  auto made = impl_->pipelines->get(requests);
  const uint64_t created = impl_->context.pipelines_created - before;
  scope.number("made", static_cast<double>(created));
  if (created == 0) scope.forget();
  return made;
}

void Device::make_pipelines_beside(std::span<const PipelineRequest> requests, const std::function<void()>& work,
                                   const std::function<bool()>& wanted) {
  impl_->threads->run_beside(work, static_cast<uint32_t>(requests.size()), [&](uint32_t index) {
    if (is_paused() || !wanted()) return;
    try {
      const TimelineScope scope(timeline(), "make a pipeline ahead");
      impl_->pipelines->make_ahead(requests[index]);
    } catch (...) {  // no memory: pipelines() will report it
    }
  });
}

bool Device::has_lent_threads() const { return impl_->threads->are_lent(); }

StoredIdentity stored_identity(const Device& device, uint64_t shaders) {
  return stored_identity(device.impl()->context, shaders);
}

PersistentCache* Device::persistent_cache() const { return impl_->persistent_cache.get(); }
void Device::keep_pipelines() { impl_->pipelines->keep(); }

namespace {

// Vulkan leaves it undefined to submit a recording for single use while it is pending.
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

Result<Ticket> Device::submit(std::span<const CommandRecording* const> recordings, double expected_us, bool timed) {
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
  auto marked = impl_->timer->mark(buffers, timed && expected_us > 0);
  LAPILLI_TRY(const Ticket ticket, impl_->queue->submit(marked.buffers(), expected_us));
  marked.submitted(ticket);
  if (trace) trace->submitted_held(ticket, traced_of(recordings));
  for (const CommandRecording* r : recordings) r->impl()->ticket.store(ticket, std::memory_order_relaxed);
  return ticket;
}

std::vector<double> Device::times_us(Ticket ticket) { return impl_->timer->times_us(ticket); }
double Device::max_submit_us() const { return impl_->max_submit_us; }
Result<bool> Device::may_submit() { return impl_->queue->may_submit(); }
Status Device::wait_for_gap() { return impl_->queue->wait_for_gap(); }
Result<bool> Device::done(Ticket ticket) { return impl_->queue->done(ticket); }
Status Device::wait(Ticket ticket) { return impl_->queue->wait(ticket); }
bool Device::settle() { return impl_->queue->settle(); }
Result<Appended> Device::append(void* command_buffer, uint64_t budget_us) {
  return impl_->queue->append(static_cast<VkCommandBuffer>(command_buffer), budget_us);
}
Status Device::completed(uint64_t serial) { return impl_->queue->completed(serial); }
Status Device::dropped(uint64_t serial) { return impl_->queue->dropped(serial); }

uint64_t Device::memory_left() const { return impl_->memory->memory_left(); }

std::shared_ptr<void> Device::companion(const std::function<std::shared_ptr<void>()>& make, Companion which) {
  std::lock_guard lock(impl_->companion_mutex);
  auto& companion = impl_->companions[static_cast<size_t>(which)];
  if (!companion) companion = make();
  return companion;
}

DeviceCounters Device::counters() const {
  const Context& c = impl_->context;
  DeviceCounters n;
  n.pipelines_created = c.pipelines_created;
  n.submissions = c.submissions;
  n.completed = c.completed;
  n.waits = c.waits;
  n.buffers = c.buffers;
  n.allocations = c.allocations;
  n.device_bytes = impl_->memory->bytes();
  n.device_bytes_peak = impl_->memory->peak();
  n.staged_bytes = c.staged_bytes;
  n.filled_bytes = c.filled_bytes;
  n.cache_bytes = c.cache_bytes;
  return n;
}

const std::shared_ptr<LogSink>& Device::log_sink() const { return impl_->log; }
Timeline* Device::timeline() const { return impl_->timeline.get(); }

MemoryUsage Device::memory_usage() const {
  MemoryUsage usage = impl_->memory->usage();
  usage.left = std::min(usage.left, impl_->ledger->left());
  return usage;
}

const std::shared_ptr<MemoryLedger>& Device::ledger() const { return impl_->ledger; }

void Device::add_keeper(std::weak_ptr<MemoryKeeper> keeper) {
  const std::lock_guard lock(impl_->keepers_mutex);
  std::erase_if(impl_->keepers, [](const auto& k) { return k.expired(); });
  impl_->keepers.push_back(std::move(keeper));
}

// To be called without the lock: a keeper may be destroyed by the caller, or call back.
std::vector<std::shared_ptr<MemoryKeeper>> Device::Impl::living_keepers() {
  const std::lock_guard lock(keepers_mutex);
  std::vector<std::shared_ptr<MemoryKeeper>> living;
  for (const auto& weak : keepers)
    if (auto keeper = weak.lock()) living.push_back(std::move(keeper));
  return living;
}

void Device::trim() {
  for (const auto& keeper : impl_->living_keepers()) keeper->give_back();
  give_back_free();
}

void Device::give_back_free() {
  impl_->staging->trim();
  (void)impl_->queue->settle();
  impl_->memory->trim();
}

void Device::pause() { impl_->paused = true; }

void Device::resume() {
  {
    const std::lock_guard lock(impl_->pause_mutex);
    impl_->paused = false;
  }
  impl_->resumed.notify_all();
}

bool Device::is_paused() const { return impl_->paused; }

bool Device::wait_while_paused(std::chrono::milliseconds most) const {
  std::unique_lock lock(impl_->pause_mutex);
  return impl_->resumed.wait_for(lock, most, [&] { return !impl_->paused.load(); });
}

}  // namespace lapilli::vulkan
