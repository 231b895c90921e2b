// Bindings that kernels may use: all kernels share one set layout.
#pragma once

#include <cstdint>

#include "vulkan/caps/capabilities.hpp"

namespace lapilli {

// Every device has storage buffers at 0-3 and uniform buffers at 4-7; storage buffers at 8 and 9 if a stage may have
// that many; at 10, if `texels` says so, a storage texel buffer of vec4 of words (R32G32B32A32_UINT, which every device
// supports), for CPU drivers, which read such vec4 in fewer instructions than from storage buffers
// (docs/decisions/texels-on-cpu-drivers.md). The same bytes may be bound as both, within the same limits.
constexpr uint32_t kFloorBindings = 8, kTexelBinding = 10, kBindings = 11;
constexpr uint32_t kUniformBindings = 4, kMostStorageBindings = 6;
constexpr uint64_t kTexelBytes = 16;
constexpr bool is_uniform(uint32_t binding) { return binding >= 4 && binding < 4 + kUniformBindings; }
constexpr bool is_texels(uint32_t binding) { return binding == kTexelBinding; }

inline bool has_most_bindings(const Capabilities& caps) { return caps.max_storage_buffers >= kMostStorageBindings; }
inline bool has_binding(const Capabilities& caps, uint32_t binding) {
  if (is_texels(binding)) return caps.texels;
  return binding < kFloorBindings || (binding < kTexelBinding && has_most_bindings(caps));
}
// Most bytes that may be bound there, and the alignment of the offset.
constexpr uint64_t max_binding_range(const Capabilities& caps, uint32_t binding) {
  return is_uniform(binding) ? caps.max_uniform_range : caps.max_storage_range;
}
constexpr uint64_t binding_alignment(const Capabilities& caps, uint32_t binding) {
  return is_uniform(binding) ? caps.uniform_alignment : caps.storage_alignment;
}

}  // namespace lapilli
