// A device's capabilities as plain data without Vulkan types, so that variant selection is a pure function, tested
// without a device. Read from a device (snapshot.cpp), corrected by quirks (quirks.cpp), narrowed by a mask (mask.cpp).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace lapilli {

enum class DeviceType : uint8_t { other, integrated, discrete, virtual_gpu, cpu };

// Defaults are the minimum that every Vulkan 1.1 device guarantees (the floor).
struct Capabilities {
  // Identity
  std::string device_name = "floor";
  std::string driver_name, driver_info;
  uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
  uint32_t api_version = (1u << 22) | (1u << 12);  // VK_MAKE_API_VERSION(0, 1, 1, 0)
  std::array<uint8_t, 16> uuid{};
  DeviceType type = DeviceType::other;

  // Limits, in bytes or counts
  uint64_t max_storage_range = uint64_t{128} << 20;  // one storage binding
  uint64_t max_uniform_range = 16384;                // one uniform binding
  uint32_t max_push_bytes = 128;
  uint32_t max_storage_buffers = 4;  // per stage
  uint32_t max_uniform_buffers = 12;
  uint32_t max_invocations = 128;  // per workgroup
  std::array<uint32_t, 3> max_group_size{128, 128, 64};
  std::array<uint32_t, 3> max_group_count{65535, 65535, 65535};
  uint32_t shared_memory = 16384;
  uint64_t storage_alignment = 256;
  uint64_t uniform_alignment = 256;
  uint64_t non_coherent_atom = 256;
  uint64_t max_allocation = uint64_t{1} << 30;
  uint64_t heap_bytes = 0;  // size of the heap for weights and arenas; 0: unknown

  // Features beyond the floor
  uint32_t subgroup_size = 1;  // 1: subgroup variants are off
  uint32_t min_subgroup_size = 1, max_subgroup_size = 1;
  bool subgroup_arithmetic = false, subgroup_shuffle = false, subgroup_size_control = false;
  bool timeline_semaphore = false;
  bool storage_16bit = false, arithmetic_fp16 = false;
  bool storage_8bit = false, arithmetic_int8 = false, integer_dot = false;
  // Shape of cooperative matrices of fp16 with fp32 sums: rows and columns of a sum, depth. Zeros: none.
  std::array<uint32_t, 3> cooperative_matrix{};
  bool texels = false;        // storage may also be bound as texels of four words (vulkan/caps/bindings.hpp)
  bool packed_halves = true;  // core, but off if a driver's compiler fails at it: kernels may unpack fp16
  bool memory_budget = false;
  bool indirect_dispatch = true;  // off: full grids, kernels return early
  bool unified_memory = false;    // the host can map the main heap: shared data is written in place
  bool timestamps = false;
  float timestamp_period = 0;  // nanoseconds per tick

  // Names of the quirks and masks that were applied
  std::vector<std::string> quirks, masks;

  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

// The size of subgroups that share a cooperative matrix: the only size, or the smallest that can be requested; 0 if
// none is certain.
constexpr uint32_t cooperative_subgroup(const Capabilities& caps) {
  const bool one = caps.min_subgroup_size == caps.subgroup_size && caps.max_subgroup_size == caps.subgroup_size;
  return one || caps.subgroup_size_control ? caps.min_subgroup_size : 0;
}
constexpr bool has_cooperative_matrix(const Capabilities& caps) {
  return caps.cooperative_matrix[0] != 0 && caps.arithmetic_fp16 && cooperative_subgroup(caps) > 1;
}

}  // namespace lapilli
