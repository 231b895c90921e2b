/* pipestats [-b S,U,M,P] [-t SECONDS] [-i DIR] [LIST] - creates compute pipelines on the first device and prints what
   its compiler says of them. LIST   lines of FILE.spv, entry, specialization constants (64,4,1 for the ids 0, 1 and 2;
   -: none) and a label of any words, separated by tabs or spaces; default: standard input -b     the layout of each: S
   storage buffers (bindings 0...), U uniform buffers behind them, M storage buffers behind these, P bytes of push
   constants (default: 4,4,2,128, which are Lapilli's) -t seconds for one pipeline (default 300); then it counts as
   "timeout" -i     what the compiler shows of itself (intermediate forms, assembly) goes into this folder, which exists
   Prints a line with the device, then one for each pipeline, as JSON. A child process works off the list; where a
   compiler crashes, the pipeline's result is "crash", and another child goes on behind it. libvulkan.so.1 is opened,
   not linked, so that only the C library is needed to start this under an emulator. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
/* clang-format off */
#define FUNCTIONS(X) \
  X(EnumeratePhysicalDevices) X(GetPhysicalDeviceProperties2) X(GetPhysicalDeviceFeatures2) X(CreateDevice) \
  X(GetPhysicalDeviceQueueFamilyProperties) X(EnumerateDeviceExtensionProperties) X(CreateShaderModule) \
  X(DestroyShaderModule) X(CreateDescriptorSetLayout) X(CreatePipelineLayout) X(CreateComputePipelines) \
  X(DestroyPipeline) X(GetPipelineExecutablePropertiesKHR) X(GetPipelineExecutableStatisticsKHR) \
  X(GetPipelineExecutableInternalRepresentationsKHR)
/* clang-format on */
#define X(f) static PFN_vk##f vk##f;
FUNCTIONS(X)
#undef X
static VkInstance instance;
static VkPhysicalDevice gpu;
static VkDevice device;
static bool has_statistics;
static uint32_t
    cooperative_size; /* of subgroups that share matrices, as src/vulkan/caps/capabilities.hpp has it; 0: any */
static VkPipelineLayout layout;
static int seconds = 300;
static unsigned storage = 4, uniform = 4, more = 2, push = 128;
static const char* form_folder;

static void fail(const char* what, VkResult r) {
  fprintf(stderr, "pipestats: %s (%d)\n", what, r);
  exit(3);
}

/* ---- the device */

static void open_instance(void) {
  void* library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(dlerror(), VK_ERROR_INITIALIZATION_FAILED);
  PFN_vkGetInstanceProcAddr get = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
  if (!get) fail("the loader has no vkGetInstanceProcAddr", VK_ERROR_INITIALIZATION_FAILED);
  PFN_vkCreateInstance create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance");
  VkApplicationInfo app = {VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "pipestats",
                           .apiVersion = VK_API_VERSION_1_3};
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &app};
  VkResult r = create(&info, NULL, &instance);
  if (r) fail("no instance", r);
#define X(f) vk##f = (PFN_vk##f)get(instance, "vk" #f);
  FUNCTIONS(X)
#undef X
  uint32_t n = 1;
  r = vkEnumeratePhysicalDevices(instance, &n, &gpu);
  if (r < 0 || !n) fail("no device", r);
}

static bool has_extension(const char* name) {
  uint32_t n = 0;
  vkEnumerateDeviceExtensionProperties(gpu, NULL, &n, NULL);
  VkExtensionProperties* all = calloc(n + 1, sizeof *all);
  bool found = false;
  if (all) vkEnumerateDeviceExtensionProperties(gpu, NULL, &n, all);
  for (uint32_t i = 0; all && i < n; ++i) found |= !strcmp(all[i].extensionName, name);
  free(all);
  return found;
}

static uint32_t compute_family(void) {
  VkQueueFamilyProperties families[16];
  uint32_t n = COUNT(families), family = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(gpu, &n, families);
  while (family + 1 < n && !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT)) ++family;
  return family;
}

static void find_cooperative_size(void) {
  VkPhysicalDeviceSubgroupSizeControlProperties size = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceProperties2 p = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &size};
  vkGetPhysicalDeviceProperties2(gpu, &p);
  if (size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) cooperative_size = size.minSubgroupSize;
}

