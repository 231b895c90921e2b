// Memory that a device reads and writes. No Vulkan types here; see device.hpp for threads and lifetimes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.hpp"

namespace lapilli::vulkan {

class Device;

enum class MemoryUse : uint8_t {
  weights,   // read by shaders: a model's. Mapped, like a session's, only if there is no other memory
  device,    // read and written by shaders: arenas, caches, state
  shared,    // read by shaders, and small: written by the host in place if memory is unified
  upload,    // written by the host, read by shaders or copied from
  readback,  // written by shaders or copied to, read by the host
};
inline constexpr size_t kMemoryUses = static_cast<size_t>(MemoryUse::readback) + 1;

// A range of bytes in one of the device's memory blocks, with a VkBuffer of its own. Move-only; frees itself.
class Buffer {
 public:
  Buffer() noexcept;
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();
  explicit operator bool() const { return impl_ != nullptr; }
  [[nodiscard]] uint64_t size() const;
  // The host's view; null if the memory cannot be mapped. Call flush after writing and invalidate before reading (both
  // do nothing on coherent memory, and round to nonCoherentAtomSize).
  [[nodiscard]] std::byte* mapped() const;
  Status flush(uint64_t offset, uint64_t bytes) const;
  // Keeps `with` alive as long as the buffer's memory is in use: until work submitted before its destruction is done.
  void keep(std::shared_ptr<void> with) const;
  Status invalidate(uint64_t offset, uint64_t bytes) const;

  struct Impl;
  [[nodiscard]] const Impl* impl() const { return impl_.get(); }

 private:
  friend class Device;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli::vulkan
