#include "vulkan/caps/quirks.hpp"

#include <string_view>

#include "base/log.hpp"

namespace lapilli::vulkan {
namespace {

enum Clears : uint32_t {
  kFp16 = 1,
  kIntegerDot = 2,
  kShuffle = 4,
  kIndirect = 8,
  kHalves = 16,
};

// The processor matters, as CPU drivers compile kernels for it.
#if defined(__aarch64__) || defined(_M_ARM64)
constexpr bool kOnArm64 = true;
#else
constexpr bool kOnArm64 = false;
#endif

// One line per quirk. A vendor of 0 and empty texts match everything; versions are the driver's own numbers, from the
// first to before `fixed` (0: not fixed yet).
struct Quirk {
  const char* name;
  uint32_t vendor;
  const char* driver;  // part of driver_name
  const char* device;  // part of device_name
  uint32_t first, fixed;
  uint32_t clears;
  const char* why;
  const char* link;
  bool here = true;  // applies to the processor that this runs on
};

// Only failures reported with evidence are listed. Everything beyond the floor is also checked against the reference on
// the device before use; a line saves that time, and catches rare failures.
constexpr Quirk kQuirks[] = {
    {"powervr-integer-dot", 0x1010, "", "", 0, 0, kIntegerDot,
     "every token is 0 with packed dot products (DXT-48-1536)", "https://github.com/ggml-org/llama.cpp/issues/28502"},
    {"adreno-shuffle", 0x5143, "", "", 0, 0, kShuffle,
     "matrix products through shuffles are wrong on several system drivers and on Turnip (Adreno 640, 840)",
     "https://github.com/Tencent/ncnn/issues/6778"},
    {"adreno6xx-fp16", 0x5143, "", "Adreno (TM) 6", 0, 0, kFp16, "fp16 arithmetic is wrong on old drivers",
     "https://github.com/Tencent/ncnn/pull/4587"},
    {"llvm15-arm64-halves", 0, "", "llvmpipe (LLVM 15.", 0, 0, kHalves,
     "its compiler ends the program where two halves are unpacked", "tests/lab/README.md", kOnArm64},
};

bool matches(const Quirk& q, const Capabilities& caps) {
  return q.here && (q.vendor == 0 || q.vendor == caps.vendor_id) &&
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
    if (q.clears & kHalves) caps.packed_halves = false;
    if (q.clears & kIndirect) caps.indirect_dispatch = false;
    if (caps.subgroup_size > 1 && !caps.subgroup_arithmetic && !caps.subgroup_shuffle) {
      caps.subgroup_size = caps.min_subgroup_size = caps.max_subgroup_size = 1;
      caps.subgroup_size_control = false;
    }
    caps.quirks.emplace_back(q.name);
    log(LogLevel::verbose, caps.device_name + ": quirk " + q.name + ": " + q.why + " (" + q.link + ")");
  }
}

}  // namespace lapilli::vulkan
