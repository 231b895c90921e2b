#include "support/counting_vulkan.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "vulkan/driver/loader.hpp"

namespace lapilli::counting {
namespace {

struct Memory {
  uint64_t bytes = 0;
  bool visible = false;
  std::byte* real = nullptr;
  std::vector<std::byte> shadow;
};

struct State {
  std::mutex mutex;
  Calls calls;
  std::vector<Barrier> barriers;
  std::vector<VkCommandBufferUsageFlags> recordings;
  std::vector<std::vector<std::byte>> caches;
  std::map<std::string, int64_t> living;
  std::string fail_name;
  VkResult fail_result = VK_SUCCESS;
  uint64_t fail_in = 0, fail_times = 0;  // fail_in 0: off
  bool failed = false, frozen = false, hidden = false, hollow = false, lost = false;
  // While progress is hidden: what waits have told. Fences are numbered by their submissions.
  uint64_t told_value = 0, told_fence = 0, last_fence = 0;
  std::map<VkFence, uint64_t> fences;
  std::function<void(VkPhysicalDeviceProperties&)> properties;
  std::function<void()> before_compiling;
  bool hide_extensions = false;
  Priority priority = Priority::own;
  uint64_t low_priorities = 0;
  std::vector<VkQueueFamilyProperties> families;
  uint64_t atom = 0;  // pretend to be non-coherent
  uint64_t invalidated = 0;
  uint64_t limit = 0, held = 0;
  std::map<VkDeviceMemory, Memory> memory;
  VkPhysicalDeviceMemoryProperties types{};
  std::vector<std::pair<std::vector<uint32_t>, Compiler>> bad_shaders;
  std::vector<VkShaderModule> refused;
  Indirect indirect = Indirect::right;
  PFN_vkGetInstanceProcAddr next = nullptr;
};

thread_local int depth = 0;
struct Inside {
  Inside() { ++depth; }
  ~Inside() { --depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

const char* const kGoesOn = "(a wait timed out)";

State& state() {
  static State s;
  return s;
}

// Counts the call; true if it shall fail with `result`.
bool enter(const char* name, bool fallible, VkResult* result) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  ++s.calls[name];
  if (!fallible || s.fail_in == 0 || (!s.fail_name.empty() && s.fail_name != name)) return false;
  if (s.fail_in > 1) return --s.fail_in, false;
  *result = s.fail_result;
  s.failed = true;
  if (s.fail_times > 0 && --s.fail_times == 0) s.fail_in = 0;
  return true;
}

void add(const std::string& kind, int64_t n) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.living[kind] += n;
}

// Default: create and destroy change the number of living objects. What is freed with its pool is not tracked.
template <class... Args>
void track(const std::string& name, VkResult result, const Args&... args) {
  if (name == "vkCreateComputePipelines") return;  // may succeed in part, see below
  if (name.starts_with("vkCreate") && result == VK_SUCCESS) add(name.substr(8), 1);
  if (name.starts_with("vkDestroy")) {
    // The handle stands before the allocation callbacks: first of two or second of three.
    bool null = false;
    if constexpr (sizeof...(Args) == 3) null = !std::get<1>(std::tuple<const Args&...>(args...));
    if constexpr (sizeof...(Args) == 2) null = !std::get<0>(std::tuple<const Args&...>(args...));
    if (!null) add(name.substr(9), -1);
  }
}

template <class Tag, class F>
struct Wrapper;

template <class Tag, class R, class... Args>
struct Wrapper<Tag, R(VKAPI_PTR*)(Args...)> {
  using F = R(VKAPI_PTR*)(Args...);
  static inline F real = nullptr;
  static VKAPI_ATTR R VKAPI_CALL call(Args... args) {
    const Inside inside;
    VkResult failure = VK_SUCCESS;
    const bool fails = enter(Tag::name, std::is_same_v<R, VkResult>, &failure);
    if constexpr (std::is_same_v<R, VkResult>) {
      if (fails) return Tag::refuse(failure, args...);
      const VkResult r = Tag::run(real, args...);
      track(Tag::name, r, args...);
      return r;
    } else {
      track(Tag::name, VK_SUCCESS, args...);
      return Tag::run(real, args...);
    }
  }
};

// The behaviour of most calls.
struct Plain {
  template <class F, class... Args>
  static auto run(F real, Args... args) {
    return real(args...);
  }
  template <class... Args>
  static VkResult refuse(VkResult r, Args...) {
    return r;
  }
};

template <class Tag>
struct Special : Plain {};

#define LAPILLI_TAG(fn)                           \
  struct Tag_##fn : Special<Tag_##fn> {           \
    static constexpr const char* name = "vk" #fn; \
  };
#define LAPILLI_FORWARD(fn) struct Tag_##fn;
LAPILLI_INSTANCE_FUNCTIONS(LAPILLI_FORWARD)
LAPILLI_INSTANCE_OPTIONAL(LAPILLI_FORWARD)
LAPILLI_DEVICE_FUNCTIONS(LAPILLI_FORWARD)
LAPILLI_DEVICE_OPTIONAL(LAPILLI_FORWARD)
LAPILLI_FORWARD(CreateInstance)

// Sums become differences and products sums; the operands are laid out alike.
void miscompile(std::vector<uint32_t>& words) {
  constexpr uint32_t kFAdd = 129, kFSub = 131, kFMul = 133;
  for (size_t i = 5; i < words.size() && words[i] >> 16; i += words[i] >> 16) {
    const uint32_t op = words[i] & 0xffffu, size = words[i] & 0xffff0000u;
    if (op == kFAdd) words[i] = size | kFSub;
    if (op == kFMul) words[i] = size | kFAdd;
  }
}

template <>
struct Special<Tag_CreateShaderModule> : Plain {
  static VkResult run(PFN_vkCreateShaderModule real, VkDevice d, const VkShaderModuleCreateInfo* info,
                      const VkAllocationCallbacks* a, VkShaderModule* out) {
    std::vector<uint32_t> words(info->pCode, info->pCode + info->codeSize / 4);
    VkShaderModuleCreateInfo changed = *info;
    State& s = state();
    const std::lock_guard lock(s.mutex);
    const auto bad = std::find_if(s.bad_shaders.begin(), s.bad_shaders.end(),
                                  [&](const auto& shader) { return shader.first == words; });
    const bool refuses = bad != s.bad_shaders.end() && bad->second == Compiler::refuses;
    if (bad != s.bad_shaders.end() && !refuses) {
      miscompile(words);
      changed.pCode = words.data();
    }
    const VkResult r = real(d, &changed, a, out);
    std::erase(s.refused, *out);  // a handle may come again
    if (r == VK_SUCCESS && refuses) s.refused.push_back(*out);
    return r;
  }
};

bool has_refused(uint32_t n, const VkComputePipelineCreateInfo* info) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return std::any_of(info, info + n, [&](const VkComputePipelineCreateInfo& i) {
    return std::find(s.refused.begin(), s.refused.end(), i.stage.module) != s.refused.end();
  });
}

