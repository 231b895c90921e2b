// Which bindings kernels may name: every one of them uses the same set layout.
#pragma once

#include <cstdint>

#include "vulkan/capabilities.hpp"

namespace lapilli {

// Storage buffers at 0-3 and uniform buffers at 4-7 are there on every device; storage buffers at 8 and 9 where a stage
// may have so many.
constexpr uint32_t kFloorBindings = 8, kMostBindings = 10;
constexpr uint32_t kUniformBindings = 4;
constexpr uint32_t kMostStorageBindings = kMostBindings - kUniformBindings;
constexpr bool is_uniform(uint32_t binding) { return binding >= 4 && binding < 4 + kUniformBindings; }

inline bool has_most_bindings(const Capabilities& caps) { return caps.max_storage_buffers >= kMostStorageBindings; }
inline uint32_t binding_count(const Capabilities& caps) {
  return has_most_bindings(caps) ? kMostBindings : kFloorBindings;
}

}  // namespace lapilli
