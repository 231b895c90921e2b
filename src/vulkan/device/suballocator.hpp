// Splits a range of bytes into allocations. Independent of Vulkan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace lapilli::vulkan {

// Best fit over a map of free ranges; freed neighbours are merged. Not thread-safe.
class Suballocator {
 public:
  explicit Suballocator(uint64_t bytes);
  // Offset of a free range, or nothing if no hole is large enough. `alignment` is a power of two.
  std::optional<uint64_t> allocate(uint64_t bytes, uint64_t alignment);
  // Frees an offset that allocate returned; false, without any change, if it is none. Allocates nothing on the host.
  bool release(uint64_t offset) noexcept;
  [[nodiscard]] bool empty() const { return used_.empty(); }
  [[nodiscard]] uint64_t size() const { return size_; }
  [[nodiscard]] uint64_t free_bytes() const;

 private:
  uint64_t size_ = 0;
  std::map<uint64_t, uint64_t> free_, used_;  // offset -> bytes
};

}  // namespace lapilli::vulkan
