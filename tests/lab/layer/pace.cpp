// A device of a given speed by a virtual clock. In the mode "times" (the default) what works on large buffers is not
// run at all, so that the memory of large models is never touched; the small kernels that keep a search going do run.
// The layer says itself what a dispatch takes: by the bytes of its descriptors and its groups, times a factor of 0.3 to
// 3 that goes by the words of its shader and that nobody above knows of. Of a table that rows are gathered from only so
// much counts.
#include "pace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "config.hpp"
#include "gathers.hpp"

namespace lapilli::lab {
namespace {

// Larger work is not run: a dispatch by its largest descriptor; copies and fills of whole models.
constexpr VkDeviceSize kLargeBytes = 1 << 20, kLargeTransfer = 8 << 20, kLargeBuffer = 12 << 20;
constexpr double kLaunchNs = 5000;  // of each dispatch, at 20 GB/s
constexpr VkDeviceSize kGatheredBytes = 16 << 20;
constexpr double kGroupBytes = 4096;  // the work of one group takes as long as so many bytes

struct Operation {
  double ns = 0;
  VkQueryPool queries = VK_NULL_HANDLE;  // a timestamp
  uint32_t query = 0;
};
struct Bound {
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkDescriptorSet set = VK_NULL_HANDLE;
};
struct Commands {
  std::vector<Operation> operations;
  Bound bound;
};
struct Shader {
  double factor = 1;
  std::set<uint32_t> gathered;  // bindings
};
struct Completion {
  uint64_t value;
  double end_ns;
};

struct World {
  std::mutex mutex;
  std::map<std::string, PFN_vkVoidFunction> next;
  std::unordered_map<VkBuffer, VkDeviceSize> buffers;
  std::unordered_map<VkDeviceMemory, char*> mapped;
  std::unordered_map<VkShaderModule, Shader> modules;
  std::unordered_map<VkPipeline, Shader> shaders;
  std::unordered_map<VkDescriptorSet, std::map<uint32_t, VkDeviceSize>> sets;
  std::unordered_map<VkCommandBuffer, Commands> commands;
  std::map<std::pair<VkQueryPool, uint32_t>, double> timestamps;
  std::unordered_map<VkSemaphore, std::vector<Completion>> completions;
  std::vector<lab_pace_submission> submissions;
  double now_ns = 1e6, busy_until_ns = 0;
};
World& world() {
  static World w;
  return w;
}
using Lock = std::lock_guard<std::mutex>;

double gb_per_s() { return std::max(0.001, std::atof(Config::get().text("pace").c_str())); }
bool runs_all() { return Config::get().is("pace_mode", "ids"); }

template <class F>
F next_of(const char* name, F) {
  const Lock lock(world().mutex);
  return reinterpret_cast<F>(world().next[name]);
}
#define NEXT(name) next_of("vk" #name, PFN_vk##name{})

// FNV-1a over the words; 0.3 to 3, evenly by the logarithm.
double factor_of(const uint32_t* words, size_t count) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ words[i]) * 1099511628211u;
  return 0.3 * std::pow(10.0, static_cast<double>(hash >> 40) / static_cast<double>(1 << 24));
}

// ---- what is bound ------------------------------------------------------------------------------------------------

VKAPI_ATTR VkResult VKAPI_CALL CreateBuffer(VkDevice d, const VkBufferCreateInfo* info, const VkAllocationCallbacks* c,
                                            VkBuffer* out) {
  const VkResult r = NEXT(CreateBuffer)(d, info, c, out);
  const Lock lock(world().mutex);
  if (r == VK_SUCCESS) world().buffers[*out] = info->size;
  return r;
}

VKAPI_ATTR void VKAPI_CALL FreeMemory(VkDevice d, VkDeviceMemory memory, const VkAllocationCallbacks* c) {
  {
    const Lock lock(world().mutex);
    world().mapped.erase(memory);
  }
  NEXT(FreeMemory)(d, memory, c);
}