/* The features that a compute kernel may use, as far as the device has them. Robust access stays off. */
static void open_device(void) {
  VkPhysicalDeviceProperties2 p = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  vkGetPhysicalDeviceProperties2(gpu, &p);
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR};
  VkPhysicalDeviceSubgroupSizeControlFeatures sizes = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES};
  VkPhysicalDeviceVulkan12Features f12 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceVulkan11Features f11 = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &f12};
  VkPhysicalDeviceFeatures2 f = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  if (p.properties.apiVersion >= VK_API_VERSION_1_2) f.pNext = &f11;
  const char* names[2];
  uint32_t count_names = 0;
  has_statistics = has_extension("VK_KHR_pipeline_executable_properties");
  if (has_statistics) names[count_names++] = "VK_KHR_pipeline_executable_properties";
  const bool has_matrices = has_extension("VK_KHR_cooperative_matrix");
  if (has_matrices) names[count_names++] = "VK_KHR_cooperative_matrix", matrices.pNext = f.pNext, f.pNext = &matrices;
  const bool has_sizes = p.properties.apiVersion >= VK_API_VERSION_1_3;
  if (has_sizes) sizes.pNext = f.pNext, f.pNext = &sizes;
  if (has_statistics) statistics.pNext = f.pNext, f.pNext = &statistics;
  vkGetPhysicalDeviceFeatures2(gpu, &f);
  has_statistics = has_statistics && statistics.pipelineExecutableInfo;
  if (has_sizes && sizes.subgroupSizeControl) find_cooperative_size();
  f.features.robustBufferAccess = f11.protectedMemory = VK_FALSE;
  f12.bufferDeviceAddressCaptureReplay = f12.bufferDeviceAddressMultiDevice = VK_FALSE;
  const float one = 1;
  VkDeviceQueueCreateInfo queue = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueFamilyIndex = compute_family(),
                                   .queueCount = 1, .pQueuePriorities = &one};
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                             .pNext = &f,
                             .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &queue,
                             .enabledExtensionCount = count_names,
                             .ppEnabledExtensionNames = names};
  const VkResult r = vkCreateDevice(gpu, &info, NULL, &device);
  if (r) fail("the device cannot be created", r);
}

static void make_layout(void) {
  VkDescriptorSetLayoutBinding bindings[64];
  const unsigned n = storage + uniform + more;
  if (n > COUNT(bindings)) fail("too many buffers", VK_ERROR_UNKNOWN);
  for (unsigned i = 0; i < n; ++i)
    bindings[i] = (VkDescriptorSetLayoutBinding){
        i,
        i >= storage && i < storage + uniform ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        1, VK_SHADER_STAGE_COMPUTE_BIT, NULL};
  VkDescriptorSetLayoutCreateInfo set_info = {VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = n,
                                              .pBindings = bindings};
  VkDescriptorSetLayout set;
  VkResult r = vkCreateDescriptorSetLayout(device, &set_info, NULL, &set);
  if (r) fail("no descriptor set layout", r);
  VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, push};
  VkPipelineLayoutCreateInfo info = {VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO, .setLayoutCount = 1,
                                     .pSetLayouts = &set, .pushConstantRangeCount = push > 0,
                                     .pPushConstantRanges = &range};
  r = vkCreatePipelineLayout(device, &info, NULL, &layout);
  if (r) fail("no pipeline layout", r);
}

/* ---- what is printed */

static void print_text(const char* s) {
  putchar('"');
  for (; *s; ++s)
    if (*s == '"' || *s == '\\')
      printf("\\%c", *s);
    else
      putchar((unsigned char)*s < 32 ? ' ' : *s);
  putchar('"');
}

static void print_device(void) {
  VkPhysicalDeviceDriverProperties d = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceProperties2 p = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &d};
  vkGetPhysicalDeviceProperties2(gpu, &p);
  printf("{\"device\":");
  print_text(p.properties.deviceName);
  printf(",\"driver\":");
  print_text(d.driverName);
  printf(",\"version\":");
  print_text(d.driverInfo);
  printf("}\n");
}

