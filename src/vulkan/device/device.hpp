// A Vulkan device, created or adopted, with its memory, pipelines and queue. No Vulkan types appear in this header
// (handles are opaque), so that the rest of Lapilli compiles without Vulkan headers.
//
// Threads: Device is safe to use from several threads; a CommandRecording, a DescriptorArena and a Buffer belong to one
// thread at a time. Everything made from a Device must be destroyed before the last shared_ptr to it; each object keeps
// its Device alive, which ensures this.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/timeline.hpp"
#include "vulkan/caps/capabilities.hpp"
#include "vulkan/caps/mask.hpp"
#include "vulkan/caps/persistent_cache.hpp"
#include "vulkan/device/buffer.hpp"
#include "vulkan/device/descriptors.hpp"
#include "vulkan/device/memory_ledger.hpp"
#include "vulkan/device/recorder.hpp"
#include "vulkan/device/submit_gap.hpp"

namespace lapilli::vulkan {

class Device;

// Runs task(0) to task(count - 1), each once, on threads that the host lends, and returns when all are done. Works best
// if the calling thread is one of them.
using Workers = std::function<void(uint32_t count, const std::function<void(uint32_t index)>& task)>;

// Options for choosing and making a device.
struct DeviceOptions {
  // Empty: the best one; "assigned": the one that the environment assigns to this process (assignment.hpp), else the
  // best; otherwise an index (a whole number), a part of the name (any case), a UUID or a PCI address.
  std::string select;
  std::string mask;           // see apply_mask; empty: LAPILLI_CAPS, else none
  bool validation = false;    // ask for VK_LAYER_KHRONOS_validation if it is installed
  double wait_timeout_s = 0;  // a wait fails after this long without progress; 0: 30 s, CPU drivers 600 s
  // Limit for the duration of a submission, as far as it can be predicted; 0: 50,000, phones 16,000, CPU drivers
  // 200,000.
  uint32_t max_submit_us = 0;
  // Limit for the weights and searches of all models on the device, in bytes; 0: none.
  uint64_t memory_limit = 0;
  // Time left to others after each submission of loading, self-test and searches; at most a second.
  uint32_t gap_us = 0;
  TimeSource gap_time;                     // clock for gaps, in tests
  void* get_instance_proc_addr = nullptr;  // PFN_vkGetInstanceProcAddr to use instead of the loader's (tests, hosts)
  bool refuse_cpu = false;                 // refuse CPU drivers
  bool ignore_environment = false;         // ignore the LAPILLI_ variables
  bool low_priority = false;               // queue priority below the system's others, if the driver supports that
  bool debug_names = false;                // name buffers and recordings for tools; implied by validation
  PersistentCacheOptions keep;             // data kept between runs, and where
  Workers workers;                         // make pipelines; empty: the thread that needs them does
  std::shared_ptr<LogSink> log;            // log of this device; null: the process's log
  // Records events on the device and for it. Searches then submit one step at a time and wait for it, with a timestamp
  // after each level of their plans. Null: none.
  std::shared_ptr<Timeline> timeline;
};

// A submission handed to the host that it has not reported yet.
class HostSubmission;
struct SubmitRequest {
  const void* info = nullptr;  // VkSubmitInfo, to be submitted unchanged; valid until submission_done()
  uint64_t fence = 0;          // VkFence to submit with it, or 0
  HostSubmission* submission = nullptr;
};
// Reports vkQueueSubmit's VkResult. Call it once per submission, from any thread, also within the callback. Takes no
// lock that is held while calling the host.
void submission_done(HostSubmission* submission, int32_t result) noexcept;

// Handles that the host made and owns. They must outlive the Device, which destroys none of them.
struct AdoptedDevice {
  void* get_instance_proc_addr = nullptr;  // PFN_vkGetInstanceProcAddr, required
  void* instance = nullptr;                // VkInstance
  void* physical_device = nullptr;         // VkPhysicalDevice
  void* device = nullptr;                  // VkDevice
  void* queue = nullptr;                   // VkQueue of a family with compute; not needed with `submit` or `append`
  uint32_t queue_family = 0;
  uint32_t api_version = 0;                    // version that the instance was created with (VK_MAKE_API_VERSION)
  std::vector<std::string> device_extensions;  // enabled ones: Vulkan has no query for them
  bool timeline_semaphore = false;             // enabled features, likewise
  bool storage_16bit = false, arithmetic_fp16 = false, storage_8bit = false, arithmetic_int8 = false,
       integer_dot = false, subgroup_size_control = false;
  // Called around every use of the queue. Empty: only we use it.
  std::function<void()> lock_queue, unlock_queue;
  // The host submits, now or later, on any thread, in the order of the calls, and reports it by submission_done().
  std::function<void(const SubmitRequest&)> submit;
  // Nothing is submitted: the host takes waiting work into its command buffers (Device::append).
  bool append = false;
};

// Requirements for a device that a host makes for adoption.
struct HostRequirements {
  std::string refusal;        // reason why the device cannot be used; empty: usable
  uint32_t api_version = 0;   // least version that the instance must be made for
  uint32_t queue_family = 0;  // preferably one with compute but without graphics
  std::vector<std::string> extensions;
  // Worth enabling, with the extensions above.
  bool timeline_semaphore = false, storage_16bit = false, arithmetic_fp16 = false, storage_8bit = false,
       arithmetic_int8 = false, integer_dot = false, subgroup_size_control = false;
};
// Queries only the physical device; no device need exist yet.
Result<HostRequirements> host_requirements(void* get_instance_proc_addr, void* instance, void* physical_device);

// Commands that Device::append recorded.
struct Appended {
  uint32_t submissions = 0;
  uint32_t waiting = 0;    // submissions that still wait
  uint64_t serial = 0;     // pass it to completed(); 0: nothing was appended
  double expected_us = 0;  // as far as known
};

// One line of `lapilli devices`: every device found, usable or not.
struct DeviceInfo {
  uint32_t index = 0;
  Capabilities caps;
  std::string pci;           // address such as "0000:81:00.0"; empty: unknown
  std::string serial;        // AMD's number of a GPU, 16 hexadecimal digits; empty: unknown
  int64_t score = 0;         // the usable device with the highest is taken; see score_device
  std::string score_reason;  // the summands of the score
  std::string refusal;       // reason why the device cannot be used or was passed over; empty: usable
  bool chosen = false;
};
// Also explains which device these options would choose. An error if there is no loader or no driver at all.
Result<std::vector<DeviceInfo>> list_devices(const DeviceOptions& options);
// The same before any choice, for choose_devices.
Result<std::vector<DeviceInfo>> survey_devices(const DeviceOptions& options);

// A shader with its constants. Equal words and constants give the same pipeline.
struct PipelineRequest {
  const uint32_t* words = nullptr;
  size_t word_count = 0;
  const char* name = "";            // for labels and messages
  std::vector<uint32_t> constants;  // specialization constants 0, 1, 2...
};
class Pipeline;  // opaque; lives as long as the Device

// Identifies a submission; tickets complete in order.
using Ticket = uint64_t;

// A submission with more recordings is not timed.
constexpr size_t kMostTimedRecordings = 48;

// Counts since creation, for tests and --stats.
struct DeviceCounters {
  uint64_t completed = 0;  // submissions known to be done
  uint64_t pipelines_created = 0, submissions = 0, waits = 0, buffers = 0, allocations = 0;
  uint64_t device_bytes = 0, device_bytes_peak = 0;  // held in blocks
  uint64_t staged_bytes = 0;
  uint64_t filled_bytes = 0;  // by recorded fills and by zero()
  uint64_t cache_bytes = 0;   // of an earlier run's pipeline cache, passed to the driver
};

// Polling interval while waiting for a pause to end.
inline constexpr std::chrono::milliseconds kPauseRound{10};

// Bytes of device memory.
struct MemoryUsage {
  uint64_t held = 0, peak = 0;  // in blocks: now, and the most since the device was made
  uint64_t weights = 0, sessions = 0;
  uint64_t transfers = 0;  // areas for transfers between host and device
  uint64_t left = 0;       // may still be allocated, by the limit, too
};

// An object that keeps a device's memory for later use: a model, with idle sessions.
class MemoryKeeper {
 public:
  virtual ~MemoryKeeper() = default;
  virtual void give_back() = 0;
  // Gives back what no search uses, except what was reserved for later ones.
  virtual void make_room() = 0;
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  static Result<std::shared_ptr<Device>> create(const DeviceOptions& options);
  // Refuses with reasons if the device is below the floor.
  static Result<std::shared_ptr<Device>> adopt(const AdoptedDevice& host, const DeviceOptions& options);
  ~Device();

