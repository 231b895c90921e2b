// Transfers to and from memory that the host cannot map, through the two halves of a small buffer.
#pragma once

#include <memory>
#include <mutex>
#include <span>

#include "vulkan/device/context.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli::vulkan {

class MemoryPool;
class Submitter;

class Staging {
 public:
  static constexpr uint64_t kBytes = uint64_t{8} << 20;  // at most, in each direction

  Staging(Context& context, MemoryPool& pool, Submitter& queue);
  ~Staging();
  // Blocking; the caller has checked ranges. They follow everything submitted before.
  Status write(const Buffer::Impl& buffer, uint64_t offset, std::span<const std::byte> bytes);
  Status read(const Buffer::Impl& buffer, uint64_t offset, std::span<std::byte> bytes);
  Status zero(const Buffer::Impl& buffer);
  // Frees the buffers; the next transfer allocates them again.
  void trim();

 private:
  struct Half;
  struct Lane;
  Status prepare(Lane& lane, MemoryUse use);
  Status submit(Half& half);
  Status finish(Half& half, Lane& lane, std::byte* out);

  Context& context_;
  MemoryPool& pool_;
  Submitter& queue_;
  std::mutex mutex_;  // one transfer at a time
  std::unique_ptr<Lane> up_, down_;
};

}  // namespace lapilli::vulkan
