// Reads from SPIR-V words what a kernel asks of its caller: bindings, push constants, workgroup size, capabilities.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

struct SpirvBinding {
  bool uniform = false;
  bool non_writable = false, non_readable = false;  // of every member
  uint64_t bytes = 0;                               // of a uniform block
};
struct SpirvMember {
  std::string name, type;  // uint, int, float; other types: ?
  uint32_t offset = 0;     // bytes
  bool operator==(const SpirvMember&) const = default;
};
struct SpirvInfo {
  std::map<uint32_t, SpirvBinding> bindings;  // of set 0
  bool other_sets = false;
  uint32_t push_bytes = 0;
  std::vector<SpirvMember> push;                           // members of the block, as they are declared
  std::array<uint32_t, 3> local_size{1, 1, 1};             // with the default constants
  std::array<int64_t, 3> local_size_constant{-1, -1, -1};  // specialization id of each dimension, or -1
  std::set<uint32_t> spec_ids;
  std::set<uint32_t> capabilities;  // spv::Capability
  uint64_t shared_bytes = 0;
};
Result<SpirvInfo> read_spirv(std::span<const uint32_t> words);

}  // namespace lapilli
