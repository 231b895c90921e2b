#include "vulkan/driver/instance.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "vulkan/driver/loader.hpp"

namespace lapilli::vulkan {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";
#if defined(_WIN32)
constexpr const char* kDriverAdvice = "install the GPU vendor's driver";
#else
constexpr const char* kDriverAdvice =
    "install one (Debian, Ubuntu: apt install mesa-vulkan-drivers, which also has a CPU driver), and see that "
    "VK_ICD_FILENAMES and VK_DRIVER_FILES, if set, name existing files";
#endif

bool has_extension(const LoaderTable& loader, const char* layer, const char* name) {
  uint32_t n = 0;
  if (loader.EnumerateInstanceExtensionProperties(layer, &n, nullptr) < 0) return false;
  std::vector<VkExtensionProperties> list(n);
  if (loader.EnumerateInstanceExtensionProperties(layer, &n, list.data()) < 0) return false;
  list.resize(std::min<size_t>(list.size(), n));
  return std::any_of(list.begin(), list.end(), [&](const auto& e) { return !std::strcmp(e.extensionName, name); });
}

bool has_layer(const LoaderTable& loader, const char* name) {
  uint32_t n = 0;
  if (loader.EnumerateInstanceLayerProperties(&n, nullptr) < 0) return false;
  std::vector<VkLayerProperties> list(n);
  if (loader.EnumerateInstanceLayerProperties(&n, list.data()) < 0) return false;
  list.resize(std::min<size_t>(list.size(), n));
  return std::any_of(list.begin(), list.end(), [&](const auto& e) { return !std::strcmp(e.layerName, name); });
}

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  const bool error = severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  log(error ? LogLevel::error : LogLevel::warning,
      std::string("validation: ") + (data && data->pMessage ? data->pMessage : "(no text)"));
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info() {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = on_message;
  return info;
}

}  // namespace

namespace {

// Keeps a driver loaded: the loader unloads it with its last instance.
struct KeptInstance {
  VkInstance handle = VK_NULL_HANDLE;
  PFN_vkDestroyInstance destroy = nullptr;
};

// Replaces the instance kept before. The last one is never destroyed: at the end of a process drivers may be gone
// already.
void keep(KeptInstance instance) {
  static std::mutex mutex;
  static KeptInstance* const kept = new KeptInstance;
  {
    const std::lock_guard lock(mutex);
    std::swap(*kept, instance);
  }
  if (instance.handle) instance.destroy(instance.handle, nullptr);
}

}  // namespace

Instance::~Instance() {
  if (!handle || !owned) return;
  if (messenger && vk.DestroyDebugUtilsMessengerEXT) vk.DestroyDebugUtilsMessengerEXT(handle, messenger, nullptr);
  if (stays)
    keep({handle, vk.DestroyInstance});
  else
    vk.DestroyInstance(handle, nullptr);
}

namespace {

// The newest version known to both sides.
Result<uint32_t> negotiate_version(const LoaderTable& loader) {
  uint32_t version = VK_API_VERSION_1_0;
  if (loader.EnumerateInstanceVersion)
    if (const VkResult r = loader.EnumerateInstanceVersion(&version); r != VK_SUCCESS)
      return vk_error(r, "asking the Vulkan loader for its version");
  if (version < VK_API_VERSION_1_1)
    return fail(ErrorCode::no_device, "the Vulkan loader speaks Vulkan 1.0 only; 1.1 is needed: update it");
  return std::min<uint32_t>(version, VK_API_VERSION_1_3);
}

// Parameters for creating an instance; `info` points to the members.
struct InstanceRequest {
  std::vector<const char*> layers, extensions;
  VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
  VkValidationFeatureEnableEXT sync = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  VkValidationFeaturesEXT features{VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT};
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  bool debug_utils = false, validating = false;

  explicit InstanceRequest(uint32_t version) {
    features.enabledValidationFeatureCount = 1;
    features.pEnabledValidationFeatures = &sync;
    application.pApplicationName = application.pEngineName = "lapilli";
    application.apiVersion = version;
    info.pApplicationInfo = &application;
  }
  InstanceRequest(const InstanceRequest&) = delete;
  InstanceRequest& operator=(const InstanceRequest&) = delete;

