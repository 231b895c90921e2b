// The parts of a Device, in order of creation.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "vulkan/caps/persistent_cache.hpp"
#include "vulkan/device/context.hpp"
#include "vulkan/device/device.hpp"
#include "vulkan/device/lent_threads.hpp"
#include "vulkan/device/memory.hpp"
#include "vulkan/device/pipelines.hpp"
#include "vulkan/device/staging.hpp"
#include "vulkan/device/submission.hpp"
#include "vulkan/device/submission_timer.hpp"
#include "vulkan/device/trace.hpp"

namespace lapilli::vulkan {

struct Device::Impl {
  std::shared_ptr<LogSink> log;
  std::shared_ptr<Timeline> timeline;
  std::unique_ptr<Impl> next_parked;  // see Device::park
  Context context;
  std::unique_ptr<MemoryPool> memory;
  std::unique_ptr<PersistentCache> persistent_cache;  // null: nothing
  std::unique_ptr<LentThreads> threads;
  std::unique_ptr<PipelineStore> pipelines;
  std::unique_ptr<Submitter> queue;
  std::unique_ptr<SubmissionTimer> timer;
  std::unique_ptr<Staging> staging;
  double max_submit_us = 0;
  std::once_flag reduced;
  Capabilities reduced_caps;  // the context's, without indirect dispatch, once that is disabled
  std::atomic<const Capabilities*> caps{&context.caps};
  std::mutex companion_mutex;
  std::array<std::shared_ptr<void>, 4> companions;  // by Companion
  std::mutex keepers_mutex;
  std::vector<std::weak_ptr<MemoryKeeper>> keepers;
  std::shared_ptr<MemoryLedger> ledger;
  std::atomic<bool> paused{false};
  std::mutex pause_mutex;
  std::condition_variable resumed;

  std::vector<std::shared_ptr<MemoryKeeper>> living_keepers();
};

// For a made or adopted device whose context has instance, device, queue (if any), capabilities and name.
Status start_device(Device::Impl& impl, const Snapshot& snapshot, const DeviceOptions& options,
                    Submitter::Options queue);
// Refuses options that no device supports.
Status check_options(const DeviceOptions& options);
std::string mask_of(const DeviceOptions& options);
// `caps` before any mask: a CPU driver stays slow, and is refused, under every mask.
double timeout_of(const DeviceOptions& options, const Capabilities& caps);
std::string refused_cpu(const DeviceOptions& options, const Capabilities& caps);

struct Buffer::Impl {
  std::shared_ptr<Device> keep;  // null for the device's own buffers
  Context* context = nullptr;
  MemoryPool* pool = nullptr;
  VkBuffer handle = VK_NULL_HANDLE;
  uint64_t size = 0;   // as asked for
  uint64_t whole = 0;  // rounded up to words
  MemoryPool::Range range;
  std::unique_ptr<Retired> retired = std::make_unique<Retired>();
  std::shared_ptr<const TracedBuffer> traced;  // null without a trace

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();
  [[nodiscard]] std::byte* mapped() const;
  [[nodiscard]] Touch touch(uint64_t offset, uint64_t bytes, bool writes) const;
  // Flushes (or invalidates) the atoms that contain these bytes; does nothing on coherent or unmapped memory.
  Status sync(uint64_t offset, uint64_t bytes, bool flush) const;
};

Result<std::unique_ptr<Buffer::Impl>> make_buffer_impl(Context& context, MemoryPool& pool, uint64_t bytes,
                                                       MemoryUse use, const char* label);

class DescriptorSet {
 public:
  VkDescriptorSet handle = VK_NULL_HANDLE;
  std::vector<Touch> bound;  // for a trace
};

// Commands being recorded, for a trace.
struct RecordingTrace {
  std::shared_ptr<TracedRecording> commands = std::make_shared<TracedRecording>();
  std::vector<Touch> touches, bound;  // of the next dispatch

  TracedCommand& add(TracedCommand::Kind kind);
  TracedCommand& dispatch();
};

struct CommandRecording::Impl {
  std::shared_ptr<Device> keep;  // null for the device's own recordings
  Context* context = nullptr;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkQueryPool queries = VK_NULL_HANDLE;
  uint32_t query_count = 0;
  bool open = false, complete = false;
  bool replayed = false;                    // may be pending several times
  mutable std::atomic<uint64_t> ticket{0};  // of the last submission
  Status status;                            // first mistake since begin()
  std::unique_ptr<RecordingTrace> trace;    // null without one
  std::unique_ptr<Retired> retired = std::make_unique<Retired>();

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();
  Status begin(VkCommandBufferUsageFlags usage);
  Status end();
  void copy(const Buffer::Impl& from, uint64_t from_offset, const Buffer::Impl& to, uint64_t to_offset, uint64_t bytes);
  void fill(const Buffer::Impl& buffer, uint64_t offset, uint64_t bytes, uint32_t word);
  void tell_barrier(BarrierScope scope) const;
  void tell_transfer(std::vector<Touch> touches) const;
};

Result<std::unique_ptr<CommandRecording::Impl>> make_recording_impl(Context& context, VkPipelineLayout layout);

}  // namespace lapilli::vulkan
