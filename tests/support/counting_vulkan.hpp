// A vkGetInstanceProcAddr that stands between Lapilli and the real loader: it counts calls, tracks living objects, lets
// calls fail and can pretend that host-visible memory is not coherent or that the GPU hangs. Give it as
// DeviceOptions::get_instance_proc_addr or AdoptedDevice::get_instance_proc_addr. One state for the process; safe from
// several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "vulkan/driver/api.hpp"

namespace lapilli::counting {

// Null if there is no Vulkan loader.
void* get_instance_proc_addr();

// Forgets counts, failures and pretences. Only while no device made through this exists.
void reset();

using Calls = std::map<std::string, uint64_t>;  // by name, "vkQueueSubmit"
Calls calls();
uint64_t calls(const std::string& name);
// The calls since `before`.
Calls since(const Calls& before);
// The calls among these that may not happen in a replay: all but submits, waits, polls, flushes and invalidations.
Calls setup_calls(const Calls& calls);
uint64_t submits(const Calls& calls);
uint64_t waits(const Calls& calls);  // calls that may block; one that timed out and the next are one
std::string to_string(const Calls& calls);

// The memory barriers that were recorded since reset().
struct Barrier {
  VkPipelineStageFlags from = 0, to = 0;
  VkAccessFlags before = 0, after = 0;
  friend bool operator==(const Barrier&, const Barrier&) = default;
};
std::vector<Barrier> barriers();

// How the command buffers were begun since reset(), in order.
std::vector<VkCommandBufferUsageFlags> recordings();

// The data that each pipeline cache since reset() was made from.
std::vector<std::vector<std::byte>> pipeline_caches();

// Living objects by kind ("Buffer", "Memory"...), only those that are not zero.
std::map<std::string, int64_t> living();
std::string to_string(const std::map<std::string, int64_t>& living);

// The nth call from now of this name (nth call of any fallible name, if it is empty) and the `times - 1` after it
// return `result` without reaching the driver. times 0: for ever.
void fail(const std::string& name, VkResult result, uint64_t nth = 1, uint64_t times = 1);
// True once a failure was given out.
bool failed();

// Waits time out and nothing seems to complete, until set back.
void freeze_progress(bool frozen);
// Waits work, but asking learns nothing besides what a wait has told since, until set back.
void hide_progress(bool hidden);
// Waits succeed at once, whatever was done, and nothing seems to complete, until set back.
void end_waits_early(bool early);
// As drivers may after the device was lost: waits succeed, whatever was done, and only asking for the progress tells.
void lose_silently(bool lost);

// Changes what the devices say about themselves, and hides their extensions. Set before the device is looked at.
void pretend_properties(std::function<void(VkPhysicalDeviceProperties&)> change, bool hide_extensions = false);

// The devices offer VK_KHR_global_priority, and what asks them for a low one gets it or is refused.
enum class Priority { own, granted, refused };
void pretend_priority(Priority priority);
uint64_t low_priorities();  // devices that asked for it since reset()

// The queue families of the devices, for what only looks at them; empty: their own.
void pretend_queue_families(std::vector<VkQueueFamilyProperties> families);

// This thread is inside of a call through the table: what it allocates there is not Lapilli's.
bool inside();

// Mapped pointers lead to a shadow of the memory; only flush and invalidate carry bytes across, as on a device whose
// memory is not coherent. A range that is not flushed is missing on the device. Set before the device is made.
void pretend_non_coherent(uint64_t atom);
// Called before the driver is asked to compile pipelines, by the thread that asks.
void before_compiling(std::function<void()> call);
// Bytes that invalidations brought to the host since reset(), while pretending: nothing else the host reads is new.
uint64_t invalidated_bytes();
// A driver with a bug: from now on these shaders compute something else (sums become differences, products sums), or no
// pipeline is made of them.
enum class Compiler { wrong, refuses };
void compile_badly(const uint32_t* words, size_t count, Compiler how);
// A driver with another bug: indirect dispatches run one group, whatever their arguments say, or none.
enum class Indirect { right, one_group, nothing };
void dispatch_badly(Indirect how);
// Allocations from now on above this many bytes in all fail with out of device memory. 0: no limit.
void limit_memory(uint64_t bytes);

}  // namespace lapilli::counting