void compiling() {
  std::function<void()> call;
  {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    call = s.before_compiling;
  }
  if (call) call();
}

template <>
struct Special<Tag_CreateComputePipelines> : Plain {
  static VkResult run(PFN_vkCreateComputePipelines real, VkDevice d, VkPipelineCache c, uint32_t n,
                      const VkComputePipelineCreateInfo* info, const VkAllocationCallbacks* a, VkPipeline* out) {
    compiling();
    if (has_refused(n, info)) return refuse(VK_ERROR_UNKNOWN, d, c, n, info, a, out);
    const VkResult r = real(d, c, n, info, a, out);
    add("Pipeline", std::count_if(out, out + n, [](VkPipeline p) { return p != VK_NULL_HANDLE; }));
    return r;
  }
  // A failed batch leaves null handles, as Vulkan asks.
  static VkResult refuse(VkResult r, VkDevice, VkPipelineCache, uint32_t n, const VkComputePipelineCreateInfo*,
                         const VkAllocationCallbacks*, VkPipeline* out) {
    std::fill_n(out, n, VkPipeline(VK_NULL_HANDLE));
    return r;
  }
};

template <>
struct Special<Tag_CreatePipelineCache> : Plain {
  static VkResult run(PFN_vkCreatePipelineCache real, VkDevice d, const VkPipelineCacheCreateInfo* info,
                      const VkAllocationCallbacks* a, VkPipelineCache* out) {
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      const auto* data = static_cast<const std::byte*>(info->pInitialData);
      s.caches.emplace_back(data, data + info->initialDataSize);
    }
    return real(d, info, a, out);
  }
};

