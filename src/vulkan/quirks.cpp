#include "vulkan/quirks.hpp"

#include <string_view>

namespace lapilli::vulkan {
namespace {

enum Clears : uint32_t {
  kFp16 = 1,
  kIntegerDot = 2,
  kShuffle = 4,
  kIndirect = 8,
};

// One line a quirk. A vendor of 0 and empty texts match everything; versions are the driver's own numbers, from first
// to before `fixed` (0: not fixed yet).
struct Quirk {
  const char* name;
  uint32_t vendor;
  const char* driver;  // part of driver_name
  const char* device;  // part of device_name
  uint32_t first, fixed;
  uint32_t clears;
  const char* why;
  const char* link;
};

constexpr Quirk kQuirks[] = {
    {"powervr-integer-dot", 0x1010, "", "", 0, 0, kIntegerDot, "packed dot products give wrong sums on DXT", ""},
};

bool matches(const Quirk& q, const Capabilities& caps) {
  return (q.vendor == 0 || q.vendor == caps.vendor_id) &&
         std::string_view(caps.driver_name).find(q.driver) != std::string_view::npos &&
         std::string_view(caps.device_name).find(q.device) != std::string_view::npos &&
         caps.driver_version >= q.first && (q.fixed == 0 || caps.driver_version < q.fixed);
}

}  // namespace

void apply_quirks(Capabilities& caps) {
  for (const Quirk& q : kQuirks) {
    if (!matches(q, caps)) continue;
    if (q.clears & kFp16) caps.arithmetic_fp16 = false;
    if (q.clears & kIntegerDot) caps.integer_dot = false;
    if (q.clears & kShuffle) caps.subgroup_shuffle = false;
    if (q.clears & kIndirect) caps.indirect_dispatch = false;
    caps.quirks.emplace_back(q.name);
  }
}

}  // namespace lapilli::vulkan
