// A Vulkan device, created or adopted, with its memory, pipelines and queue. No Vulkan type appears in this header
// (handles are opaque), so the rest of Lapilli compiles without Vulkan headers.
//
// Threads: Device is safe to use from several threads; a CommandRecording, a DescriptorArena and a Buffer belong to one
// thread at a time. Everything made from a Device must be destroyed before the last shared_ptr to it; each object keeps
// its Device alive, so this holds by itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "vulkan/buffer.hpp"
#include "vulkan/capabilities.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/mask.hpp"
#include "vulkan/recorder.hpp"

namespace lapilli::vulkan {

class Device;

// How a device is chosen and made.
struct DeviceOptions {
  std::string select;  // empty: the best one; else an index (a whole number), a part of the name (any case), or a UUID
  std::string mask;    // see apply_mask; empty: LAPILLI_CAPS, else none
  bool validation = false;    // ask for VK_LAYER_KHRONOS_validation if it is installed
  double wait_timeout_s = 0;  // give up a wait after this long without progress; 0: 30 s, CPU drivers 600 s
  void* get_instance_proc_addr = nullptr;  // PFN_vkGetInstanceProcAddr to use instead of the loader's (tests, hosts)
};

// Handles that the host made and keeps. They must outlive the Device; nothing of them is destroyed by it.
struct AdoptedDevice {
  void* get_instance_proc_addr = nullptr;  // PFN_vkGetInstanceProcAddr, required
  void* instance = nullptr;                // VkInstance
  void* physical_device = nullptr;         // VkPhysicalDevice
  void* device = nullptr;                  // VkDevice
  void* queue = nullptr;                   // VkQueue, of a family with compute
  uint32_t queue_family = 0;
  uint32_t api_version = 0;                    // what the instance was created with (VK_MAKE_API_VERSION)
  std::vector<std::string> device_extensions;  // enabled ones: Vulkan cannot be asked
  bool timeline_semaphore = false;             // enabled features, likewise
  bool storage_16bit = false, arithmetic_fp16 = false, storage_8bit = false, arithmetic_int8 = false,
       integer_dot = false;
  // Called around every use of the queue. Empty: the queue is ours alone.
  std::function<void()> lock_queue, unlock_queue;
};

// One line of `lapilli devices`: every device that was seen, usable or not.
struct DeviceInfo {
  uint32_t index = 0;
  Capabilities caps;
  int64_t score = 0;         // the highest usable score is taken; see score_device
  std::string score_reason;  // how the score came about
  std::string refusal;       // why the device cannot be used or was passed over; empty: usable
  bool chosen = false;
};
// Also explains what would be chosen for these options. An error if there is no loader or no driver at all.
Result<std::vector<DeviceInfo>> list_devices(const DeviceOptions& options);

// A shader with its constants. Requests with the same words and constants give the same pipeline.
struct PipelineRequest {
  const uint32_t* words = nullptr;
  size_t word_count = 0;
  const char* name = "";            // for labels and messages
  std::vector<uint32_t> constants;  // specialization constants 0, 1, 2...
};
class Pipeline;  // opaque; lives as long as the Device

// Identifies a submission; completes in order.
using Ticket = uint64_t;

// Counts since creation, for tests and --stats.
struct DeviceCounters {
  uint64_t pipelines_created = 0, submissions = 0, waits = 0, buffers = 0, allocations = 0;
  uint64_t device_bytes = 0, device_bytes_peak = 0;  // held in blocks
  uint64_t staged_bytes = 0;
  uint64_t filled_bytes = 0;  // by recorded fills and by zero()
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  static Result<std::shared_ptr<Device>> create(const DeviceOptions& options);
  // Refuses with reasons if the floor is missing.
  static Result<std::shared_ptr<Device>> adopt(const AdoptedDevice& host, const DeviceOptions& options);
  ~Device();

  [[nodiscard]] const Capabilities& caps() const;

  Result<Buffer> make_buffer(uint64_t bytes, MemoryUse use, const char* label);
  // Blocking transfers for setup and tests: direct where mapped, else through a bounded staging buffer. Ordered behind
  // everything submitted before, or, where the buffer is mapped, behind `after` alone: 0 where nothing that is in
  // flight uses the buffer, so that other work of the device is not waited for.
  Status write(const Buffer& buffer, uint64_t offset, std::span<const std::byte> bytes,
               std::optional<Ticket> after = std::nullopt);
  Status read(const Buffer& buffer, uint64_t offset, std::span<std::byte> bytes,
              std::optional<Ticket> after = std::nullopt);
  Status zero(const Buffer& buffer);

  // All or nothing; creates what is missing in one batch. Pointers live as long as the Device. A shader that the driver
  // refuses is ErrorCode::no_device, by name; the driver is not asked for it again.
  Result<std::vector<const Pipeline*>> pipelines(std::span<const PipelineRequest> requests);

  // Submits in order, in one vkQueueSubmit. A recording for single use that is pending is an internal error.
  // Recordings, buffers and sets that are destroyed before the ticket is done are freed after it, so that an error may
  // unwind at any point.
  Result<Ticket> submit(std::span<const CommandRecording* const> recordings);
  Result<bool> done(Ticket ticket);  // never blocks
  Status wait(Ticket ticket);        // at most the time-out, then ErrorCode::timeout
  // Waits at most the time-out for everything submitted so far, of whoever, and frees what waited for it. False: it may
  // still be at work, or is lost.
  bool settle();
  // Once the device is lost every call says so.
  [[nodiscard]] Status health() const;

  // Bytes that may still be taken from the main heap, by VK_EXT_memory_budget or by the heap's size.
  [[nodiscard]] uint64_t memory_left() const;
  [[nodiscard]] DeviceCounters counters() const;

  // One object that a layer above keeps with the device (the verdicts of its self-test): made at the first call. It
  // must not hold the Device, which destroys it.
  std::shared_ptr<void> companion(const std::function<std::shared_ptr<void>()>& make);

  struct Impl;
  [[nodiscard]] Impl* impl() const { return impl_.get(); }

 private:
  Device() = default;
  static void park(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli::vulkan