template <>
struct Special<Tag_AllocateMemory> : Plain {
  static VkResult run(PFN_vkAllocateMemory real, VkDevice d, const VkMemoryAllocateInfo* info,
                      const VkAllocationCallbacks* a, VkDeviceMemory* out) {
    State& s = state();
    {
      const std::lock_guard lock(s.mutex);
      if (s.limit && s.held + info->allocationSize > s.limit) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    const VkResult r = real(d, info, a, out);
    if (r != VK_SUCCESS) return r;
    const std::lock_guard lock(s.mutex);
    s.held += info->allocationSize;
    s.memory[*out].bytes = info->allocationSize;
    ++s.living["Memory"];
    return r;
  }
};

template <>
struct Special<Tag_FreeMemory> : Plain {
  static void run(PFN_vkFreeMemory real, VkDevice d, VkDeviceMemory m, const VkAllocationCallbacks* a) {
    State& s = state();
    {
      const std::lock_guard lock(s.mutex);
      const auto it = s.memory.find(m);
      if (it != s.memory.end()) {
        s.held -= it->second.bytes;
        s.memory.erase(it);
        --s.living["Memory"];
      }
    }
    real(d, m, a);
  }
};

template <>
struct Special<Tag_MapMemory> : Plain {
  static VkResult run(PFN_vkMapMemory real, VkDevice d, VkDeviceMemory m, VkDeviceSize offset, VkDeviceSize size,
                      VkMemoryMapFlags flags, void** out) {
    const VkResult r = real(d, m, offset, size, flags, out);
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (r != VK_SUCCESS || !s.atom) return r;
    Memory& memory = s.memory[m];
    memory.real = static_cast<std::byte*>(*out) - offset;
    memory.shadow.assign(memory.bytes, std::byte{0xcd});
    *out = memory.shadow.data() + offset;
    return r;
  }
};

// Carries bytes between shadow and memory; false if the range breaks the rules of nonCoherentAtomSize.
bool carry(uint32_t n, const VkMappedMemoryRange* ranges, bool flush) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (uint32_t i = 0; i < n && s.atom; ++i) {
    const auto it = s.memory.find(ranges[i].memory);
    if (it == s.memory.end() || !it->second.real) return false;
    Memory& m = it->second;
    const uint64_t begin = ranges[i].offset;
    const uint64_t end = ranges[i].size == VK_WHOLE_SIZE ? m.bytes : begin + ranges[i].size;
    if (end > m.bytes || begin > end || begin % s.atom || (end % s.atom && end != m.bytes)) return false;
    std::byte* const to = (flush ? m.real : m.shadow.data()) + begin;
    std::memcpy(to, (flush ? m.shadow.data() : m.real) + begin, end - begin);
    if (!flush) s.invalidated += end - begin;
  }
  return true;
}

template <>
struct Special<Tag_FlushMappedMemoryRanges> : Plain {
  static VkResult run(PFN_vkFlushMappedMemoryRanges real, VkDevice d, uint32_t n, const VkMappedMemoryRange* ranges) {
    return carry(n, ranges, true) ? (state().atom ? VK_SUCCESS : real(d, n, ranges)) : VK_ERROR_UNKNOWN;
  }
};

template <>
struct Special<Tag_InvalidateMappedMemoryRanges> : Plain {
  static VkResult run(PFN_vkInvalidateMappedMemoryRanges real, VkDevice d, uint32_t n,
                      const VkMappedMemoryRange* ranges) {
    return carry(n, ranges, false) ? (state().atom ? VK_SUCCESS : real(d, n, ranges)) : VK_ERROR_UNKNOWN;
  }
};

