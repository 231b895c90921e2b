// The lab's own probe: shows what a device says of itself, computes a little on it, and makes mistakes on request, so
// that the lab's machinery (drivers, layer, validation) can be tested without Lapilli. Usage: lab_probe MODE [NUMBER]
//   show            limits, features and memory, a line each
//   compute         two dependent dispatches, results checked
//   functions       the same, and that exp and the like are what they are called
//   race            the same without the barrier        race-submit  the same in two submits without a semaphore
//   misuse          a buffer of zero bytes              leak         a buffer that is never destroyed
//   enable-fp16     enables shaderFloat16, offered or not
//   allocate MIB    allocates from memory type 0        map-local    maps memory of type 0
// Exit codes: 0 fine, 1 wrong results, 2 usage, 3 a Vulkan call failed (named on stderr).
#include <vulkan/vulkan.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "probe.spv.h"
#include "probe_functions.spv.h"

namespace {

constexpr uint32_t kCount = 1000;

void check(VkResult result, const char* call) {
  if (result == VK_SUCCESS) return;
  std::fprintf(stderr, "%s gave %d\n", call, static_cast<int>(result));
  std::exit(3);
}
#define CHECK(call) check(call, #call)

struct Context {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  uint32_t family = 0;

  Context() {
    VkApplicationInfo app{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    app.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &app;
    CHECK(vkCreateInstance(&info, nullptr, &instance));
    uint32_t count = 1;
    const VkResult found = vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (found != VK_INCOMPLETE) check(found, "vkEnumeratePhysicalDevices");
    if (count == 0) check(VK_ERROR_INITIALIZATION_FAILED, "vkEnumeratePhysicalDevices (no device)");
  }

  void open(const void* features) {
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
    while (family + 1 < count && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++family;
    const float priority = 1;
    VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueFamilyIndex = family;
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, features};
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    CHECK(vkCreateDevice(physical, &info, nullptr, &device));
    vkGetDeviceQueue(device, family, 0, &queue);
  }

  ~Context() {
    if (device) vkDestroyDevice(device, nullptr);
    vkDestroyInstance(instance, nullptr);
  }
};

VkBuffer make_buffer(const Context& c, VkDeviceSize size) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = size;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  VkBuffer buffer = VK_NULL_HANDLE;
  CHECK(vkCreateBuffer(c.device, &info, nullptr, &buffer));
  return buffer;
}

VkDeviceMemory allocate(const Context& c, VkDeviceSize size, uint32_t type) {
  VkMemoryAllocateInfo info{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  info.allocationSize = size;
  info.memoryTypeIndex = type;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  CHECK(vkAllocateMemory(c.device, &info, nullptr, &memory));
  return memory;
}

// Three buffers in one host-visible allocation, a pipeline, and two descriptor sets: 0 -> 1 and 1 -> 2.
struct Work {
  const Context& c;
  VkBuffer buffers[3] = {};
  VkDeviceMemory memory = VK_NULL_HANDLE;
  float* mapped = nullptr;
  VkDeviceSize stride = 0;
  VkShaderModule shader = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkDescriptorPool descriptors = VK_NULL_HANDLE;
  VkDescriptorSet sets[2] = {};
  VkCommandPool pool = VK_NULL_HANDLE;

  Work(const Context& context, bool functions) : c(context) {
    make_memory();
    make_shader(functions);
    make_pipeline();
    make_sets();
    VkCommandPoolCreateInfo info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    info.queueFamilyIndex = c.family;
    CHECK(vkCreateCommandPool(c.device, &info, nullptr, &pool));
  }

  void make_memory() {
    for (VkBuffer& b : buffers) b = make_buffer(c, kCount * sizeof(float));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(c.device, buffers[0], &needs);
    stride = (needs.size + needs.alignment - 1) / needs.alignment * needs.alignment;
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(c.physical, &types);
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (type + 1 < types.memoryTypeCount &&
           ((needs.memoryTypeBits >> type & 1) == 0 || (types.memoryTypes[type].propertyFlags & wanted) != wanted))
      ++type;
    memory = allocate(c, stride * 3, type);
    for (int i = 0; i < 3; ++i) CHECK(vkBindBufferMemory(c.device, buffers[i], memory, stride * i));
    CHECK(vkMapMemory(c.device, memory, 0, VK_WHOLE_SIZE, 0, reinterpret_cast<void**>(&mapped)));
    for (uint32_t i = 0; i < kCount; ++i) mapped[i] = static_cast<float>(i);
  }

  void make_shader(bool functions) {
    VkShaderModuleCreateInfo code{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    code.codeSize = functions ? sizeof probe_functions_spv : sizeof probe_spv;
    code.pCode = functions ? probe_functions_spv : probe_spv;
    CHECK(vkCreateShaderModule(c.device, &code, nullptr, &shader));
  }

  void make_pipeline() {
    VkDescriptorSetLayoutBinding bindings[2] = {};
    for (uint32_t i = 0; i < 2; ++i)
      bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo set_info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set_info.bindingCount = 2;
    set_info.pBindings = bindings;
    CHECK(vkCreateDescriptorSetLayout(c.device, &set_info, nullptr, &set_layout));
    const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, 4};
    VkPipelineLayoutCreateInfo layout_info{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout;
    layout_info.pushConstantRangeCount = 1;
    layout_info.pPushConstantRanges = &push;
    CHECK(vkCreatePipelineLayout(c.device, &layout_info, nullptr, &layout));
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = "main";
    info.layout = layout;
    CHECK(vkCreateComputePipelines(c.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline));
  }

  void make_sets() {
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4};
    VkDescriptorPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    pool_info.maxSets = 2;
    pool_info.poolSizeCount = 1;
    pool_info.pPoolSizes = &size;
    CHECK(vkCreateDescriptorPool(c.device, &pool_info, nullptr, &descriptors));
    const VkDescriptorSetLayout layouts[2] = {set_layout, set_layout};
    VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
    info.descriptorPool = descriptors;
    info.descriptorSetCount = 2;
    info.pSetLayouts = layouts;
    CHECK(vkAllocateDescriptorSets(c.device, &info, sets));
    for (uint32_t i = 0; i < 4; ++i) {
      const VkDescriptorBufferInfo buffer{buffers[i / 2 + i % 2], 0, VK_WHOLE_SIZE};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      write.dstSet = sets[i / 2];
      write.dstBinding = i % 2;
      write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      write.pBufferInfo = &buffer;
      vkUpdateDescriptorSets(c.device, 1, &write, 0, nullptr);
    }
  }

  VkCommandBuffer begin() {
    VkCommandBufferAllocateInfo info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
    info.commandPool = pool;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    CHECK(vkAllocateCommandBuffers(c.device, &info, &commands));
    VkCommandBufferBeginInfo begin_info{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    CHECK(vkBeginCommandBuffer(commands, &begin_info));
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &kCount);
    return commands;
  }
  void dispatch(VkCommandBuffer commands, int set) {
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &sets[set], 0, nullptr);
    vkCmdDispatch(commands, (kCount + 63) / 64, 1, 1);
  }
  static void barrier(VkCommandBuffer commands, VkPipelineStageFlags to, VkAccessFlags access) {
    VkMemoryBarrier b{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
    b.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    b.dstAccessMask = access;
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, to, 0, 1, &b, 0, nullptr, 0, nullptr);
  }
  void submit(VkCommandBuffer commands) {
    CHECK(vkEndCommandBuffer(commands));
    VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    CHECK(vkQueueSubmit(c.queue, 1, &info, VK_NULL_HANDLE));
  }

  // Runs with the mistake that `mode` names, if any.
  bool run(const std::string& mode) {
    VkCommandBuffer commands = begin();
    dispatch(commands, 0);
    const bool right = mode == "compute" || mode == "functions";
    if (right)
      barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    if (mode == "race-submit") {
      submit(commands);
      commands = begin();
    }
    dispatch(commands, 1);
    barrier(commands, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    submit(commands);
    CHECK(vkQueueWaitIdle(c.queue));
    const float* result = mapped + stride / sizeof(float) * 2;
    const auto sum = [](uint32_t i) { return static_cast<float>(i % kCount + (i + 1) % kCount); };
    for (uint32_t i = 0; i < kCount; ++i) {
      if (result[i] == sum(i) + sum(i + 1)) continue;
      std::printf("element %u is %g, not %g\n", i, result[i], sum(i) + sum(i + 1));
      return !right;  // a race may give anything
    }
    return true;
  }

  ~Work() {
    vkDestroyCommandPool(c.device, pool, nullptr);
    vkDestroyDescriptorPool(c.device, descriptors, nullptr);
    vkDestroyPipeline(c.device, pipeline, nullptr);
    vkDestroyPipelineLayout(c.device, layout, nullptr);
    vkDestroyDescriptorSetLayout(c.device, set_layout, nullptr);
    vkDestroyShaderModule(c.device, shader, nullptr);
    for (VkBuffer b : buffers) vkDestroyBuffer(c.device, b, nullptr);
    vkFreeMemory(c.device, memory, nullptr);
  }
};

void show(const Context& c) {
  VkPhysicalDeviceProperties p;
  vkGetPhysicalDeviceProperties(c.physical, &p);
  std::printf("name=%s\napi=%u.%u\ntype=%d\n", p.deviceName, VK_API_VERSION_MAJOR(p.apiVersion),
              VK_API_VERSION_MINOR(p.apiVersion), static_cast<int>(p.deviceType));
  std::printf("maxComputeSharedMemorySize=%u\n", p.limits.maxComputeSharedMemorySize);
  std::printf("maxPerStageDescriptorStorageBuffers=%u\n", p.limits.maxPerStageDescriptorStorageBuffers);
  std::printf("maxComputeWorkGroupSize=%u:%u:%u\n", p.limits.maxComputeWorkGroupSize[0],
              p.limits.maxComputeWorkGroupSize[1], p.limits.maxComputeWorkGroupSize[2]);
  std::printf("minStorageBufferOffsetAlignment=%u\n", static_cast<unsigned>(p.limits.minStorageBufferOffsetAlignment));
  VkPhysicalDeviceShaderFloat16Int8Features small{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &small};
  vkGetPhysicalDeviceFeatures2(c.physical, &features);
  std::printf("shaderFloat16=%u\nshaderInt64=%u\n", small.shaderFloat16, features.features.shaderInt64);
  uint32_t extensions = 0;
  CHECK(vkEnumerateDeviceExtensionProperties(c.physical, nullptr, &extensions, nullptr));
  std::printf("extensions=%u\n", extensions);
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(c.physical, &memory);
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    std::printf("memoryType%u=%u heap %u of %llu MiB\n", i, memory.memoryTypes[i].propertyFlags,
                memory.memoryTypes[i].heapIndex,
                static_cast<unsigned long long>(memory.memoryHeaps[memory.memoryTypes[i].heapIndex].size >> 20));
}

int run(const std::string& mode, VkDeviceSize number) {
  Context c;
  if (mode == "show") {
    show(c);
    return 0;
  }
  VkPhysicalDeviceShaderFloat16Int8Features fp16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  fp16.shaderFloat16 = VK_TRUE;
  c.open(mode == "enable-fp16" ? &fp16 : nullptr);
  if (mode == "misuse") {
    vkDestroyBuffer(c.device, make_buffer(c, 0), nullptr);
  } else if (mode == "leak") {
    make_buffer(c, 64);
  } else if (mode == "allocate" || mode == "map-local") {
    const VkDeviceMemory memory = allocate(c, number << 20, 0);
    void* mapped = nullptr;
    if (mode == "map-local") CHECK(vkMapMemory(c.device, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    vkFreeMemory(c.device, memory, nullptr);
  } else if (mode == "compute" || mode == "functions" || mode == "race" || mode == "race-submit") {
    return Work(c, mode == "functions").run(mode) ? 0 : 1;
  } else if (mode != "enable-fp16") {
    std::fprintf(stderr, "lab_probe: no mode is called %s\n", mode.c_str());
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: lab_probe MODE [NUMBER] (modes: see probe.cpp)\n");
    return 2;
  }
  return run(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
}
