#include "vulkan/driver/loader.hpp"

#include "base/path.hpp"

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace lapilli::vulkan {
namespace {

#if defined(_WIN32)
constexpr const char* kLibraries[] = {"vulkan-1.dll"};
constexpr const char* kAdvice = "install the GPU vendor's driver";
#elif defined(__APPLE__)
constexpr const char* kLibraries[] = {"libvulkan.1.dylib", "libvulkan.dylib", "libMoltenVK.dylib"};
constexpr const char* kAdvice = "install MoltenVK or the Vulkan SDK";
#elif defined(__ANDROID__)
constexpr const char* kLibraries[] = {"libvulkan.so"};
constexpr const char* kAdvice = "Vulkan needs Android 7 and a device that has it";
#else
constexpr const char* kLibraries[] = {"libvulkan.so.1", "libvulkan.so"};
constexpr const char* kAdvice =
    "install it (Debian, Ubuntu: apt install libvulkan1 mesa-vulkan-drivers; "
    "Fedora: dnf install vulkan-loader mesa-vulkan-drivers)";
#endif

PFN_vkGetInstanceProcAddr open_library(const char* name) {
#ifdef _WIN32
  HMODULE module = LoadLibraryW(to_wide(name).c_str());
  if (!module) return nullptr;
  return reinterpret_cast<PFN_vkGetInstanceProcAddr>(
      reinterpret_cast<void*>(GetProcAddress(module, "vkGetInstanceProcAddr")));
#else
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  return reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
#endif
}

}  // namespace

Result<LoaderTable> open_loader(PFN_vkGetInstanceProcAddr get, bool ignore_environment) {
  if (!get) {
    const std::string named = ignore_environment ? "" : environment("LAPILLI_VULKAN_LIBRARY");
    if (!named.empty()) {
      get = open_library(named.c_str());
      if (!get) {
        return fail(ErrorCode::no_device,
                    "the Vulkan loader '%s' (LAPILLI_VULKAN_LIBRARY) cannot be opened; "
                    "unset the variable to use the system's",
                    named);
      }
    } else {
      for (const char* library : kLibraries) {
        if ((get = open_library(library))) break;
      }
      if (!get) return fail(ErrorCode::no_device, "there is no Vulkan loader (%s): %s", kLibraries[0], kAdvice);
    }
  }
  LoaderTable t;
  t.GetInstanceProcAddr = get;
#define LAPILLI_LOAD(name) t.name = reinterpret_cast<PFN_vk##name>(get(nullptr, "vk" #name));
  LAPILLI_LOAD(CreateInstance)
  LAPILLI_LOAD(EnumerateInstanceExtensionProperties)
  LAPILLI_LOAD(EnumerateInstanceLayerProperties)
  LAPILLI_LOAD(EnumerateInstanceVersion)
#undef LAPILLI_LOAD
  if (!t.CreateInstance || !t.EnumerateInstanceExtensionProperties || !t.EnumerateInstanceLayerProperties) {
    return fail(ErrorCode::no_device, "the Vulkan loader lacks vkCreateInstance or its siblings: %s", kAdvice);
  }
  return t;
}

}  // namespace lapilli::vulkan