VkInstance last_instance = VK_NULL_HANDLE;

template <>
struct Special<Tag_CmdDispatchIndirect> : Plain {
  static void run(PFN_vkCmdDispatchIndirect real, VkCommandBuffer c, VkBuffer buffer, VkDeviceSize offset) {
    State& s = state();
    const std::unique_lock lock(s.mutex);
    if (s.indirect == Indirect::right) return real(c, buffer, offset);
    if (s.indirect == Indirect::nothing) return;
    reinterpret_cast<PFN_vkCmdDispatch>(s.next(last_instance, "vkCmdDispatch"))(c, 1, 1, 1);
  }
};

template <>
struct Special<Tag_CmdPipelineBarrier> : Plain {
  static void run(PFN_vkCmdPipelineBarrier real, VkCommandBuffer c, VkPipelineStageFlags from, VkPipelineStageFlags to,
                  VkDependencyFlags flags, uint32_t n, const VkMemoryBarrier* memory, uint32_t buffers,
                  const VkBufferMemoryBarrier* of_buffers, uint32_t images, const VkImageMemoryBarrier* of_images) {
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      for (const auto& b : std::span(memory, n)) s.barriers.push_back({from, to, b.srcAccessMask, b.dstAccessMask});
    }
    real(c, from, to, flags, n, memory, buffers, of_buffers, images, of_images);
  }
};

template <>
struct Special<Tag_BeginCommandBuffer> : Plain {
  static VkResult run(PFN_vkBeginCommandBuffer real, VkCommandBuffer c, const VkCommandBufferBeginInfo* info) {
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      s.recordings.push_back(info->flags);
    }
    return real(c, info);
  }
};

void change_types(VkPhysicalDeviceMemoryProperties& p) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  for (uint32_t i = 0; s.atom && i < p.memoryTypeCount; ++i) {
    p.memoryTypes[i].propertyFlags &= ~VkMemoryPropertyFlags(VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
  }
}

template <>
struct Special<Tag_GetPhysicalDeviceMemoryProperties> : Plain {
  static void run(PFN_vkGetPhysicalDeviceMemoryProperties real, VkPhysicalDevice d,
                  VkPhysicalDeviceMemoryProperties* out) {
    real(d, out);
    change_types(*out);
  }
};

template <>
struct Special<Tag_GetPhysicalDeviceProperties> : Plain {
  static void run(PFN_vkGetPhysicalDeviceProperties real, VkPhysicalDevice d, VkPhysicalDeviceProperties* out) {
    real(d, out);
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.properties) s.properties(*out);
    if (s.atom) out->limits.nonCoherentAtomSize = std::max<uint64_t>(s.atom, out->limits.nonCoherentAtomSize);
  }
};

template <>
struct Special<Tag_GetPhysicalDeviceQueueFamilyProperties> : Plain {
  static void run(PFN_vkGetPhysicalDeviceQueueFamilyProperties real, VkPhysicalDevice d, uint32_t* n,
                  VkQueueFamilyProperties* out) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.families.empty()) return real(d, n, out);
    const auto all = static_cast<uint32_t>(s.families.size());
    *n = out ? std::min(*n, all) : all;
    if (out) std::copy_n(s.families.begin(), *n, out);
  }
};

template <>
struct Special<Tag_EnumerateDeviceExtensionProperties> : Plain {
  static VkResult run(PFN_vkEnumerateDeviceExtensionProperties real, VkPhysicalDevice d, const char* layer, uint32_t* n,
                      VkExtensionProperties* out) {
    bool hide = false, offer = false;
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      hide = s.hide_extensions;
      offer = s.priority != Priority::own && !layer && (!out || *n > 0);
    }
    if (hide) return *n = 0, VK_SUCCESS;
    if (!offer) return real(d, layer, n, out);
    if (out) --*n;
    const VkResult r = real(d, layer, n, out);
    if (out) std::snprintf(out[*n].extensionName, sizeof out->extensionName, VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME);
    ++*n;
    return r;
  }
};

