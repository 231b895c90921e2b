// Narrowing capabilities: intersection with another set, and the named masks built on it.
#include "vulkan/caps/mask.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "vulkan/caps/capabilities_json.hpp"

namespace lapilli {
namespace {

void clear_subgroups(Capabilities& c) {
  c.subgroup_size = c.min_subgroup_size = c.max_subgroup_size = 1;
  c.subgroup_arithmetic = c.subgroup_shuffle = c.subgroup_size_control = false;
}

// A subgroup size cannot be reduced; if the sizes differ, subgroups are off.
void intersect_subgroups(Capabilities& a, const Capabilities& b) {
  a.subgroup_arithmetic &= b.subgroup_arithmetic;
  a.subgroup_shuffle &= b.subgroup_shuffle;
  a.subgroup_size_control &= b.subgroup_size_control;
  a.min_subgroup_size = std::max(a.min_subgroup_size, b.min_subgroup_size);
  a.max_subgroup_size = std::min(a.max_subgroup_size, b.max_subgroup_size);
  const bool none = a.subgroup_size <= 1 || b.subgroup_size != a.subgroup_size;
  if (none || a.min_subgroup_size > a.max_subgroup_size || (!a.subgroup_arithmetic && !a.subgroup_shuffle)) {
    clear_subgroups(a);
  }
}

void intersect(Capabilities& a, const Capabilities& b) {
  const auto low = [](auto& x, const auto& y) { x = std::min(x, y); };
  const auto high = [](auto& x, const auto& y) { x = std::max(x, y); };
  low(a.api_version, b.api_version);
  low(a.max_storage_range, b.max_storage_range);
  low(a.max_uniform_range, b.max_uniform_range);
  low(a.max_push_bytes, b.max_push_bytes);
  low(a.max_storage_buffers, b.max_storage_buffers);
  low(a.max_uniform_buffers, b.max_uniform_buffers);
  low(a.max_invocations, b.max_invocations);
  for (size_t i = 0; i < 3; ++i) {
    low(a.max_group_size[i], b.max_group_size[i]);
    low(a.max_group_count[i], b.max_group_count[i]);
  }
  low(a.shared_memory, b.shared_memory);
  high(a.storage_alignment, b.storage_alignment);
  high(a.uniform_alignment, b.uniform_alignment);
  high(a.non_coherent_atom, b.non_coherent_atom);
  low(a.max_allocation, b.max_allocation);
  if (b.heap_bytes) a.heap_bytes = a.heap_bytes ? std::min(a.heap_bytes, b.heap_bytes) : b.heap_bytes;
  intersect_subgroups(a, b);
  a.timeline_semaphore &= b.timeline_semaphore;
  a.storage_16bit &= b.storage_16bit;
  a.arithmetic_fp16 &= b.arithmetic_fp16;
  a.storage_8bit &= b.storage_8bit;
  a.arithmetic_int8 &= b.arithmetic_int8;
  a.integer_dot &= b.integer_dot;
  if (a.cooperative_matrix != b.cooperative_matrix) a.cooperative_matrix = {};
  a.texels &= b.texels;
  a.packed_halves &= b.packed_halves;
  a.memory_budget &= b.memory_budget;
  a.indirect_dispatch &= b.indirect_dispatch;
  a.unified_memory &= b.unified_memory;
  a.timestamps &= b.timestamps;
  if (!a.timestamps) a.timestamp_period = 0;
}

Status apply_one(Capabilities& c, const std::string& name) {
  if (name == "full") return {};
  if (name == "floor") {
    intersect(c, Capabilities{});
  } else if (name == "small-bindings") {
    c.max_storage_range = std::min<uint64_t>(c.max_storage_range, 65536);
    for (uint32_t& n : c.max_group_count) n = std::min<uint32_t>(n, 64);
  } else if (name == "small-work") {
    // Work is bounded by a policy, not a capability; it checks the names of masks.
  } else if (name == "no-subgroup") {
    clear_subgroups(c);
  } else if (name == "no-timeline") {
    c.timeline_semaphore = false;
  } else if (name == "no-indirect") {
    c.indirect_dispatch = false;
  } else if (name == "no-fp16") {
    c.arithmetic_fp16 = c.storage_16bit = false;
  } else if (name == "no-halves") {
    c.packed_halves = false;
  } else if (name == "no-int8") {
    c.arithmetic_int8 = c.storage_8bit = c.integer_dot = false;
  } else if (name == "no-coop") {
    c.cooperative_matrix = {};
  } else if (name == "staging") {
    c.unified_memory = false;
  } else if (name == "gpu") {
    // The only mask that removes nothing but texels, which are for CPU drivers. The type is a hint, not a capability:
    // it determines workgroup sizes, work per invocation, the order of variants and the size of submissions, all within
    // the limits, which stay. A CPU driver can thus run a GPU's work, which is how tests without a GPU cover it.
    if (c.type == DeviceType::cpu) {
      c.type = DeviceType::other;
      c.texels = false;
    }
  } else if (name.ends_with(".json") || name.find_first_of("/\\") != std::string::npos) {
    auto file = read_text_file(name, size_t{1} << 20);
    if (!file) return std::move(file).error().in("capability mask");
    auto other = capabilities_from_json(*file);
    if (!other) return std::move(other).error().in(name);
    intersect(c, *other);
  } else {
    return fail(ErrorCode::invalid_argument,
                "unknown capability mask '%s'; known: full, floor, small-bindings, small-work, no-subgroup, "
                "no-timeline, no-indirect, "
                "no-fp16, no-halves, no-int8, no-coop, staging, gpu, or a .json file of capabilities",
                name);
  }
  c.masks.push_back(name);
  return {};
}

}  // namespace

Result<Capabilities> apply_mask(Capabilities caps, const std::string& mask) {
  size_t at = 0;
  while (at < mask.size()) {
    const size_t end = std::min(mask.find(',', at), mask.size());
    const size_t first = mask.find_first_not_of(" \t", at);
    const size_t last = mask.find_last_not_of(" \t", end - (end > at));
    if (end > at && first < end && last != std::string::npos && last >= first) {
      LAPILLI_CHECK(apply_one(caps, mask.substr(first, last - first + 1)));
    }
    at = end + 1;
  }
  return caps;
}

}  // namespace lapilli