VKAPI_ATTR VkResult VKAPI_CALL MapMemory(VkDevice d, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                                         VkMemoryMapFlags flags, void** out) {
  return NEXT(MapMemory)(d, memory, offset, size, flags, out);
}

// CPU drivers, which this is for, map all memory, as often as one likes.
char* address_of(VkDevice d, VkDeviceMemory memory) {
  {
    const Lock lock(world().mutex);
    const auto at = world().mapped.find(memory);
    if (at != world().mapped.end()) return at->second;
  }
  void* address = nullptr;
  if (NEXT(MapMemory)(d, memory, 0, VK_WHOLE_SIZE, 0, &address) != VK_SUCCESS) return nullptr;
  const Lock lock(world().mutex);
  return world().mapped[memory] = static_cast<char*>(address);
}

// The results of a dispatch that is not run are 0, and no number that was there before.
VKAPI_ATTR VkResult VKAPI_CALL BindBufferMemory(VkDevice d, VkBuffer buffer, VkDeviceMemory memory,
                                                VkDeviceSize offset) {
  VkDeviceSize size = 0;
  {
    const Lock lock(world().mutex);
    size = world().buffers[buffer];
  }
  char* const address = size <= kLargeBuffer && !runs_all() ? address_of(d, memory) : nullptr;
  if (address) std::memset(address + offset, 0, size);
  return NEXT(BindBufferMemory)(d, buffer, memory, offset);
}