template <>
struct Special<Tag_CreateDevice> : Plain {
  static VkResult run(PFN_vkCreateDevice real, VkPhysicalDevice d, const VkDeviceCreateInfo* info,
                      const VkAllocationCallbacks* a, VkDevice* out) {
    const auto* low = static_cast<const VkDeviceQueueGlobalPriorityCreateInfoKHR*>(info->pQueueCreateInfos->pNext);
    if (!low) return real(d, info, a, out);
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      s.low_priorities += low->globalPriority == VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR;
      if (s.priority == Priority::refused) return VK_ERROR_NOT_PERMITTED_KHR;
    }
    VkDeviceQueueCreateInfo queue = *info->pQueueCreateInfos;
    queue.pNext = nullptr;
    std::vector<const char*> extensions(info->ppEnabledExtensionNames,
                                        info->ppEnabledExtensionNames + info->enabledExtensionCount);
    std::erase_if(extensions,
                  [](const char* name) { return std::string(name) == VK_KHR_GLOBAL_PRIORITY_EXTENSION_NAME; });
    VkDeviceCreateInfo plain = *info;
    plain.pQueueCreateInfos = &queue;
    plain.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    plain.ppEnabledExtensionNames = extensions.data();
    return real(d, &plain, a, out);
  }
};

bool get(bool State::*flag) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.*flag;
}
bool frozen() { return get(&State::frozen); }
bool hidden() { return get(&State::frozen) || get(&State::hidden) || get(&State::hollow); }
bool hollow() { return get(&State::hollow); }
bool lost() { return get(&State::lost); }

uint64_t number_of(VkFence fence) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.fences[fence];
}

// A wait that succeeded tells of everything up to there.
VkResult tell(VkResult r, uint64_t State::*told, uint64_t value) {
  if (r != VK_SUCCESS) return r;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.*told = std::max(s.*told, value);
  return r;
}
uint64_t told(uint64_t State::*what) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.frozen || s.hollow ? 0 : s.*what;
}

// A failure that is made up leaves the driver at work; wait for it, as a device that is really lost is not.
void quiet(VkDevice device) {
  const auto wait = reinterpret_cast<PFN_vkDeviceWaitIdle>(state().next(last_instance, "vkDeviceWaitIdle"));
  if (wait) (void)wait(device);
}

// A wait that gave up and goes on in another call is one wait.
VkResult waited(VkResult r) {
  if (r != VK_TIMEOUT) return r;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  ++s.calls[kGoesOn];
  return r;
}

template <>
struct Special<Tag_QueueSubmit> : Plain {
  static VkResult run(PFN_vkQueueSubmit real, VkQueue q, uint32_t n, const VkSubmitInfo* info, VkFence f) {
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      s.fences[f] = ++s.last_fence;
    }
    return real(q, n, info, f);
  }
};

template <>
struct Special<Tag_WaitForFences> : Plain {
  static VkResult refuse(VkResult r, VkDevice d, uint32_t, const VkFence*, VkBool32, uint64_t) { return quiet(d), r; }
  static VkResult run(PFN_vkWaitForFences real, VkDevice d, uint32_t n, const VkFence* f, VkBool32 all, uint64_t t) {
    if (lost()) return quiet(d), VK_SUCCESS;
    if (hollow()) return VK_SUCCESS;
    return waited(frozen() ? VK_TIMEOUT : tell(real(d, n, f, all, t), &State::told_fence, number_of(*f)));
  }
};

template <>
struct Special<Tag_GetFenceStatus> : Plain {
  static VkResult refuse(VkResult r, VkDevice d, VkFence) { return quiet(d), r; }
  static VkResult run(PFN_vkGetFenceStatus real, VkDevice d, VkFence f) {
    if (lost()) return VK_ERROR_DEVICE_LOST;
    return hidden() && number_of(f) > told(&State::told_fence) ? VK_NOT_READY : real(d, f);
  }
};

