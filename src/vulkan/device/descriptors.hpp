// Buffers bound for a kernel. No Vulkan types here; see device.hpp for threads and lifetimes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "vulkan/caps/bindings.hpp"
#include "vulkan/device/buffer.hpp"

namespace lapilli::vulkan {

struct BufferBinding {
  uint32_t binding = 0;
  const Buffer* buffer = nullptr;
  uint64_t offset = 0, size = 0;  // offset aligned as the capabilities require
};
class DescriptorSet;  // opaque; lives as long as its arena

// Descriptor sets that are allocated and written once and freed together. Buffers bound as texels must live until the
// last set is written: views are keyed by the buffer's handle, which a driver may reuse.
class DescriptorArena {
 public:
  static Result<DescriptorArena> create(std::shared_ptr<Device> device, uint32_t max_sets);
  DescriptorArena(DescriptorArena&&) noexcept;
  DescriptorArena& operator=(DescriptorArena&&) noexcept;
  ~DescriptorArena();
  Result<const DescriptorSet*> write(std::span<const BufferBinding> bindings);

 private:
  DescriptorArena() = default;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli::vulkan
