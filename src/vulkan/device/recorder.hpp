// Commands that are recorded once and replayed. No Vulkan types here; see device.hpp for threads and lifetimes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "vulkan/device/buffer.hpp"
#include "vulkan/device/descriptors.hpp"

namespace lapilli::vulkan {

class Pipeline;

// Accesses that a barrier orders besides shaders' reads and writes.
struct BarrierScope {
  bool indirect = false;  // shader writes before indirect arguments of later dispatches
  bool transfer = false;  // copies and fills, on either side
};

// Conditions for submitting a recording again.
enum class RecordingUse : uint8_t {
  replayed,  // even while it is pending, several times in one submission, too
  single,    // once it is done: drivers keep less for it, and submit() refuses it while pending
};

// One command buffer: recorded once, submitted as often as wanted.
class CommandRecording {
 public:
  static Result<CommandRecording> create(std::shared_ptr<Device> device);
  CommandRecording(CommandRecording&&) noexcept;
  CommandRecording& operator=(CommandRecording&&) noexcept;
  ~CommandRecording();

  // begin() opens with a full barrier (everything earlier on the queue, transfers and host writes, before compute,
  // transfer and indirect reads); end() closes with one from shader and transfer writes to host reads.
  Status begin(RecordingUse use = RecordingUse::replayed);
  Status end();
  void bind(const Pipeline* pipeline, const DescriptorSet* set, std::span<const std::byte> push);
  void dispatch(uint32_t x, uint32_t y, uint32_t z);
  void dispatch_indirect(const Buffer& arguments, uint64_t offset);
  // Orders shader writes before shader reads (storage, uniform) and writes, plus the accesses in `also` on either side:
  // names no stage needlessly, as each one is waited for. Later writes follow indirect reads in any case.
  void barrier(BarrierScope also = {});
  void copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset, uint64_t bytes);
  // `count` pieces of `bytes` each, one stride apart; the first ones at these offsets.
  struct StridedCopy {
    uint64_t count = 0, bytes = 0, from_stride = 0, to_stride = 0, from_offset = 0, to_offset = 0;
  };
  void copy(const Buffer& from, const Buffer& to, const StridedCopy& region);
  void fill(const Buffer& buffer, uint64_t offset, uint64_t bytes, uint32_t word);
  // Timestamps, if the device has them: `index` is below the count given to enable_timestamps before begin().
  Status enable_timestamps(uint32_t count);
  void timestamp(uint32_t index);
  Result<std::vector<double>> read_timestamps_ns() const;  // after completion; empty if there are none
  void label(const char* text);                            // debug label, if VK_EXT_debug_utils is on

  struct Impl;
  [[nodiscard]] const Impl* impl() const { return impl_.get(); }

 private:
  CommandRecording() = default;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli::vulkan