template <>
struct Special<Tag_WaitSemaphores> : Plain {
  static VkResult refuse(VkResult r, VkDevice d, const VkSemaphoreWaitInfo*, uint64_t) { return quiet(d), r; }
  static VkResult run(PFN_vkWaitSemaphores real, VkDevice d, const VkSemaphoreWaitInfo* info, uint64_t t) {
    if (lost()) return quiet(d), VK_SUCCESS;
    if (hollow()) return VK_SUCCESS;
    return waited(frozen() ? VK_TIMEOUT : tell(real(d, info, t), &State::told_value, *info->pValues));
  }
};

template <>
struct Special<Tag_GetSemaphoreCounterValue> : Plain {
  static VkResult refuse(VkResult r, VkDevice d, VkSemaphore, uint64_t*) { return quiet(d), r; }
  static VkResult run(PFN_vkGetSemaphoreCounterValue real, VkDevice d, VkSemaphore s, uint64_t* value) {
    if (!hidden() && !lost()) return real(d, s, value);
    *value = lost() ? ~uint64_t{0} : told(&State::told_value);
    return VK_SUCCESS;
  }
};

LAPILLI_INSTANCE_FUNCTIONS(LAPILLI_TAG)
LAPILLI_INSTANCE_OPTIONAL(LAPILLI_TAG)
LAPILLI_DEVICE_FUNCTIONS(LAPILLI_TAG)
LAPILLI_DEVICE_OPTIONAL(LAPILLI_TAG)
LAPILLI_TAG(CreateInstance)

template <class Tag, class F>
PFN_vkVoidFunction wrap(PFN_vkVoidFunction real) {
  Wrapper<Tag, F>::real = reinterpret_cast<F>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(&Wrapper<Tag, F>::call);
}

// Device functions are asked of the instance: those pointers lead to the right driver for every device.
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char* name);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device(VkDevice device, const char* name) {
  const auto next = reinterpret_cast<PFN_vkGetDeviceProcAddr>(state().next(last_instance, "vkGetDeviceProcAddr"));
  return next && next(device, name) ? get_instance(last_instance, name) : nullptr;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance(VkInstance instance, const char* name) {
  if (instance) last_instance = instance;
  if (!std::strcmp(name, "vkGetInstanceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(&get_instance);
  if (!std::strcmp(name, "vkGetDeviceProcAddr")) return reinterpret_cast<PFN_vkVoidFunction>(&get_device);
  const PFN_vkVoidFunction real = state().next(instance, name);
  if (!real) return nullptr;
#define LAPILLI_WRAP(fn) \
  if (!std::strcmp(name, "vk" #fn) || !std::strcmp(name, "vk" #fn "KHR")) return wrap<Tag_##fn, PFN_vk##fn>(real);
  LAPILLI_INSTANCE_FUNCTIONS(LAPILLI_WRAP)
  LAPILLI_INSTANCE_OPTIONAL(LAPILLI_WRAP)
  LAPILLI_DEVICE_FUNCTIONS(LAPILLI_WRAP)
  LAPILLI_DEVICE_OPTIONAL(LAPILLI_WRAP)
  LAPILLI_WRAP(CreateInstance)
#undef LAPILLI_WRAP
  return real;
}

const char* const kReplayCalls[] = {kGoesOn,
                                    "vkQueueSubmit",
                                    "vkWaitSemaphores",
                                    "vkWaitForFences",
                                    "vkGetFenceStatus",
                                    "vkGetSemaphoreCounterValue",
                                    "vkResetFences",
                                    "vkGetQueryPoolResults",
                                    "vkFlushMappedMemoryRanges",
                                    "vkInvalidateMappedMemoryRanges"};

}  // namespace

void* get_instance_proc_addr() {
  auto loader = vulkan::open_loader(nullptr);
  if (!loader) return nullptr;
  state().next = loader->GetInstanceProcAddr;
  return reinterpret_cast<void*>(&get_instance);
}

void reset() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.calls.clear();
  s.barriers.clear();
  s.recordings.clear();
  s.caches.clear();
  s.living.clear();
  s.fail_in = s.fail_times = 0;
  s.failed = s.frozen = s.hidden = s.hollow = s.lost = s.hide_extensions = false;
  s.told_value = s.told_fence = s.last_fence = 0;
  s.fences.clear();
  s.properties = nullptr;
  s.before_compiling = nullptr;
  s.priority = Priority::own;
  s.low_priorities = 0;
  s.families.clear();
  s.atom = s.invalidated = s.limit = s.held = 0;
  s.memory.clear();
  s.bad_shaders.clear();
  s.refused.clear();
  s.indirect = Indirect::right;
}

Calls calls() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.calls;
}

uint64_t calls(const std::string& name) {
  const Calls all = calls();
  const auto it = all.find(name);
  return it == all.end() ? 0 : it->second;
}

Calls since(const Calls& before) {
  Calls now = calls();
  for (const auto& [name, n] : before) now[name] -= n;
  std::erase_if(now, [](const auto& c) { return c.second == 0; });
  return now;
}

Calls setup_calls(const Calls& all) {
  Calls rest = all;
  for (const char* name : kReplayCalls) rest.erase(name);
  return rest;
}

std::vector<Barrier> barriers() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.barriers;
}

std::vector<VkCommandBufferUsageFlags> recordings() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.recordings;
}

