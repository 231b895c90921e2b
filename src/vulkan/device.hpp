// A Vulkan device, created or adopted, with its memory, pipelines and queue. No Vulkan type appears in this header
// (handles are opaque), so the rest of Lapilli compiles without Vulkan headers.
//
// Threads: Device is safe to use from several threads; a CommandRecording, a DescriptorArena and a Buffer belong to one
// thread at a time. Everything made from a Device must be destroyed before the last shared_ptr to it; each object keeps
// its Device alive, so this holds by itself.
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
#include "vulkan/buffer.hpp"
#include "vulkan/capabilities.hpp"
#include "vulkan/descriptors.hpp"
#include "vulkan/kept.hpp"
#include "vulkan/mask.hpp"
#include "vulkan/recorder.hpp"
#include "vulkan/submit_gap.hpp"

namespace lapilli::vulkan {

class Device;

// Runs task(0) to task(count - 1), each once, on threads of whoever lends them, and returns when all are done. Best if
// the thread that calls is one of them.
using Workers = std::function<void(uint32_t count, const std::function<void(uint32_t index)>& task)>;

// How a device is chosen and made.
struct DeviceOptions {
  std::string select;  // empty: the best one; else an index (a whole number), a part of the name (any case), or a UUID
  std::string mask;    // see apply_mask; empty: LAPILLI_CAPS, else none
  bool validation = false;    // ask for VK_LAYER_KHRONOS_validation if it is installed
  double wait_timeout_s = 0;  // give up a wait after this long without progress; 0: 30 s, CPU drivers 600 s
  // No submission takes longer, as far as that can be foreseen; 0: 50,000, phones 16,000, CPU drivers
  // 200,000.
  uint32_t max_submit_us = 0;
  // So long the device is left to others behind each submission of loading, self-test and searches; at most a second.
  uint32_t gap_us = 0;
  TimeSource gap_time;                     // tells the time for gaps, in tests
  void* get_instance_proc_addr = nullptr;  // PFN_vkGetInstanceProcAddr to use instead of the loader's (tests, hosts)
  bool refuse_cpu = false;                 // a CPU driver is no device
  bool ignore_environment = false;         // no LAPILLI_ variable is heeded
  bool low_priority = false;               // the queue comes after others of the system, where the driver can do that
  bool debug_names = false;                // buffers and recordings say their names to tools; validation implies it
  KeepOptions keep;                        // what is kept between runs, and where
  Workers workers;                         // make pipelines; empty: the thread that needs them does
  std::shared_ptr<LogSink> log;            // what is said of this device; null: the process's log
  // Is told what happens on the device and for it. Searches then submit a step at a time and wait for it, with a
  // timestamp behind each level of their plans. Null: nobody is.
  std::shared_ptr<Timeline> timeline;
};

// A submission that the host was handed and has not spoken of yet.
class HostSubmission;
struct SubmitRequest {
  const void* info = nullptr;  // VkSubmitInfo, to be submitted as it is; lives until submission_done()
  uint64_t fence = 0;          // VkFence to go with it, or 0
  HostSubmission* submission = nullptr;
};
// vkQueueSubmit gave this VkResult. From any thread, also within the callback; once for each. Takes no lock under which
// anything of the host's is called.
void submission_done(HostSubmission* submission, int32_t result) noexcept;

// Handles that the host made and keeps. They must outlive the Device; nothing of them is destroyed by it.
struct AdoptedDevice {
  void* get_instance_proc_addr = nullptr;  // PFN_vkGetInstanceProcAddr, required
  void* instance = nullptr;                // VkInstance
  void* physical_device = nullptr;         // VkPhysicalDevice
  void* device = nullptr;                  // VkDevice
  void* queue = nullptr;                   // VkQueue, of a family with compute; not needed with `submit` or `append`
  uint32_t queue_family = 0;
  uint32_t api_version = 0;                    // what the instance was created with (VK_MAKE_API_VERSION)
  std::vector<std::string> device_extensions;  // enabled ones: Vulkan cannot be asked
  bool timeline_semaphore = false;             // enabled features, likewise
  bool storage_16bit = false, arithmetic_fp16 = false, storage_8bit = false, arithmetic_int8 = false,
       integer_dot = false, subgroup_size_control = false;
  // Called around every use of the queue. Empty: the queue is ours alone.
  std::function<void()> lock_queue, unlock_queue;
  // The host submits, now or later, on any thread, in the order of the calls, and says so by submission_done().
  std::function<void(const SubmitRequest&)> submit;
  // Nothing is submitted: the host takes what waits into its command buffers (Device::append).
  bool append = false;
};

// What a host should make its device with, if it shall be adopted.
struct HostRequirements {
  std::string refusal;        // why the device cannot be used; empty: usable
  uint32_t api_version = 0;   // the least that the instance must be made for
  uint32_t queue_family = 0;  // one with compute that does not draw, where there is one
  std::vector<std::string> extensions;
  // Worth enabling, with those extensions.
  bool timeline_semaphore = false, storage_16bit = false, arithmetic_fp16 = false, storage_8bit = false,
       arithmetic_int8 = false, integer_dot = false, subgroup_size_control = false;
};
// Asks nothing of a device, which need not exist yet.
Result<HostRequirements> host_requirements(void* get_instance_proc_addr, void* instance, void* physical_device);

// What Device::append put into a command buffer.
struct Appended {
  uint32_t pieces = 0;     // submissions
  uint32_t waiting = 0;    // those that are left
  uint64_t serial = 0;     // to be told to completed(); 0: nothing was appended
  double expected_us = 0;  // as far as it is known
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

// A submission with more recordings is not timed.
constexpr size_t kMostTimedRecordings = 48;

// Counts since creation, for tests and --stats.
struct DeviceCounters {
  uint64_t completed = 0;  // submissions that are known to be done
  uint64_t pipelines_created = 0, submissions = 0, waits = 0, buffers = 0, allocations = 0;
  uint64_t device_bytes = 0, device_bytes_peak = 0;  // held in blocks
  uint64_t staged_bytes = 0;
  uint64_t filled_bytes = 0;  // by recorded fills and by zero()
  uint64_t cache_bytes = 0;   // of an earlier run's pipeline cache, handed to the driver
};

// Who waits for the end of a pause asks so often whether he is still to wait.
inline constexpr std::chrono::milliseconds kPauseRound{10};

// Bytes of device memory.
struct MemoryUsage {
  uint64_t held = 0, peak = 0;  // in blocks: now, and at most since the device was made
  uint64_t weights = 0, sessions = 0;
  uint64_t transfers = 0;  // areas by which host and device hand each other bytes
  uint64_t left = 0;       // that may still be taken
};

// What keeps memory of a device for later: a model, with sessions that nobody uses.
class MemoryKeeper {
 public:
  virtual ~MemoryKeeper() = default;
  virtual void give_back() = 0;
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  static Result<std::shared_ptr<Device>> create(const DeviceOptions& options);
  // Refuses with reasons if the floor is missing.
  static Result<std::shared_ptr<Device>> adopt(const AdoptedDevice& host, const DeviceOptions& options);
  ~Device();