  // References taken before do_without_indirect_dispatch() keep their values.
  [[nodiscard]] const Capabilities& caps() const;
  // Disables a capability that was found not to work: caps() no longer has it. The identity of kept data does not
  // change.
  void do_without_indirect_dispatch();

  Result<Buffer> make_buffer(uint64_t bytes, MemoryUse use, const char* label);
  // Blocking transfers for setup and tests: direct if mapped, otherwise through a bounded staging buffer. They follow
  // everything submitted before, or, if the buffer is mapped, only `after`: 0 if no work in flight uses the buffer, so
  // that the device's other work is not waited for.
  Status write(const Buffer& buffer, uint64_t offset, std::span<const std::byte> bytes,
               std::optional<Ticket> after = std::nullopt);
  Status read(const Buffer& buffer, uint64_t offset, std::span<std::byte> bytes,
              std::optional<Ticket> after = std::nullopt);
  Status zero(const Buffer& buffer);

  // All or nothing; creates missing ones in one batch. Pointers live as long as the Device. A shader that the driver
  // refuses is ErrorCode::no_device, by name, and is not tried again.
  Result<std::vector<const Pipeline*>> pipelines(std::span<const PipelineRequest> requests);
  // Runs `work` on this thread while threads lent by the host make these pipelines, one by one in this order, as many
  // as are begun before it ends and while they are `wanted`. Failures are not reported: pipelines() will.
  void make_pipelines_beside(std::span<const PipelineRequest> requests, const std::function<void()>& work,
                             const std::function<bool()>& wanted);