std::vector<std::vector<std::byte>> pipeline_caches() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.caches;
}

namespace {
uint64_t sum(const Calls& all, std::initializer_list<const char*> names) {
  uint64_t n = 0;
  for (const char* name : names) {
    if (const auto it = all.find(name); it != all.end()) n += it->second;
  }
  return n;
}
}  // namespace

uint64_t submits(const Calls& all) { return sum(all, {"vkQueueSubmit"}); }
uint64_t waits(const Calls& all) { return sum(all, {"vkWaitSemaphores", "vkWaitForFences"}) - sum(all, {kGoesOn}); }

namespace {
template <class Counts>
std::string counts_text(const Counts& all) {
  std::string s;
  for (const auto& [name, n] : all) s += (s.empty() ? "" : ", ") + name + " " + std::to_string(n);
  return s;
}
}  // namespace
std::string to_string(const Calls& all) { return counts_text(all); }
std::string to_string(const std::map<std::string, int64_t>& living) { return counts_text(living); }

std::map<std::string, int64_t> living() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  std::map<std::string, int64_t> alive = s.living;
  std::erase_if(alive, [](const auto& c) { return c.second == 0; });
  return alive;
}

void fail(const std::string& name, VkResult result, uint64_t nth, uint64_t times) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.fail_name = name;
  s.fail_result = result;
  s.fail_in = nth;
  s.fail_times = times;
  s.failed = false;
}

bool failed() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.failed;
}

void freeze_progress(bool value) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.frozen = value;
}

void before_compiling(std::function<void()> call) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.before_compiling = std::move(call);
}

void hide_progress(bool value) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.hidden = value;
  s.told_value = s.told_fence = 0;
}

void end_waits_early(bool value) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.hollow = value;
}

void lose_silently(bool value) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.lost = value;
}

void pretend_properties(std::function<void(VkPhysicalDeviceProperties&)> change, bool hide_extensions) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.properties = std::move(change);
  s.hide_extensions = hide_extensions;
}

void pretend_priority(Priority priority) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.priority = priority;
}

uint64_t low_priorities() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.low_priorities;
}

void pretend_queue_families(std::vector<VkQueueFamilyProperties> families) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.families = std::move(families);
}

bool inside() { return depth > 0; }

void pretend_non_coherent(uint64_t atom) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.atom = atom;
}

uint64_t invalidated_bytes() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.invalidated;
}

void compile_badly(const uint32_t* words, size_t count, Compiler how) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.bad_shaders.emplace_back(std::vector<uint32_t>(words, words + count), how);
}

void dispatch_badly(Indirect how) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.indirect = how;
}

void limit_memory(uint64_t bytes) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.limit = bytes;
}

}  // namespace lapilli::counting