  void add_extensions(const LoaderTable& loader, bool names) {
    debug_utils = names && has_extension(loader, nullptr, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    if (debug_utils) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    if (!has_extension(loader, nullptr, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) return;
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    info.flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }

  void add_validation(const LoaderTable& loader) {
    validating = has_layer(loader, kValidationLayer);
    if (!validating) {
      log(LogLevel::warning,
          "validation was asked for but its layer is not installed (Debian: apt install vulkan-validationlayers)");
      return;
    }
    layers.push_back(kValidationLayer);
    if (debug_utils) info.pNext = &messenger;
    if (!has_extension(loader, kValidationLayer, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME)) return;
    extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
    features.pNext = info.pNext;
    info.pNext = &features;
  }

  [[nodiscard]] const VkInstanceCreateInfo* complete() {
    info.enabledLayerCount = static_cast<uint32_t>(layers.size());
    info.ppEnabledLayerNames = layers.data();
    info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
    info.ppEnabledExtensionNames = extensions.data();
    return &info;
  }
};

Result<VkInstance> make_handle(const LoaderTable& loader, InstanceRequest& request) {
  VkInstance handle = VK_NULL_HANDLE;
  const VkResult r = loader.CreateInstance(request.complete(), nullptr, &handle);
  if (r == VK_ERROR_INCOMPATIBLE_DRIVER)
    return fail(ErrorCode::no_device, "there is a Vulkan loader but no driver: %s", kDriverAdvice);
  if (r != VK_SUCCESS || !handle) return vk_error(r, "making a Vulkan instance");
  return handle;
}

}  // namespace

Result<std::shared_ptr<Instance>> create_instance(const InstanceOptions& options) {
  auto instance = std::make_shared<Instance>();
  LAPILLI_TRY(instance->loader, open_loader(options.get, options.ignore_environment));
  const LoaderTable& loader = instance->loader;
  LAPILLI_TRY(instance->api_version, negotiate_version(loader));
  InstanceRequest request(instance->api_version);
  request.add_extensions(loader, options.debug_names || options.validation);
  if (options.validation) request.add_validation(loader);
  instance->debug_utils = request.debug_utils;
  LAPILLI_TRY(const VkInstance handle, make_handle(loader, request));
  instance->handle = handle;
  auto table = load_instance_table(loader.GetInstanceProcAddr, handle);
  if (!table) {
    if (auto destroy = reinterpret_cast<PFN_vkDestroyInstance>(loader.GetInstanceProcAddr(handle, "vkDestroyInstance")))
      destroy(handle, nullptr);
    return std::move(table).failure();
  }
  instance->vk = *table;
  instance->owned = true;
  if (request.validating && instance->vk.CreateDebugUtilsMessengerEXT) {
    VkDebugUtilsMessengerEXT created = VK_NULL_HANDLE;
    if (instance->vk.CreateDebugUtilsMessengerEXT(handle, &request.messenger, nullptr, &created) == VK_SUCCESS)
      instance->messenger = created;
  }
  return instance;
}

Result<std::shared_ptr<Instance>> borrow_instance(PFN_vkGetInstanceProcAddr get, VkInstance handle,
                                                  uint32_t api_version) {
  auto instance = std::make_shared<Instance>();
  instance->loader.GetInstanceProcAddr = get;
  instance->handle = handle;
  instance->api_version = api_version;
  LAPILLI_TRY(instance->vk, load_instance_table(get, handle));
  return instance;
}

Result<std::vector<VkPhysicalDevice>> physical_devices(const Instance& instance) {
  std::vector<VkPhysicalDevice> list;
  VkResult r = VK_INCOMPLETE;
  // Retried: a device may appear between the two calls.
  for (int attempt = 0; attempt < 4 && r == VK_INCOMPLETE; ++attempt) {
    uint32_t n = 0;
    r = instance.vk.EnumeratePhysicalDevices(instance.handle, &n, nullptr);
    if (r < 0) break;
    list.resize(n);
    r = instance.vk.EnumeratePhysicalDevices(instance.handle, &n, list.data());
    list.resize(std::min<size_t>(list.size(), n));
  }
  if (r < 0 && r != VK_ERROR_INCOMPATIBLE_DRIVER && r != VK_ERROR_INITIALIZATION_FAILED) {
    return vk_error(r, "asking for the Vulkan devices");
  }
  if (r < 0 || list.empty()) {
    return fail(ErrorCode::no_device, "there is a Vulkan loader but no device: %s", kDriverAdvice);
  }
  return list;
}

}  // namespace lapilli::vulkan