  // True if the host lends threads at all.
  [[nodiscard]] bool has_lent_threads() const;

  // Data kept between runs; null if none is.
  [[nodiscard]] PersistentCache* persistent_cache() const;
  // Stores the driver's pipeline cache if pipelines were made since, and ends the trial of the stored one. Call it when
  // work that uses them is done, and not while a frame waits.
  void keep_pipelines();

  // Submits in order, in one vkQueueSubmit. A pending recording for single use is an internal error. Recordings,
  // buffers and sets destroyed before the ticket is done are freed after it, so that errors may unwind at any point.
  // With an expected duration the device times the recordings if `timed`: each mark around and between them costs a GPU
  // microseconds.
  Result<Ticket> submit(std::span<const CommandRecording* const> recordings, double expected_us = 0, bool timed = true);
  // The duration of each recording of a completed, timed submission by the device's clock; returned once. Empty without
  // timestamps, or with too much in flight. Never blocks.
  std::vector<double> times_us(Ticket ticket);
  // DeviceOptions::max_submit_us, with the default resolved.
  [[nodiscard]] double max_submit_us() const;
  // True if a gap (DeviceOptions::gap_us) has passed since the last submission, by anyone, was seen to be done. True
  // without gaps, and if the host appends, whose frames leave gaps. Never blocks. submit() itself does not check: pump
  // functions check before; blocking functions call wait_for_gap().
  Result<bool> may_submit();
  Status wait_for_gap();             // until may_submit(); bounded like wait(), plus the gap
  Result<bool> done(Ticket ticket);  // never blocks
  Status wait(Ticket ticket);        // until the time-out, then ErrorCode::timeout
  // Waits until the time-out for everything submitted so far, by anyone, and frees what waited for it. False: it may
  // still be running, or is lost.
  bool settle();
  // Returns an error once the device is lost, as every call does.
  [[nodiscard]] Status health() const;

  // For a device adopted with `append`; others refuse these. Records waiting work into the host's open primary command
  // buffer, in order, while it is expected to take no more than `budget_us`: at least one piece if there is any budget,
  // and none after one of unknown duration. The host submits that buffer once.
  Result<Appended> append(void* command_buffer, uint64_t budget_us);
  // The command buffer with this serial and all before it have finished.
  Status completed(uint64_t serial);
  // The command buffers with this serial and all later ones will never be submitted: their work waits again.
  Status dropped(uint64_t serial);

  // Bytes that may still be allocated from the main heap, by VK_EXT_memory_budget or by the heap's size.
  [[nodiscard]] uint64_t memory_left() const;
  [[nodiscard]] DeviceCounters counters() const;
  [[nodiscard]] MemoryUsage memory_usage() const;
  // Counts against DeviceOptions::memory_limit, also for the ledgers of its models.
  [[nodiscard]] const std::shared_ptr<MemoryLedger>& ledger() const;
  // trim() calls it as long as it lives.
  void add_keeper(std::weak_ptr<MemoryKeeper> keeper);
  // Makes all keepers release their memory, then calls give_back_free().
  void trim();
  // Waits for submitted work, and returns unused staging buffers and blocks to the driver.
  void give_back_free();

  // While a device is paused its searches submit nothing, and blocking functions wait for the end of the pause.
  // Everything else still submits: its callers check is_paused() first.
  void pause();
  void resume();
  [[nodiscard]] bool is_paused() const;
  // False if it is still paused after that time.
  [[nodiscard]] bool wait_while_paused(std::chrono::milliseconds most) const;

  // The device's log, for a LogScope; null: the process's log.
  [[nodiscard]] const std::shared_ptr<LogSink>& log_sink() const;
  // DeviceOptions::timeline; null if there is none.
  [[nodiscard]] Timeline* timeline() const;

  // Objects that a higher layer keeps with the device, one of each kind, made at the first call. They must not hold the
  // Device, which destroys them.
  enum class Companion : uint8_t { self_test, pace, tunings, expected_pipelines };
  std::shared_ptr<void> companion(const std::function<std::shared_ptr<void>()>& make,
                                  Companion which = Companion::self_test);

  struct Impl;
  [[nodiscard]] Impl* impl() const { return impl_.get(); }

 private:
  Device() = default;
  static void park(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli::vulkan