VKAPI_ATTR VkResult VKAPI_CALL CreateShaderModule(VkDevice d, const VkShaderModuleCreateInfo* info,
                                                  const VkAllocationCallbacks* c, VkShaderModule* out) {
  const VkResult r = NEXT(CreateShaderModule)(d, info, c, out);
  const Lock lock(world().mutex);
  const size_t words = info->codeSize / 4;
  if (r == VK_SUCCESS) world().modules[*out] = {factor_of(info->pCode, words), gathered_bindings(info->pCode, words)};
  return r;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateComputePipelines(VkDevice d, VkPipelineCache cache, uint32_t count,
                                                      const VkComputePipelineCreateInfo* infos,
                                                      const VkAllocationCallbacks* c, VkPipeline* out) {
  const VkResult r = NEXT(CreateComputePipelines)(d, cache, count, infos, c, out);
  const Lock lock(world().mutex);
  for (uint32_t i = 0; i < count; ++i)
    if (out[i]) world().shaders[out[i]] = world().modules[infos[i].stage.module];
  return r;
}

// Drivers give a destroyed object's handle to a later one, of another device too: nothing of the old one counts for it.
VKAPI_ATTR VkResult VKAPI_CALL CreateSemaphore(VkDevice d, const VkSemaphoreCreateInfo* info,
                                               const VkAllocationCallbacks* c, VkSemaphore* out) {
  const VkResult r = NEXT(CreateSemaphore)(d, info, c, out);
  const Lock lock(world().mutex);
  if (r == VK_SUCCESS) world().completions.erase(*out);
  return r;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateQueryPool(VkDevice d, const VkQueryPoolCreateInfo* info,
                                               const VkAllocationCallbacks* c, VkQueryPool* out) {
  const VkResult r = NEXT(CreateQueryPool)(d, info, c, out);
  const Lock lock(world().mutex);
  if (r == VK_SUCCESS) std::erase_if(world().timestamps, [&](const auto& t) { return t.first.first == *out; });
  return r;
}

VKAPI_ATTR VkResult VKAPI_CALL AllocateDescriptorSets(VkDevice d, const VkDescriptorSetAllocateInfo* info,
                                                      VkDescriptorSet* out) {
  const VkResult r = NEXT(AllocateDescriptorSets)(d, info, out);
  const Lock lock(world().mutex);
  for (uint32_t i = 0; r == VK_SUCCESS && i < info->descriptorSetCount; ++i) world().sets.erase(out[i]);
  return r;
}

VKAPI_ATTR void VKAPI_CALL UpdateDescriptorSets(VkDevice d, uint32_t count, const VkWriteDescriptorSet* writes,
                                                uint32_t copies, const VkCopyDescriptorSet* copied) {
  NEXT(UpdateDescriptorSets)(d, count, writes, copies, copied);
  const Lock lock(world().mutex);
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t k = 0; k < writes[i].descriptorCount && writes[i].pBufferInfo; ++k) {
      const VkDescriptorBufferInfo& b = writes[i].pBufferInfo[k];
      const VkDeviceSize range = b.range == VK_WHOLE_SIZE ? world().buffers[b.buffer] - b.offset : b.range;
      world().sets[writes[i].dstSet][writes[i].dstBinding + k] = range;
    }
}

// ---- commands -----------------------------------------------------------------------------------------------------

VKAPI_ATTR VkResult VKAPI_CALL BeginCommandBuffer(VkCommandBuffer c, const VkCommandBufferBeginInfo* info) {
  {
    const Lock lock(world().mutex);
    world().commands[c] = {};
  }
  return NEXT(BeginCommandBuffer)(c, info);
}

VKAPI_ATTR void VKAPI_CALL CmdBindPipeline(VkCommandBuffer c, VkPipelineBindPoint point, VkPipeline pipeline) {
  {
    const Lock lock(world().mutex);
    world().commands[c].bound.pipeline = pipeline;
  }
  NEXT(CmdBindPipeline)(c, point, pipeline);
}

VKAPI_ATTR void VKAPI_CALL CmdBindDescriptorSets(VkCommandBuffer c, VkPipelineBindPoint point, VkPipelineLayout layout,
                                                 uint32_t first, uint32_t count, const VkDescriptorSet* sets,
                                                 uint32_t offsets, const uint32_t* offset) {
  {
    const Lock lock(world().mutex);
    if (count > 0) world().commands[c].bound.set = sets[0];
  }
  NEXT(CmdBindDescriptorSets)(c, point, layout, first, count, sets, offsets, offset);
}

// Notes what it takes; whether it is to be run.
bool note_work(VkCommandBuffer c, double bytes, bool large, double factor) {
  const Lock lock(world().mutex);
  world().commands[c].operations.push_back({(bytes + kLaunchNs * 20) / gb_per_s() * factor, VK_NULL_HANDLE, 0});
  return !large || runs_all();
}

bool note_dispatch(VkCommandBuffer c, double groups) {
  double bytes = groups * kGroupBytes, factor = 1;
  bool large = false;
  {
    const Lock lock(world().mutex);
    const Bound& bound = world().commands[c].bound;
    const Shader& shader = world().shaders[bound.pipeline];
    factor = shader.factor;
    for (const auto& [binding, range] : world().sets[bound.set]) {
      bytes += static_cast<double>(shader.gathered.contains(binding) ? std::min(range, kGatheredBytes) : range);
      large = large || range > kLargeBytes;
    }
  }
  return note_work(c, bytes, large, factor);
}

VKAPI_ATTR void VKAPI_CALL CmdDispatch(VkCommandBuffer c, uint32_t x, uint32_t y, uint32_t z) {
  if (note_dispatch(c, static_cast<double>(x) * y * z)) NEXT(CmdDispatch)(c, x, y, z);
}

// Its groups are not known before it runs.
VKAPI_ATTR void VKAPI_CALL CmdDispatchIndirect(VkCommandBuffer c, VkBuffer buffer, VkDeviceSize offset) {
  if (note_dispatch(c, 0)) NEXT(CmdDispatchIndirect)(c, buffer, offset);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyBuffer(VkCommandBuffer c, VkBuffer from, VkBuffer to, uint32_t count,
                                         const VkBufferCopy* regions) {
  std::vector<VkBufferCopy> run;
  double bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bytes += 2 * static_cast<double>(regions[i].size);
    if (runs_all() || regions[i].size <= kLargeTransfer) run.push_back(regions[i]);
  }
  note_work(c, bytes, false, 1);
  if (!run.empty()) NEXT(CmdCopyBuffer)(c, from, to, static_cast<uint32_t>(run.size()), run.data());
}

VKAPI_ATTR void VKAPI_CALL CmdFillBuffer(VkCommandBuffer c, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
                                         uint32_t word) {
  if (note_work(c, static_cast<double>(size), size > kLargeTransfer, 1))
    NEXT(CmdFillBuffer)(c, buffer, offset, size, word);
}

// Is written by the virtual clock when its submission is.
VKAPI_ATTR void VKAPI_CALL CmdWriteTimestamp(VkCommandBuffer c, VkPipelineStageFlagBits, VkQueryPool pool,
                                             uint32_t query) {
  const Lock lock(world().mutex);
  world().commands[c].operations.push_back({0, pool, query});
}

VKAPI_ATTR VkResult VKAPI_CALL GetQueryPoolResults(VkDevice, VkQueryPool pool, uint32_t first, uint32_t count, size_t,
                                                   void* data, VkDeviceSize stride, VkQueryResultFlags) {
  const Lock lock(world().mutex);
  for (uint32_t i = 0; i < count; ++i) {
    const auto it = world().timestamps.find({pool, first + i});
    if (it == world().timestamps.end() || it->second > world().now_ns) return VK_NOT_READY;
    const auto ticks = static_cast<uint64_t>(it->second);  // of a nanosecond: see timestampPeriod in README.md
    std::memcpy(static_cast<char*>(data) + i * stride, &ticks, sizeof ticks);
  }
  return VK_SUCCESS;
}

// ---- the clock ----------------------------------------------------------------------------------------------------

// Walks what was recorded; the submission begins when the queue is free.
void pass_time(uint32_t count, const VkSubmitInfo* submits) {
  World& w = world();
  const Lock lock(w.mutex);
  for (uint32_t s = 0; s < count; ++s) {
    lab_pace_submission told{std::max(w.now_ns, w.busy_until_ns), 0, 0};
    double at = told.begin_ns;
    for (uint32_t i = 0; i < submits[s].commandBufferCount; ++i) {
      const double begin = at;
      for (const Operation& o : w.commands[submits[s].pCommandBuffers[i]].operations) {
        at += o.ns;
        if (o.queries) w.timestamps[{o.queries, o.query}] = at;
      }
      told.longest_buffer_ns = std::max(told.longest_buffer_ns, at - begin);
    }
    w.busy_until_ns = told.end_ns = at;
    w.submissions.push_back(told);
    for (auto* p = static_cast<const VkBaseInStructure*>(submits[s].pNext); p; p = p->pNext) {
      if (p->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO) continue;
      const auto* t = reinterpret_cast<const VkTimelineSemaphoreSubmitInfo*>(p);
      for (uint32_t i = 0; i < t->signalSemaphoreValueCount && i < submits[s].signalSemaphoreCount; ++i)
        w.completions[submits[s].pSignalSemaphores[i]].push_back({t->pSignalSemaphoreValues[i], at});
    }
  }
}

VKAPI_ATTR VkResult VKAPI_CALL QueueSubmit(VkQueue q, uint32_t count, const VkSubmitInfo* submits, VkFence fence) {
  pass_time(count, submits);
  return NEXT(QueueSubmit)(q, count, submits, fence);
}

// Values and ends of submissions in order both rise: a binary search finds them, since a test has tens of thousands of
// submissions and every frame asks.
using Completions = std::vector<Completion>;
uint64_t value_at(const Completions& all, double now_ns) {
  const auto later =
      std::upper_bound(all.begin(), all.end(), now_ns, [](double now, const Completion& c) { return now < c.end_ns; });
  return later == all.begin() ? 0 : std::prev(later)->value;
}
// Null: nothing that was submitted reaches the value.
const Completion* reaching(const Completions& all, uint64_t value) {
  const auto at = std::lower_bound(all.begin(), all.end(), value,
                                   [](const Completion& c, uint64_t wanted) { return c.value < wanted; });
  return at == all.end() ? nullptr : &*at;
}

// The real device, which is at work on little, is waited for: what is seen when goes by the virtual clock alone.
VkResult wait_really(VkDevice d, VkSemaphore semaphore, uint64_t value) {
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &value;
  return NEXT(WaitSemaphores)(d, &info, ~uint64_t{0});
}

VKAPI_ATTR VkResult VKAPI_CALL GetSemaphoreCounterValue(VkDevice d, VkSemaphore semaphore, uint64_t* value) {
  {
    const Lock lock(world().mutex);
    *value = value_at(world().completions[semaphore], world().now_ns);
  }
  return *value == 0 ? VK_SUCCESS : wait_really(d, semaphore, *value);
}

// Whoever waits lets the time go by.
VKAPI_ATTR VkResult VKAPI_CALL WaitSemaphores(VkDevice d, const VkSemaphoreWaitInfo* info, uint64_t) {
  for (uint32_t i = 0; i < info->semaphoreCount; ++i) {
    {
      World& w = world();
      const Lock lock(w.mutex);
      const Completion* const completion = reaching(w.completions[info->pSemaphores[i]], info->pValues[i]);
      if (!completion) return VK_TIMEOUT;
      w.now_ns = std::max(w.now_ns, completion->end_ns);
    }
    const VkResult r = wait_really(d, info->pSemaphores[i], info->pValues[i]);
    if (r != VK_SUCCESS) return r;
  }
  return VK_SUCCESS;
}

struct Entry {
  const char* name;
  PFN_vkVoidFunction function;
};
#define ENTRY(name) \
  { "vk" #name, reinterpret_cast<PFN_vkVoidFunction>(name) }
const Entry kEntries[] = {ENTRY(CreateBuffer),          ENTRY(CreateShaderModule), ENTRY(CreateComputePipelines),
                          ENTRY(UpdateDescriptorSets),  ENTRY(BeginCommandBuffer), ENTRY(CmdBindPipeline),
                          ENTRY(CmdBindDescriptorSets), ENTRY(CmdDispatch),        ENTRY(CmdDispatchIndirect),
                          ENTRY(CmdCopyBuffer),         ENTRY(CmdFillBuffer),      ENTRY(CmdWriteTimestamp),
                          ENTRY(GetQueryPoolResults),   ENTRY(QueueSubmit),        ENTRY(GetSemaphoreCounterValue),
                          ENTRY(WaitSemaphores),        ENTRY(MapMemory),          ENTRY(FreeMemory),
                          ENTRY(BindBufferMemory),      ENTRY(CreateSemaphore),    ENTRY(CreateQueryPool),
                          ENTRY(AllocateDescriptorSets)};
#undef ENTRY

}  // namespace

bool has_pace() { return Config::get().has("pace"); }

// One device at a time: a test's.
PFN_vkVoidFunction paced(VkDevice, const char* name, PFN_vkVoidFunction next) {
  if (!has_pace() || !next) return next;
  std::string plain = name;
  if (plain.ends_with("KHR")) plain.resize(plain.size() - 3);
  for (const Entry& e : kEntries) {
    if (plain != e.name) continue;
    const Lock lock(world().mutex);
    world().next[plain] = next;
    return e.function;
  }
  return next;
}

}  // namespace lapilli::lab

#define LAB_EXPORT extern "C" __attribute__((visibility("default")))

LAB_EXPORT void lab_pace_advance(double to_ns) {
  auto& w = lapilli::lab::world();
  const lapilli::lab::Lock lock(w.mutex);
  w.now_ns = std::max(w.now_ns, to_ns);
}

LAB_EXPORT double lab_pace_now(void) {
  auto& w = lapilli::lab::world();
  const lapilli::lab::Lock lock(w.mutex);
  return w.now_ns;
}

LAB_EXPORT unsigned lab_pace_submissions(lab_pace_submission* out, unsigned first, unsigned most) {
  auto& w = lapilli::lab::world();
  const lapilli::lab::Lock lock(w.mutex);
  const auto all = static_cast<unsigned>(w.submissions.size());
  for (unsigned i = 0; i < most && first + i < all; ++i) out[i] = w.submissions[first + i];
  return all;
}