static void print_value(const VkPipelineExecutableStatisticKHR* s) {
  print_text(s->name);
  switch (s->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: printf(":%u", s->value.b32); break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: printf(":%lld", (long long)s->value.i64); break;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR: printf(":%llu", (unsigned long long)s->value.u64); break;
    default: printf(":%.6g", s->value.f64);
  }
}

static void print_statistics(const VkPipelineExecutableInfoKHR* executable) {
  VkPipelineExecutableStatisticKHR s[64];
  uint32_t n = COUNT(s);
  for (size_t i = 0; i < COUNT(s); ++i)
    s[i] = (VkPipelineExecutableStatisticKHR){VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
  if (vkGetPipelineExecutableStatisticsKHR(device, executable, &n, s) < 0) n = 0;
  for (uint32_t i = 0; i < n; ++i) {
    if (i) putchar(',');
    print_value(&s[i]);
  }
}

static FILE* form_file(const char* label, uint32_t index) {
  char path[4096];
  const int folder = snprintf(path, sizeof path, "%s/", form_folder);
  snprintf(path + folder, sizeof path - (size_t)folder, "%s.%u.txt", label, index);
  for (char* c = path + folder; *c; ++c)
    if (*c == '/' || *c == ' ') *c = '_';
  return fopen(path, "w");
}

static void write_forms(const VkPipelineExecutableInfoKHR* executable, const char* label) {
  VkPipelineExecutableInternalRepresentationKHR forms[32];
  uint32_t n = COUNT(forms);
  for (size_t i = 0; i < COUNT(forms); ++i)
    forms[i] = (VkPipelineExecutableInternalRepresentationKHR){
        VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR};
  if (vkGetPipelineExecutableInternalRepresentationsKHR(device, executable, &n, forms) < 0) return;
  for (uint32_t i = 0; i < n; ++i) forms[i].pData = calloc(1, forms[i].dataSize + 1);
  vkGetPipelineExecutableInternalRepresentationsKHR(device, executable, &n, forms);
  FILE* file = form_file(label, executable->executableIndex);
  for (uint32_t i = 0; i < n; ++i) {
    if (file && forms[i].pData)
      fprintf(file, "==== %s: %s\n%s\n", forms[i].name, forms[i].description, (const char*)forms[i].pData);
    free(forms[i].pData);
  }
  if (file) fclose(file);
}

static void print_executables(VkPipeline pipeline, const char* label) {
  VkPipelineInfoKHR info = {VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, .pipeline = pipeline};
  VkPipelineExecutablePropertiesKHR e[8];
  uint32_t n = COUNT(e);
  for (size_t i = 0; i < COUNT(e); ++i)
    e[i] = (VkPipelineExecutablePropertiesKHR){VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR};
  if (vkGetPipelineExecutablePropertiesKHR(device, &info, &n, e) < 0) n = 0;
  printf(",\"executables\":[");
  for (uint32_t i = 0; i < n; ++i) {
    const VkPipelineExecutableInfoKHR executable = {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                                    .pipeline = pipeline, .executableIndex = i};
    printf("%s{\"subgroup\":%u,\"stats\":{", i ? "," : "", e[i].subgroupSize);
    print_statistics(&executable);
    printf("}}");
    if (form_folder) write_forms(&executable, label);
  }
  putchar(']');
}

/* ---- one pipeline */

static uint32_t* read_module(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  uint32_t* words = malloc(4 << 20);
  *bytes = file && words ? fread(words, 1, 4 << 20, file) : 0;
  if (file) fclose(file);
  return words;
}

static double processor_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A module names what it needs first. */
static bool has_cooperative_matrices(const uint32_t* words, size_t n) {
  for (size_t i = 5; i + 1 < n && words[i] == (2u << 16 | 17u); i += 2)
    if (words[i + 1] == 6022u) return true;
  return false;
}

static VkResult create(const char* file, const char* entry, const char* constants, VkPipeline* pipeline) {
  VkSpecializationMapEntry entries[64];
  uint32_t values[64], n = 0;
  for (char* c = (char*)constants; *c && strcmp(constants, "-") && n < COUNT(values); c += *c == ',') {
    char* end;
    entries[n] = (VkSpecializationMapEntry){n, n * 4, 4};
    values[n++] = (uint32_t)strtoul(c, &end, 10);
    if (end == c) return VK_ERROR_FORMAT_NOT_SUPPORTED;
    c = end;
  }
  VkSpecializationInfo special = {n, entries, n * 4, values};
  VkShaderModuleCreateInfo code = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  uint32_t* words = read_module(file, &code.codeSize);
  code.pCode = words;
  VkShaderModule module = VK_NULL_HANDLE;
  VkResult r =
      code.codeSize >= 20 ? vkCreateShaderModule(device, &code, NULL, &module) : VK_ERROR_INITIALIZATION_FAILED;
  VkComputePipelineCreateInfo info = {VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO, .layout = layout};
  if (has_statistics) info.flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
  if (has_statistics && form_folder) info.flags |= VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR;
  info.stage = (VkPipelineShaderStageCreateInfo){VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                 .stage = VK_SHADER_STAGE_COMPUTE_BIT, .module = module, .pName = entry,
                                                 .pSpecializationInfo = &special};
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo required = {
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
      .requiredSubgroupSize = cooperative_size};
  if (cooperative_size && has_cooperative_matrices(words, code.codeSize / 4)) info.stage.pNext = &required;
  if (!r) r = vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, pipeline);
  if (!r && !*pipeline) r = VK_ERROR_UNKNOWN; /* some drivers do */
  if (module) vkDestroyShaderModule(device, module, NULL);
  free(words);
  return r;
}