  // What a reference that was taken before do_without_indirect_dispatch() tells stays as it was.
  [[nodiscard]] const Capabilities& caps() const;
  // It was found not to be what it should be: caps() says from now on that there is none. Whose what is kept is does
  // not change.
  void do_without_indirect_dispatch();

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
  // Runs `work` on this thread while threads that the host lends make these, one by one and in this order, as many as
  // are begun before it ends and while they are `wanted`. Nothing is said of those that cannot be made: pipelines()
  // will.
  void make_pipelines_beside(std::span<const PipelineRequest> requests, const std::function<void()>& work,
                             const std::function<bool()>& wanted);

  // Whether the host lends threads at all.
  [[nodiscard]] bool has_lent_threads() const;

  // What is kept between runs; null if nothing is.
  [[nodiscard]] Kept* kept() const;
  // Stores the driver's pipeline cache if pipelines were made since, and ends the trial of the one that was stored: to
  // be called when work that uses them is done, and not while a frame waits.
  void keep_pipelines();

  // Submits in order, in one vkQueueSubmit. A recording for single use that is pending is an internal error.
  // Recordings, buffers and sets that are destroyed before the ticket is done are freed after it, so that an error may
  // unwind at any point. Where it is said how long they are expected to take, the device times them, if it is to: a
  // mark around and between them costs a GPU microseconds each.
  Result<Ticket> submit(std::span<const CommandRecording* const> recordings, double expected_us = 0, bool timed = true);
  // What each recording of a submission took that is done and was timed, by the device's clock; told once. Empty where
  // there are no timestamps, or too much is in flight. Never blocks.
  std::vector<double> times_us(Ticket ticket);
  // Of DeviceOptions, with the default resolved.
  [[nodiscard]] double max_submit_us() const;
  // Whether a gap (DeviceOptions::gap_us) has been left behind what was submitted last, by whoever: that is done, and
  // so much time has passed since it was seen to be. True where there are no gaps, and where the host appends, whose
  // frames leave some. Never blocks. submit() itself does not ask: who pumps asks before, who may wait waits.
  Result<bool> may_submit();
  Status wait_for_gap();             // until may_submit(); bounded as wait() is, and the gap
  Result<bool> done(Ticket ticket);  // never blocks
  Status wait(Ticket ticket);        // at most the time-out, then ErrorCode::timeout
  // Waits at most the time-out for everything submitted so far, of whoever, and frees what waited for it. False: it may
  // still be at work, or is lost.
  bool settle();
  // Once the device is lost every call says so.
  [[nodiscard]] Status health() const;

  // Of a device that was adopted with `append`; others refuse these. Puts what waits into the host's open primary
  // command buffer, in order, while it is expected to take no more than `budget_us`: at least one piece if there is a
  // budget at all, and none behind one whose time is unknown. The host submits that buffer once.
  Result<Appended> append(void* command_buffer, uint64_t budget_us);
  // The command buffer with this serial, and all before it, have finished.
  Status completed(uint64_t serial);
  // Those with this serial and all later ones will never be submitted: their work waits again.
  Status dropped(uint64_t serial);

  // Bytes that may still be taken from the main heap, by VK_EXT_memory_budget or by the heap's size.
  [[nodiscard]] uint64_t memory_left() const;
  [[nodiscard]] DeviceCounters counters() const;
  [[nodiscard]] MemoryUsage memory_usage() const;
  // Is asked by trim() as long as it lives.
  void add_keeper(std::weak_ptr<MemoryKeeper> keeper);
  // All keepers give back what they keep, then give_back_free() does.
  void trim();
  // Waits for what was submitted, and gives staging and blocks that nobody uses back to the driver.
  void give_back_free();

  // While a device is paused its jobs submit nothing; those who would wait for them wait for the end of the pause.
  // Everything else still submits: its callers ask is_paused() first.
  void pause();
  void resume();
  [[nodiscard]] bool is_paused() const;
  // False: it is still paused after that time.
  [[nodiscard]] bool wait_while_paused(std::chrono::milliseconds most) const;

  // Where what is said of this device goes, for a LogScope; null: the process's log.
  [[nodiscard]] const std::shared_ptr<LogSink>& log_sink() const;
  // Of DeviceOptions; null where nobody asked for it.
  [[nodiscard]] Timeline* timeline() const;

  // Objects that a layer above keeps with the device, one of each kind: made at the first call. They must not hold the
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
