// VK_LAYER_LAPILLI_lab_device: a Vulkan layer that makes any device look smaller than it is, and lets calls fail on
// demand. Put below the validation layer (the script `as` does), so that validation judges by the small device.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "config.hpp"
#include "identity.hpp"
#include "memory_types.hpp"
#include "narrow.hpp"
#include "pace.hpp"

namespace lapilli::lab {
namespace {

constexpr const char* kLayerName = "VK_LAYER_LAPILLI_lab_device";
constexpr const char* kSubset = "VK_KHR_portability_subset";

// portability=1: the device offers kSubset, as MoltenVK does. The driver below has never heard of it.
bool offers_subset() { return Config::get().number("portability") != 0; }

// The next layer's or the driver's functions: those that we stand in front of.
#define INSTANCE_FUNCTIONS(X, X2)             \
  X(DestroyInstance)                          \
  X(GetPhysicalDeviceProperties)              \
  X2(GetPhysicalDeviceProperties2)            \
  X(GetPhysicalDeviceFeatures)                \
  X2(GetPhysicalDeviceFeatures2)              \
  X(GetPhysicalDeviceMemoryProperties)        \
  X2(GetPhysicalDeviceMemoryProperties2)      \
  X(GetPhysicalDeviceQueueFamilyProperties)   \
  X2(GetPhysicalDeviceQueueFamilyProperties2) \
  X(EnumerateDeviceExtensionProperties)
#define DEVICE_FUNCTIONS(X, X2)         \
  X(DestroyDevice)                      \
  X(AllocateMemory)                     \
  X(FreeMemory)                         \
  X(MapMemory)                          \
  X(UnmapMemory)                        \
  X(FlushMappedMemoryRanges)            \
  X(InvalidateMappedMemoryRanges)       \
  X(GetBufferMemoryRequirements)        \
  X2(GetBufferMemoryRequirements2)      \
  X(GetImageMemoryRequirements)         \
  X2(GetImageMemoryRequirements2)       \
  X2(GetDeviceBufferMemoryRequirements) \
  X(CreateBuffer)                       \
  X(CreateComputePipelines)             \
  X(CreatePipelineCache)                \
  X(GetPipelineCacheData)               \
  X(CreateShaderModule)                 \
  X(CmdDispatch)                        \
  X(CmdDispatchIndirect)                \
  X(QueueSubmit)                        \
  X2(QueueSubmit2)                      \
  X(WaitForFences)                      \
  X2(WaitSemaphores)
#define MEMBER(name) PFN_vk##name name = nullptr;

struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  PFN_vkGetInstanceProcAddr get_proc = nullptr;
  INSTANCE_FUNCTIONS(MEMBER, MEMBER)
};

struct Allocation {
  uint64_t counted = 0;  // bytes of the heap that is enforced
  uint32_t heap = 0;     // of pretended types
  bool mappable = true, shadowed = false;
  uint64_t bytes = 0;
  std::shared_ptr<Shadow> shadow;  // while it is mapped and not coherent
};

struct Device {
  VkDevice handle = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  PFN_vkGetDeviceProcAddr get_proc = nullptr;
  DEVICE_FUNCTIONS(MEMBER, MEMBER)
  uint64_t heap = ~uint64_t{0};
  uint64_t used[VK_MAX_MEMORY_HEAPS] = {};
  std::map<VkDeviceMemory, Allocation> allocations;
};
#undef MEMBER

struct State {
  std::mutex mutex;
  std::unordered_map<void*, Instance> instances;
  std::unordered_map<void*, Device> devices;
};
State& state() {
  static State s;
  return s;
}

// Dispatchable handles of one instance or device share their first word, the loader's dispatch table.
template <class Handle>
void* key_of(Handle handle) {
  return *reinterpret_cast<void**>(handle);
}
template <class Handle>
Instance& instance_of(Handle handle) {
  std::lock_guard lock(state().mutex);
  return state().instances.at(key_of(handle));
}
template <class Handle>
Device& device_of(Handle handle) {
  std::lock_guard lock(state().mutex);
  return state().devices.at(key_of(handle));
}

uint32_t real_type_of(VkPhysicalDevice physical) {
  VkPhysicalDeviceMemoryProperties memory;
  instance_of(physical).GetPhysicalDeviceMemoryProperties(physical, &memory);
  return real_memory_type(memory);
}

void narrow_requirements(const Device& device, VkMemoryRequirements& requirements) {
  const MemoryTypes* const types = MemoryTypes::get();
  if (!discrete_memory() && !types) return;
  const bool possible = (requirements.memoryTypeBits >> real_type_of(device.physical) & 1) != 0;
  requirements.memoryTypeBits = !possible ? 0 : types ? types->buffer_bits() : 3;
}

// ---- what the device says of itself -------------------------------------------------------------------------------

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceProperties(VkPhysicalDevice p, VkPhysicalDeviceProperties* out) {
  instance_of(p).GetPhysicalDeviceProperties(p, out);
  narrow(*out);
}

size_t place_among_all(VkPhysicalDevice p) {
  const Instance& instance = instance_of(p);
  const auto enumerate = reinterpret_cast<PFN_vkEnumeratePhysicalDevices>(
      instance.get_proc(instance.handle, "vkEnumeratePhysicalDevices"));
  uint32_t count = 0;
  if (!enumerate || enumerate(instance.handle, &count, nullptr) < 0) return 0;
  std::vector<VkPhysicalDevice> all(count);
  if (enumerate(instance.handle, &count, all.data()) < 0) return 0;
  return static_cast<size_t>(std::find(all.begin(), all.end(), p) - all.begin());
}

// Several drivers may have devices. The loader asks for properties while it enumerates.
size_t place_of(VkPhysicalDevice p) {
  static thread_local bool enumerating = false;
  if (enumerating) return 0;
  enumerating = true;
  const size_t place = place_among_all(p);
  enumerating = false;
  return place;
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceProperties2(VkPhysicalDevice p, VkPhysicalDeviceProperties2* out) {
  instance_of(p).GetPhysicalDeviceProperties2(p, out);
  narrow(out->properties);
  narrow_property_chain(out->pNext);
  if (pretends_identity()) pretend_identity(out->pNext, place_of(p));
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceFeatures(VkPhysicalDevice p, VkPhysicalDeviceFeatures* out) {
  instance_of(p).GetPhysicalDeviceFeatures(p, out);
  narrow(*out);
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceFeatures2(VkPhysicalDevice p, VkPhysicalDeviceFeatures2* out) {
  instance_of(p).GetPhysicalDeviceFeatures2(p, out);
  narrow_feature_chain(out);
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceMemoryProperties(VkPhysicalDevice p,
                                                             VkPhysicalDeviceMemoryProperties* out) {
  instance_of(p).GetPhysicalDeviceMemoryProperties(p, out);
  narrow(*out);
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceMemoryProperties2(VkPhysicalDevice p,
                                                              VkPhysicalDeviceMemoryProperties2* out) {
  instance_of(p).GetPhysicalDeviceMemoryProperties2(p, out);
  narrow_memory_chain(out->pNext, out->memoryProperties);
  narrow(out->memoryProperties);
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice p, uint32_t* count,
                                                                  VkQueueFamilyProperties* out) {
  instance_of(p).GetPhysicalDeviceQueueFamilyProperties(p, count, out);
  for (uint32_t i = 0; out && i < *count; ++i) narrow(out[i]);
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice p, uint32_t* count,
                                                                   VkQueueFamilyProperties2* out) {
  instance_of(p).GetPhysicalDeviceQueueFamilyProperties2(p, count, out);
  for (uint32_t i = 0; out && i < *count; ++i) narrow(out[i].queueFamilyProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL EnumerateDeviceExtensionProperties(VkPhysicalDevice p, const char* layer,
                                                                  uint32_t* count, VkExtensionProperties* out) {
  if (layer && std::strcmp(layer, kLayerName) == 0) {
    *count = 0;
    return VK_SUCCESS;
  }
  const Instance& instance = instance_of(p);
  if (layer) return instance.EnumerateDeviceExtensionProperties(p, layer, count, out);
  uint32_t n = 0;
  VkResult result = instance.EnumerateDeviceExtensionProperties(p, nullptr, &n, nullptr);
  if (result < 0) return result;
  std::vector<VkExtensionProperties> shown(n);
  result = instance.EnumerateDeviceExtensionProperties(p, nullptr, &n, shown.data());
  if (result < 0) return result;
  std::erase_if(shown, [](const auto& e) { return Config::get().extension_hidden(e.extensionName); });
  const auto offer = [&shown](const char* name) {
    VkExtensionProperties offered{};
    std::snprintf(offered.extensionName, sizeof offered.extensionName, "%s", name);
    offered.specVersion = 1;
    shown.push_back(offered);
  };
  if (offers_subset()) offer(kSubset);
  if (offers_addresses()) offer(VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
  const auto total = static_cast<uint32_t>(shown.size());
  if (!out) {
    *count = total;
    return VK_SUCCESS;
  }
  *count = std::min(*count, total);
  std::copy_n(shown.begin(), *count, out);
  return *count == total ? VK_SUCCESS : VK_INCOMPLETE;
}

// ---- memory -------------------------------------------------------------------------------------------------------

// Changes a request as a pretended device does; false: it has no such type.
bool pretend(VkMemoryAllocateInfo& info, const Device& device, Allocation& allocation) {
  if (const MemoryTypes* const types = MemoryTypes::get()) {
    if (!types->known(info.memoryTypeIndex)) return false;
    allocation.heap = types->heap_of(info.memoryTypeIndex);
    allocation.mappable = types->mappable(info.memoryTypeIndex);
    allocation.shadowed = types->shadowed(info.memoryTypeIndex);
    info.memoryTypeIndex = real_type_of(device.physical);
  } else if (discrete_memory()) {
    allocation.mappable = info.memoryTypeIndex == 1;
    if (allocation.mappable) allocation.counted = 0;
    info.memoryTypeIndex = real_type_of(device.physical);
  }
  return true;
}

uint64_t heap_limit(const Device& device, uint32_t heap) {
  const MemoryTypes* const types = MemoryTypes::get();
  return types ? types->heap_bytes(heap) : device.heap;
}

VKAPI_ATTR VkResult VKAPI_CALL AllocateMemory(VkDevice h, const VkMemoryAllocateInfo* asked,
                                              const VkAllocationCallbacks* callbacks, VkDeviceMemory* out) {
  VkResult result;
  if (Config::get().fails_now("vkAllocateMemory", result)) return result;
  Device& device = device_of(h);
  VkMemoryAllocateInfo info = *asked;
  Allocation allocation;
  allocation.counted = allocation.bytes = info.allocationSize;
  if (!pretend(info, device, allocation)) {
    std::fprintf(stderr, "lab: vkAllocateMemory of memory type %u, which there is not\n", asked->memoryTypeIndex);
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  }
  {
    std::lock_guard lock(state().mutex);
    uint64_t& used = device.used[allocation.heap];
    const uint64_t limit = heap_limit(device, allocation.heap);
    if (limit != ~uint64_t{0} && used + allocation.counted > limit) {
      if (Config::get().log())
        std::fprintf(stderr, "lab: out of memory: %llu bytes used, %llu more asked for\n",
                     static_cast<unsigned long long>(used), static_cast<unsigned long long>(allocation.counted));
      return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    used += allocation.counted;
  }
  result = device.AllocateMemory(h, &info, callbacks, out);
  std::lock_guard lock(state().mutex);
  if (result == VK_SUCCESS) {
    device.allocations[*out] = allocation;
  } else {
    device.used[allocation.heap] -= allocation.counted;
  }
  return result;
}

VKAPI_ATTR void VKAPI_CALL FreeMemory(VkDevice h, VkDeviceMemory memory, const VkAllocationCallbacks* callbacks) {
  Device& device = device_of(h);
  {
    std::lock_guard lock(state().mutex);
    const auto it = device.allocations.find(memory);
    if (it != device.allocations.end()) {
      device.used[it->second.heap] -= it->second.counted;
      device.allocations.erase(it);
    }
  }
  device.FreeMemory(h, memory, callbacks);
}

VKAPI_ATTR VkResult VKAPI_CALL MapMemory(VkDevice h, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                                         VkMemoryMapFlags flags, void** out) {
  VkResult result;
  if (Config::get().fails_now("vkMapMemory", result)) return result;
  Device& device = device_of(h);
  {
    std::lock_guard lock(state().mutex);
    const auto it = device.allocations.find(memory);
    if (it != device.allocations.end() && !it->second.mappable) {
      std::fprintf(stderr, "lab: vkMapMemory of memory that is not host-visible\n");
      return VK_ERROR_MEMORY_MAP_FAILED;
    }
  }
  result = device.MapMemory(h, memory, offset, size, flags, out);
  std::lock_guard lock(state().mutex);
  const auto it = device.allocations.find(memory);
  if (result != VK_SUCCESS || it == device.allocations.end() || !it->second.shadowed) return result;
  const uint64_t bytes = size == VK_WHOLE_SIZE ? it->second.bytes - offset : size;
  it->second.shadow = std::make_shared<Shadow>(*out, bytes, offset);
  *out = it->second.shadow->bytes();
  return result;
}

// The shadow of an allocation that is mapped and not coherent, else null.
std::shared_ptr<Shadow> shadow_of(const Device& device, VkDeviceMemory memory) {
  std::lock_guard lock(state().mutex);
  const auto it = device.allocations.find(memory);
  return it == device.allocations.end() ? nullptr : it->second.shadow;
}

VKAPI_ATTR void VKAPI_CALL UnmapMemory(VkDevice h, VkDeviceMemory memory) {
  Device& device = device_of(h);
  {
    std::lock_guard lock(state().mutex);
    const auto it = device.allocations.find(memory);
    if (it != device.allocations.end()) it->second.shadow.reset();
  }
  device.UnmapMemory(h, memory);
}

VKAPI_ATTR VkResult VKAPI_CALL FlushMappedMemoryRanges(VkDevice h, uint32_t count, const VkMappedMemoryRange* ranges) {
  const Device& device = device_of(h);
  for (uint32_t i = 0; i < count; ++i)
    if (const auto shadow = shadow_of(device, ranges[i].memory)) shadow->flush(ranges[i].offset, ranges[i].size);
  return device.FlushMappedMemoryRanges(h, count, ranges);
}

VKAPI_ATTR VkResult VKAPI_CALL InvalidateMappedMemoryRanges(VkDevice h, uint32_t count,
                                                            const VkMappedMemoryRange* ranges) {
  const Device& device = device_of(h);
  const VkResult result = device.InvalidateMappedMemoryRanges(h, count, ranges);
  for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i)
    if (const auto shadow = shadow_of(device, ranges[i].memory)) shadow->invalidate(ranges[i].offset, ranges[i].size);
  return result;
}

VKAPI_ATTR void VKAPI_CALL GetBufferMemoryRequirements(VkDevice h, VkBuffer b, VkMemoryRequirements* out) {
  const Device& device = device_of(h);
  device.GetBufferMemoryRequirements(h, b, out);
  narrow_requirements(device, *out);
}

VKAPI_ATTR void VKAPI_CALL GetBufferMemoryRequirements2(VkDevice h, const VkBufferMemoryRequirementsInfo2* info,
                                                        VkMemoryRequirements2* out) {
  const Device& device = device_of(h);
  device.GetBufferMemoryRequirements2(h, info, out);
  narrow_requirements(device, out->memoryRequirements);
}

VKAPI_ATTR void VKAPI_CALL GetImageMemoryRequirements(VkDevice h, VkImage image, VkMemoryRequirements* out) {
  const Device& device = device_of(h);
  device.GetImageMemoryRequirements(h, image, out);
  narrow_requirements(device, *out);
}

VKAPI_ATTR void VKAPI_CALL GetImageMemoryRequirements2(VkDevice h, const VkImageMemoryRequirementsInfo2* info,
                                                       VkMemoryRequirements2* out) {
  const Device& device = device_of(h);
  device.GetImageMemoryRequirements2(h, info, out);
  narrow_requirements(device, out->memoryRequirements);
}

VKAPI_ATTR void VKAPI_CALL GetDeviceBufferMemoryRequirements(VkDevice h, const VkDeviceBufferMemoryRequirements* info,
                                                             VkMemoryRequirements2* out) {
  const Device& device = device_of(h);
  device.GetDeviceBufferMemoryRequirements(h, info, out);
  narrow_requirements(device, out->memoryRequirements);
}

// ---- calls that only fail on demand -------------------------------------------------------------------------------

VKAPI_ATTR VkResult VKAPI_CALL CreateBuffer(VkDevice h, const VkBufferCreateInfo* info,
                                            const VkAllocationCallbacks* callbacks, VkBuffer* out) {
  VkResult result;
  if (Config::get().fails_now("vkCreateBuffer", result)) return result;
  return device_of(h).CreateBuffer(h, info, callbacks, out);
}

VKAPI_ATTR VkResult VKAPI_CALL CreateShaderModule(VkDevice h, const VkShaderModuleCreateInfo* info,
                                                  const VkAllocationCallbacks* callbacks, VkShaderModule* out) {
  VkResult result;
  if (Config::get().fails_now("vkCreateShaderModule", result)) return result;
  return device_of(h).CreateShaderModule(h, info, callbacks, out);
}

VKAPI_ATTR VkResult VKAPI_CALL CreateComputePipelines(VkDevice h, VkPipelineCache cache, uint32_t count,
                                                      const VkComputePipelineCreateInfo* infos,
                                                      const VkAllocationCallbacks* callbacks, VkPipeline* out) {
  VkResult result;
  if (Config::get().fails_now("vkCreateComputePipelines", result)) {
    std::fill_n(out, count, VkPipeline{});
    return result;
  }
  return device_of(h).CreateComputePipelines(h, cache, count, infos, callbacks, out);
}

VKAPI_ATTR void VKAPI_CALL CmdDispatch(VkCommandBuffer c, uint32_t x, uint32_t y, uint32_t z) {
  device_of(c).CmdDispatch(c, x, y, z);
}

// A driver that runs one group whatever the arguments say, none too.
VKAPI_ATTR void VKAPI_CALL CmdDispatchIndirect(VkCommandBuffer c, VkBuffer buffer, VkDeviceSize offset) {
  const Device& device = device_of(c);
  if (Config::get().is("indirect", "one-group")) return device.CmdDispatch(c, 1, 1, 1);
  device.CmdDispatchIndirect(c, buffer, offset);
}

// ---- pipeline caches ----------------------------------------------------------------------------------------------

// The header of a driver's data names a vendor and a device: the pretended one to those above, the real one below.
void rename_device(std::span<std::byte> data, const VkPhysicalDeviceProperties& from,
                   const VkPhysicalDeviceProperties& to) {
  VkPipelineCacheHeaderVersionOne header;
  if (data.size() < sizeof header) return;
  std::memcpy(&header, data.data(), sizeof header);
  if (header.vendorID != from.vendorID || header.deviceID != from.deviceID) return;
  header.vendorID = to.vendorID;
  header.deviceID = to.deviceID;
  std::memcpy(data.data(), &header, sizeof header);
}

struct Names {
  VkPhysicalDeviceProperties real{}, shown{};
};
Names names_of(const Device& device) {
  Names names;
  instance_of(device.physical).GetPhysicalDeviceProperties(device.physical, &names.real);
  names.shown = names.real;
  narrow(names.shown);
  return names;
}

VKAPI_ATTR VkResult VKAPI_CALL CreatePipelineCache(VkDevice h, const VkPipelineCacheCreateInfo* info,
                                                   const VkAllocationCallbacks* callbacks, VkPipelineCache* out) {
  const Device& device = device_of(h);
  const Names names = names_of(device);
  const auto* const bytes = static_cast<const std::byte*>(info->pInitialData);
  std::vector<std::byte> data(bytes, bytes + info->initialDataSize);
  rename_device(data, names.shown, names.real);
  VkPipelineCacheCreateInfo real = *info;
  real.pInitialData = data.data();
  return device.CreatePipelineCache(h, &real, callbacks, out);
}

VKAPI_ATTR VkResult VKAPI_CALL GetPipelineCacheData(VkDevice h, VkPipelineCache cache, size_t* size, void* data) {
  const Device& device = device_of(h);
  const Names names = names_of(device);
  const VkResult result = device.GetPipelineCacheData(h, cache, size, data);
  if (data && result >= 0) rename_device({static_cast<std::byte*>(data), *size}, names.real, names.shown);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL QueueSubmit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits, VkFence fence) {
  VkResult result;
  if (Config::get().fails_now("vkQueueSubmit", result)) return result;
  return device_of(queue).QueueSubmit(queue, count, submits, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL QueueSubmit2(VkQueue queue, uint32_t count, const VkSubmitInfo2* submits,
                                            VkFence fence) {
  VkResult result;
  if (Config::get().fails_now("vkQueueSubmit2", result)) return result;
  return device_of(queue).QueueSubmit2(queue, count, submits, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL WaitForFences(VkDevice h, uint32_t count, const VkFence* fences, VkBool32 all,
                                             uint64_t timeout) {
  VkResult result;
  if (Config::get().fails_now("vkWaitForFences", result)) return result;
  return device_of(h).WaitForFences(h, count, fences, all, timeout);
}

VKAPI_ATTR VkResult VKAPI_CALL WaitSemaphores(VkDevice h, const VkSemaphoreWaitInfo* info, uint64_t timeout) {
  VkResult result;
  if (Config::get().fails_now("vkWaitSemaphores", result)) return result;
  return device_of(h).WaitSemaphores(h, info, timeout);
}

// ---- instances and devices ----------------------------------------------------------------------------------------

// The loader's link to the next layer, in the chain of a create call.
template <class Link>
Link* find_link(const void* chain, VkStructureType type) {
  for (auto* s = static_cast<const VkBaseInStructure*>(chain); s; s = s->pNext) {
    if (s->sType != type) continue;
    auto* link = reinterpret_cast<Link*>(const_cast<VkBaseInStructure*>(s));
    if (link->function == VK_LAYER_LINK_INFO) return link;
  }
  return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* callbacks,
                                              VkInstance* out) {
  auto* link = find_link<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  if (!link) return VK_ERROR_INITIALIZATION_FAILED;
  const PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(get(nullptr, "vkCreateInstance"));
  const VkResult result = create(info, callbacks, out);
  if (result != VK_SUCCESS) return result;
  Instance instance;
  instance.handle = *out;
  instance.get_proc = get;
#define LOAD(name) instance.name = reinterpret_cast<PFN_vk##name>(get(*out, "vk" #name));
#define LOAD_2(name) \
  LOAD(name)         \
  if (!instance.name) instance.name = reinterpret_cast<PFN_vk##name>(get(*out, "vk" #name "KHR"));
  INSTANCE_FUNCTIONS(LOAD, LOAD_2)
#undef LOAD
#undef LOAD_2
  std::lock_guard lock(state().mutex);
  state().instances[key_of(*out)] = instance;
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL DestroyInstance(VkInstance h, const VkAllocationCallbacks* callbacks) {
  if (!h) return;
  void* const key = key_of(h);
  instance_of(h).DestroyInstance(h, callbacks);
  std::lock_guard lock(state().mutex);
  state().instances.erase(key);
}

// The request to the driver below: all that is enabled, except what it does not know.
struct AskedOfDriver {
  std::vector<const char*> names;
  VkDeviceCreateInfo info;
  bool subset_enabled = false;

  explicit AskedOfDriver(const VkDeviceCreateInfo& asked) : info(asked) {
    for (const char* name : std::span(asked.ppEnabledExtensionNames, asked.enabledExtensionCount)) {
      const bool subset = offers_subset() && std::strcmp(name, kSubset) == 0;
      subset_enabled |= subset;
      if (!subset) names.push_back(name);
    }
    info.enabledExtensionCount = static_cast<uint32_t>(names.size());
    info.ppEnabledExtensionNames = names.data();
  }
};

VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* callbacks, VkDevice* out) {
  VkResult result;
  if (Config::get().fails_now("vkCreateDevice", result)) return result;
  auto* link = find_link<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  if (!link) return VK_ERROR_INITIALIZATION_FAILED;
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i) {
    if (!Config::get().extension_hidden(info->ppEnabledExtensionNames[i])) continue;
    std::fprintf(stderr, "lab: %s was enabled, but is not offered\n", info->ppEnabledExtensionNames[i]);
    return VK_ERROR_EXTENSION_NOT_PRESENT;
  }
  const AskedOfDriver driver(*info);
  if (offers_subset() && !driver.subset_enabled) {
    std::fprintf(stderr, "lab: %s is offered and was not enabled\n", kSubset);
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  const int refused = first_refused_feature(*info);
  if (refused >= 0) {
    std::fprintf(stderr, "lab: a feature that is off was enabled (structure type %d)\n", refused);
    return VK_ERROR_FEATURE_NOT_PRESENT;
  }
  const PFN_vkGetInstanceProcAddr get_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  const PFN_vkGetDeviceProcAddr get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create =
      reinterpret_cast<PFN_vkCreateDevice>(get_instance(instance_of(physical).handle, "vkCreateDevice"));
  result = create(physical, &driver.info, callbacks, out);
  if (result != VK_SUCCESS) return result;
  Device device;
  device.handle = *out;
  device.physical = physical;
  device.get_proc = get;
  if (Config::get().has("heap")) device.heap = Config::get().number("heap") << 20;
#define LOAD(name) device.name = reinterpret_cast<PFN_vk##name>(get(*out, "vk" #name));
#define LOAD_2(name) \
  LOAD(name)         \
  if (!device.name) device.name = reinterpret_cast<PFN_vk##name>(get(*out, "vk" #name "KHR"));
  DEVICE_FUNCTIONS(LOAD, LOAD_2)
#undef LOAD
#undef LOAD_2
  std::lock_guard lock(state().mutex);
  state().devices[key_of(*out)] = std::move(device);
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL DestroyDevice(VkDevice h, const VkAllocationCallbacks* callbacks) {
  if (!h) return;
  void* const key = key_of(h);
  device_of(h).DestroyDevice(h, callbacks);
  std::lock_guard lock(state().mutex);
  state().devices.erase(key);
}

// ---- what the loader asks -----------------------------------------------------------------------------------------

struct Entry {
  const char* name;
  PFN_vkVoidFunction function;
};
#define ENTRY(name) {"vk" #name, reinterpret_cast<PFN_vkVoidFunction>(name)},
#define ENTRY_2(name) ENTRY(name){"vk" #name "KHR", reinterpret_cast<PFN_vkVoidFunction>(name)},

PFN_vkVoidFunction our_device_function(const char* name) {
  static const Entry entries[] = {DEVICE_FUNCTIONS(ENTRY, ENTRY_2)};
  for (const Entry& e : entries)
    if (std::strcmp(e.name, name) == 0) return e.function;
  return nullptr;
}

PFN_vkVoidFunction our_instance_function(const char* name) {
  static const Entry entries[] = {ENTRY(CreateInstance) ENTRY(CreateDevice) INSTANCE_FUNCTIONS(ENTRY, ENTRY_2)};
  for (const Entry& e : entries)
    if (std::strcmp(e.name, name) == 0) return e.function;
  return our_device_function(name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc(VkDevice h, const char* name) {
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return reinterpret_cast<PFN_vkVoidFunction>(get_device_proc);
  const PFN_vkVoidFunction next = device_of(h).get_proc(h, name);
  const PFN_vkVoidFunction ours = next ? our_device_function(name) : nullptr;  // only what the driver has
  return paced(h, name, ours ? ours : next);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance h, const char* name) {
  if (std::strcmp(name, "vkGetInstanceProcAddr") == 0) return reinterpret_cast<PFN_vkVoidFunction>(get_instance_proc);
  if (std::strcmp(name, "vkGetDeviceProcAddr") == 0) return reinterpret_cast<PFN_vkVoidFunction>(get_device_proc);
  if (!h) return std::strcmp(name, "vkCreateInstance") == 0 ? our_instance_function(name) : nullptr;
  const PFN_vkVoidFunction next = instance_of(h).get_proc(h, name);
  const PFN_vkVoidFunction ours = next ? our_instance_function(name) : nullptr;
  return ours ? ours : next;
}

}  // namespace
}  // namespace lapilli::lab

extern "C" __attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* interface) {
  interface->loaderLayerInterfaceVersion = std::min(interface->loaderLayerInterfaceVersion, 2u);
  interface->pfnGetInstanceProcAddr = lapilli::lab::get_instance_proc;
  interface->pfnGetDeviceProcAddr = lapilli::lab::get_device_proc;
  interface->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