static void work_off(char* line) {
  char *save, *file = strtok_r(line, " \t\n", &save), *entry = strtok_r(NULL, " \t\n", &save);
  char *constants = strtok_r(NULL, " \t\n", &save), *label = strtok_r(NULL, "\n", &save);
  if (!label) label = file;
  printf("{\"label\":");
  print_text(label);
  fflush(stdout);
  VkPipeline pipeline = VK_NULL_HANDLE;
  const double begin = processor_ms();
  const VkResult r = create(file, entry ? entry : "main", constants ? constants : "-", &pipeline);
  printf(",\"result\":%d,\"cpu_ms\":%.2f", r, processor_ms() - begin);
  if (!r && has_statistics) print_executables(pipeline, label);
  printf("}\n");
  fflush(stdout);
  if (pipeline) vkDestroyPipeline(device, pipeline, NULL);
}

/* ---- the list */

static char** lines;
static uint32_t count;
static volatile uint32_t* at; /* the line at hand, which a child tells its parent */

static void read_lines(FILE* f) {
  char* text = NULL;
  size_t room = 0;
  while (getline(&text, &room, f) > 0) {
    if (*text == '#' || *text == '\n') continue;
    lines = realloc(lines, (count + 1) * sizeof *lines);
    if (!lines) fail("no memory", VK_ERROR_OUT_OF_HOST_MEMORY);
    lines[count++] = strdup(text);
  }
  free(text);
}

static void work_on(void) {
  const bool first = *at == 0;
  open_instance();
  open_device();
  make_layout();
  if (first) print_device();
  for (; *at < count; ++*at) {
    alarm((unsigned)seconds);
    work_off(lines[*at]);
    alarm(0);
  }
  fflush(stdout);
  _exit(0);
}

static void read_options(int argc, char** argv) {
  for (int c; (c = getopt(argc, argv, "b:t:i:")) != -1;) {
    if (c == 'b' && sscanf(optarg, "%u,%u,%u,%u", &storage, &uniform, &more, &push) == 4) continue;
    if (c == 't' && (seconds = atoi(optarg)) > 0) continue;
    if (c != 'i') exit(2);
    form_folder = optarg;
  }
}

int main(int argc, char** argv) {
  read_options(argc, argv);
  FILE* f = optind < argc ? fopen(argv[optind], "r") : stdin;
  if (!f) return perror(argv[optind]), 2;
  read_lines(f);
  at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return perror("mmap"), 3;
  while (*at < count) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) work_on();
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return perror("pipestats"), 3;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    printf(",\"result\":\"%s\"}\n", WTERMSIG(status) == SIGALRM ? "timeout" : "crash");
    ++*at;
  }
  return 0;
}
